// Ops for recurrent cells: LSTM and GRU, for one step or a whole sequence.
//
// The gates of an LSTM are i (input), f (forget) and o (output). They and the new input ci are
// functions of [x, h_prev] * w + b, where x is the input, w are weights and b are biases. The cell
// state cs and the output h follow from the previous ones, cs_prev and h_prev:
//   cs = ci * i + cs_prev * f,  co = tanh(cs),  h = co * o
// Peepholes add wci * cs_prev, wcf * cs_prev and wco * cs to the gates, with weights wci, wcf and
// wco.
//
// References: Hochreiter and Schmidhuber, "Long short-term memory" (1997). Cho et al., "Learning
// phrase representations using RNN encoder-decoder" (2014).
#include "graph/tensor/sizes.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

// Shape function of one step, whose gates and cell have shape [batch, cell].
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

// Sets the shape of output i to that of input i + 1.
absl::Status BlockLstmGradShape(ShapeContext& c) {
  static constexpr int kRanks[] = {3, 2, 2, 2, 1, 1, 1, 1};
  for (int i = 0; i < 8; ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape s, c.WithRank(i + 1, kRanks[i]));
    c.SetOutput(i, s).IgnoreError();
  }
  return absl::OkStatus();
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns a gradient function that adds gradient op `op`, which takes all inputs and outputs, and
// the gradients of cs and h.
GradientFunction BlockLstmGradient(const char* op) {
  return [op](Backprop& b) {
    OutputList inputs;
    for (int i = 0; i < 9; ++i) inputs.push_back(b.In(i));
    for (int i = 0; i < 7; ++i) inputs.push_back(b.Out(i));
    inputs.push_back(b.Of("cs"));
    inputs.push_back(b.Of("h"));
    const OutputList gradients = SiblingOutputs(b, op, inputs);
    for (int i = 0; i < 8; ++i) b.Into(i + 1, gradients[static_cast<size_t>(i)]);
  };
}
#endif

using Names = std::initializer_list<const char*>;
void Inputs(OpDefBuilder& b, const Names& names) {
  for (const char* name : names) b.Input(name, "T");
}
void Outputs(OpDefBuilder& b, const Names& names) {
  for (const char* name : names) b.Output(name, "T");
}

// These functions declare arguments and attributes that the LSTM ops share.
void CellInputs(OpDefBuilder& b) {
  Inputs(b, {"x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"});
}
void SequenceInputs(OpDefBuilder& b) { b.Input("seq_len_max", DT_INT64).With(CellInputs); }
void CellOutputs(OpDefBuilder& b) { Outputs(b, {"i", "cs", "f", "o", "ci", "co", "h"}); }
void LstmAttrs(OpDefBuilder& b) {
  b.Attr("use_peephole", BoolAttr(false)).Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}));
}
void LstmGradAttrs(OpDefBuilder& b) {
  b.Attr("use_peephole", BoolAttr()).Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT}));
}
void BlockLstmGrad(OpDefBuilder& b) {
  b.With(SequenceInputs);
  Inputs(b, {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"});
  Outputs(b, {"x_grad", "cs_prev_grad", "h_prev_grad", "w_grad", "wci_grad", "wcf_grad", "wco_grad",
              "b_grad"});
  b.With(LstmGradAttrs).Shape(BlockLstmGradShape);
}
void GruInputs(OpDefBuilder& b) { Inputs(b, {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"}); }

OP(BlockLSTM,
   "Applies an LSTM to a sequence x [time, batch, inputs]. Steps from seq_len_max on yield zeros. "
   "The gates are in the order i, ci, f, o in w and b.")
    .With(SequenceInputs)
    .With(CellOutputs)
    .Attr("forget_bias", FloatAttr(1.0f))
    .Attr("cell_clip", FloatAttr(3.0f))
    .With(LstmAttrs)
    .Shape(BlockLstmShape) GRADIENT(BlockLstmGradient("BlockLSTMGrad"));

OP(BlockLSTMGrad, "Computes the gradient of BlockLSTM.").With(BlockLstmGrad);

OP(BlockLSTMGradV2, "Computes the gradient of BlockLSTMV2.").With(BlockLstmGrad);

OP(BlockLSTMV2, "BlockLSTM with the gates in the order i, f, ci, o, and without a forget bias.")
    .With(SequenceInputs)
    .With(CellOutputs)
    .Attr("cell_clip", FloatAttr(0.0f))
    .With(LstmAttrs)
    .Shape(BlockLstmShape) GRADIENT(BlockLstmGradient("BlockLSTMGradV2"));

OP(GRUBlockCell,
   "Computes one step of a gated recurrent unit: r and u (sigmoids of [x, h_prev] * w_ru + b_ru), "
   "c = tanh([x, h_prev * r] * w_c + b_c), h = (1 - u) * c + u * h_prev.")
    .With(GruInputs)
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

OP(GRUBlockCellGrad,
   "Computes the gradients of GRUBlockCell with respect to x, h_prev and the arguments of c, r and "
   "u.")
    .With(GruInputs)
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
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 2).status());
      const int64_t cell = h_prev.dim(1);
      c.SetOutput(0, x).IgnoreError();
      c.SetOutput(1, {x.dim(0), cell}).IgnoreError();
      c.SetOutput(2, {x.dim(0), cell}).IgnoreError();
      return c.SetOutput(3, {x.dim(0), cell < 0 ? -1 : SaturatedProduct(2, cell)});
    });

OP(LSTMBlockCell, "Computes one step of an LSTM with the gates in the order i, ci, f, o.")
    .With(CellInputs)
    .With(CellOutputs)
    .Attr("forget_bias", FloatAttr(1.0f))
    .Attr("cell_clip", FloatAttr(3.0f))
    .With(LstmAttrs)
    .Shape(LstmCellShape);

OP(LSTMBlockCellGrad,
   "Computes the gradients of LSTMBlockCell with respect to cs_prev, the arguments of the gates "
   "and the peepholes.")
    .With(CellInputs)
    .With([](OpDefBuilder& b) {
      Inputs(b, {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"});
      Outputs(b, {"cs_prev_grad", "dicfo", "wci_grad", "wcf_grad", "wco_grad"});
    })
    .With(LstmGradAttrs)
    .Shape(LstmCellGradShape);

}  // namespace
}  // namespace sluice
