// Ops that select elements by a condition, and ops that clip elements.
#include "graph/infer/image_roles.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Shape function of Select, whose condition is a scalar, has one element per row of t and e, or has
// their shape.
absl::Status SelectShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape data, c.input(1).MergeWith(c.input(2)));
  const PartialShape& condition = c.input(0);
  if (condition.rank_known() && data.rank_known()) {
    if (condition.rank() == 1 && data.rank() != 1) {
      if (data.rank() == 0) return WithRank(data, 1).status();
      SLUICE_RETURN_IF_ERROR(condition.MergeWith(PartialShape::Vector(data.dim(0))).status());
    } else if (condition.rank() != 0) {
      SLUICE_ASSIGN_OR_RETURN(data, data.MergeWith(condition));
    }
  }
  return c.SetOutput(0, data);
}

void SelectOp(OpDefBuilder& op) {
  op.Input("condition", DT_BOOL).Input("t", "T").Input("e", "T").Output("output", "T");
  op.Attr("T", TypeAttr()).MayForwardInput().Recompute(RecomputeCost::kElements);
}

OP(Select,
   "Selects elements from t where the condition is true, and from e elsewhere. The condition is a "
   "scalar, has one element per row of t and e, or has their shape.")
    .With(SelectOp)
    .Images(ImagesOfOneSize)
    .Shape(SelectShape) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      Output condition = b.Value("condition");
      Output zeros = ZerosLike(b.Value("t"));
      b.Into("t", Select(condition, grad, zeros));
      b.Into("e", Select(condition, zeros, grad));
    });

OP(SelectV2,
   "Selects elements from t where the condition is true, and from e elsewhere. Broadcasts.")
    .With(SelectOp)
    .Images(BroadcastImages)
    .Shape([](ShapeContext& c) {
      SLUICE_ASSIGN_OR_RETURN(PartialShape data, BroadcastShapes(c.input(1), c.input(2)));
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, BroadcastShapes(c.input(0), data));
      return c.SetOutput(0, shape);
    }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      Output condition = b.Value("condition");
      Output zeros = NumberLike(grad, 0, "zeros");
      Output gt = SelectV2(condition, grad, zeros);
      Output ge = SelectV2(condition, zeros, grad);
      b.Into("t", ReduceGradientArgs(b.Value("t"), b.Value("output"), gt, Output()).x);
      b.Into("e", ReduceGradientArgs(b.Value("e"), b.Value("output"), ge, Output()).x);
    });

OP(ClipByValue,
   "Limits each element of t to [clip_value_min, clip_value_max]. The bounds are scalars or have "
   "the shape of t.")
    .Input("t", "T")
    .Input("clip_value_min", "T")
    .Input("clip_value_max", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      Output t = b.Value("t"), low = b.Value("clip_value_min"), high = b.Value("clip_value_max");
      Output t_shape = ShapeOf(t), low_shape = ShapeOf(low), high_shape = ShapeOf(high);
      Output zeros = Fill(ShapeOf(grad), NumberLike(grad, 0, "zeros/Const"));
      Output below = Less(t, low);
      Output above = Greater(t, high);
      Output low_axes = BroadcastGradientArgs(t_shape, low_shape).r1;
      Output high_axes = BroadcastGradientArgs(t_shape, high_shape).r1;
      b.Into("t", Select(LogicalOr(below, above), zeros, grad));
      Output by_low = Select(below, grad, zeros);
      Output by_high = Select(above, grad, zeros);
      b.Into("clip_value_min", Reshape(Sum(by_low, low_axes), low_shape));
      b.Into("clip_value_max", Reshape(Sum(by_high, high_axes), high_shape));
    });

}  // namespace
}  // namespace sluice
