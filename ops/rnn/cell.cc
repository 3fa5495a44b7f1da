// Recurrent cells as one op: LSTM and GRU, a step or a whole sequence.
//
// LSTM, with gates i (input), f (forget), o (output) and the new input ci, all of [x, h_prev] * w +
// b:
//   cs = ci * i + cs_prev * f,  co = tanh(cs),  h = co * o
// Peepholes add wci * cs_prev, wcf * cs_prev and wco * cs to the gates.
#include "graph/tensor/sizes.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/rnn/cell_builders.h"
#endif

namespace sluice {
namespace {

// Gates and cell of a step: all [batch, cell].
absl::Status LstmCellShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape cs_prev, c.WithRank(1, 2));
  return c.SetOutputs({x.dim(0), cs_prev.dim(1)});
}

absl::Status LstmCellGradShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape cs_prev, c.WithRank(1, 2));
  const int64_t cell = cs_prev.dim(1);
  c.SetOutput(0, {x.dim(0), cell}).IgnoreError();
  c.SetOutput(1, {x.dim(0), cell < 0 ? -1 : SaturatedProduct(4, cell)}).IgnoreError();
  for (int i = 2; i < 5; ++i) c.SetOutput(i, {cell}).IgnoreError();
  return absl::OkStatus();
}

absl::Status BlockLstmShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(1, 3));
  SLUICE_ASSIGN_OR_RETURN(PartialShape b, c.WithRank(c.num_inputs() - 1, 1));
  const int64_t gates = b.dim(0);
  return c.SetOutputs({x.dim(0), x.dim(1), gates < 0 ? -1 : gates / 4});
}

// Gradients of inputs 1 to 8, shaped as these.
absl::Status BlockLstmGradShape(ShapeContext& c) {
  static constexpr int kRanks[] = {3, 2, 2, 2, 1, 1, 1, 1};
  for (int i = 0; i < 8; ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape s, c.WithRank(i + 1, kRanks[i]));
    c.SetOutput(i, s).IgnoreError();
  }
  return absl::OkStatus();
}

#ifndef SLUICE_DEFINITIONS_ONLY
template <typename Grads>
void PutBlockLstmGradients(Backprop& b, const Grads& g) {
  b.Into("x", g.x_grad);
  b.Into("cs_prev", g.cs_prev_grad);
  b.Into("h_prev", g.h_prev_grad);
  b.Into("w", g.w_grad);
  b.Into("wci", g.wci_grad);
  b.Into("wcf", g.wcf_grad);
  b.Into("wco", g.wco_grad);
  b.Into("b", g.b_grad);
}
#endif

OP(BlockLSTM,
   "LSTM over a sequence x [time, batch, inputs]; steps from seq_len_max on are zeros. The gates' "
   "order in w and b is i, ci, f, o.")
    .Input("seq_len_max", DT_INT64)
    .Input("x", "T")
    .Input("cs_prev", "T")
    .Input("h_prev", "T")
    .Input("w", "T")
    .Input("wci", "T")
    .Input("wcf", "T")
    .Input("wco", "T")
    .Input("b", "T")
    .Output("i", "T")
    .Output("cs", "T")
    .Output("f", "T")
    .Output("o", "T")
    .Output("ci", "T")
    .Output("co", "T")
    .Output("h", "T")
    .Attr("forget_bias", FloatAttr(1.0f))
    .Attr("cell_clip", FloatAttr(3.0f))
    .Attr("use_peephole", BoolAttr(false))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}))
    .Shape(BlockLstmShape) GRADIENT([](Backprop& b) {
      PutBlockLstmGradients(
          b, BlockLSTMGrad(b.In(0), b.In(1), b.In(2), b.In(3), b.In(4), b.In(5), b.In(6), b.In(7),
                           b.In(8), b.Out(0), b.Out(1), b.Out(2), b.Out(3), b.Out(4), b.Out(5),
                           b.Out(6), b.Of("cs"), b.Of("h"), b.attr<bool>("use_peephole")));
    });

OP(BlockLSTMGrad, "Gradient of BlockLSTM.")
    .Input("seq_len_max", DT_INT64)
    .Input("x", "T")
    .Input("cs_prev", "T")
    .Input("h_prev", "T")
    .Input("w", "T")
    .Input("wci", "T")
    .Input("wcf", "T")
    .Input("wco", "T")
    .Input("b", "T")
    .Input("i", "T")
    .Input("cs", "T")
    .Input("f", "T")
    .Input("o", "T")
    .Input("ci", "T")
    .Input("co", "T")
    .Input("h", "T")
    .Input("cs_grad", "T")
    .Input("h_grad", "T")
    .Output("x_grad", "T")
    .Output("cs_prev_grad", "T")
    .Output("h_prev_grad", "T")
    .Output("w_grad", "T")
    .Output("wci_grad", "T")
    .Output("wcf_grad", "T")
    .Output("wco_grad", "T")
    .Output("b_grad", "T")
    .Attr("use_peephole", BoolAttr())
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}))
    .Shape(BlockLstmGradShape);

OP(BlockLSTMGradV2, "Gradient of BlockLSTMV2.")
    .Input("seq_len_max", DT_INT64)
    .Input("x", "T")
    .Input("cs_prev", "T")
    .Input("h_prev", "T")
    .Input("w", "T")
    .Input("wci", "T")
    .Input("wcf", "T")
    .Input("wco", "T")
    .Input("b", "T")
    .Input("i", "T")
    .Input("cs", "T")
    .Input("f", "T")
    .Input("o", "T")
    .Input("ci", "T")
    .Input("co", "T")
    .Input("h", "T")
    .Input("cs_grad", "T")
    .Input("h_grad", "T")
    .Output("x_grad", "T")
    .Output("cs_prev_grad", "T")
    .Output("h_prev_grad", "T")
    .Output("w_grad", "T")
    .Output("wci_grad", "T")
    .Output("wcf_grad", "T")
    .Output("wco_grad", "T")
    .Output("b_grad", "T")
    .Attr("use_peephole", BoolAttr())
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}))
    .Shape(BlockLstmGradShape);

OP(BlockLSTMV2, "BlockLSTM with the gates in the order i, f, ci, o, and without a forget bias.")
    .Input("seq_len_max", DT_INT64)
    .Input("x", "T")
    .Input("cs_prev", "T")
    .Input("h_prev", "T")
    .Input("w", "T")
    .Input("wci", "T")
    .Input("wcf", "T")
    .Input("wco", "T")
    .Input("b", "T")
    .Output("i", "T")
    .Output("cs", "T")
    .Output("f", "T")
    .Output("o", "T")
    .Output("ci", "T")
    .Output("co", "T")
    .Output("h", "T")
    .Attr("cell_clip", FloatAttr(0.0f))
    .Attr("use_peephole", BoolAttr(false))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}))
    .Shape(BlockLstmShape) GRADIENT([](Backprop& b) {
      PutBlockLstmGradients(
          b, BlockLSTMGradV2(b.In(0), b.In(1), b.In(2), b.In(3), b.In(4), b.In(5), b.In(6), b.In(7),
                             b.In(8), b.Out(0), b.Out(1), b.Out(2), b.Out(3), b.Out(4), b.Out(5),
                             b.Out(6), b.Of("cs"), b.Of("h"), b.attr<bool>("use_peephole")));
    });

OP(GRUBlockCell,
   "A step of a gated recurrent unit: r and u (sigmoids of [x, h_prev] * w_ru + b_ru), "
   "c = tanh([x, h_prev * r] * w_c + b_c), h = (1 - u) * c + u * h_prev.")
    .Input("x", "T")
    .Input("h_prev", "T")
    .Input("w_ru", "T")
    .Input("w_c", "T")
    .Input("b_ru", "T")
    .Input("b_c", "T")
    .Output("r", "T")
    .Output("u", "T")
    .Output("c", "T")
    .Output("h", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT}))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape h_prev, c.WithRank(1, 2));
      return c.SetOutputs({x.dim(0), h_prev.dim(1)});
    });

OP(GRUBlockCellGrad, "Gradients of GRUBlockCell by x, h_prev and the arguments of c, r and u.")
    .Input("x", "T")
    .Input("h_prev", "T")
    .Input("w_ru", "T")
    .Input("w_c", "T")
    .Input("b_ru", "T")
    .Input("b_c", "T")
    .Input("r", "T")
    .Input("u", "T")
    .Input("c", "T")
    .Input("d_h", "T")
    .Output("d_x", "T")
    .Output("d_h_prev", "T")
    .Output("d_c_bar", "T")
    .Output("d_r_bar_u_bar", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT}))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape h_prev, c.WithRank(1, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape w_ru, c.WithRank(2, 2));
      const int64_t cell = h_prev.dim(1);
      c.SetOutput(0, x).IgnoreError();
      c.SetOutput(1, {x.dim(0), cell}).IgnoreError();
      c.SetOutput(2, {x.dim(0), cell}).IgnoreError();
      return c.SetOutput(3, {x.dim(0), cell < 0 ? -1 : SaturatedProduct(2, cell)});
    });

OP(LSTMBlockCell, "A step of an LSTM; gates in the order i, ci, f, o.")
    .Input("x", "T")
    .Input("cs_prev", "T")
    .Input("h_prev", "T")
    .Input("w", "T")
    .Input("wci", "T")
    .Input("wcf", "T")
    .Input("wco", "T")
    .Input("b", "T")
    .Output("i", "T")
    .Output("cs", "T")
    .Output("f", "T")
    .Output("o", "T")
    .Output("ci", "T")
    .Output("co", "T")
    .Output("h", "T")
    .Attr("forget_bias", FloatAttr(1.0f))
    .Attr("cell_clip", FloatAttr(3.0f))
    .Attr("use_peephole", BoolAttr(false))
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}))
    .Shape(LstmCellShape);

OP(LSTMBlockCellGrad,
   "Gradients of LSTMBlockCell by cs_prev, the gates' arguments and the peepholes.")
    .Input("x", "T")
    .Input("cs_prev", "T")
    .Input("h_prev", "T")
    .Input("w", "T")
    .Input("wci", "T")
    .Input("wcf", "T")
    .Input("wco", "T")
    .Input("b", "T")
    .Input("i", "T")
    .Input("cs", "T")
    .Input("f", "T")
    .Input("o", "T")
    .Input("ci", "T")
    .Input("co", "T")
    .Input("cs_grad", "T")
    .Input("h_grad", "T")
    .Output("cs_prev_grad", "T")
    .Output("dicfo", "T")
    .Output("wci_grad", "T")
    .Output("wcf_grad", "T")
    .Output("wco_grad", "T")
    .Attr("use_peephole", BoolAttr())
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}))
    .Shape(LstmCellGradShape);

}  // namespace
}  // namespace sluice
