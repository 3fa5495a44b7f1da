// Ops for softmax along the last dimension, and for losses over classes.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/exponential_builders.h"
#include "ops/matmul/matmul_builders.h"
#include "ops/nn/softmax_builders.h"
#endif

namespace sluice {
namespace {

absl::Status AtLeastVector(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape logits, c.WithRankAtLeast(0, 1));
  return c.SetOutput(0, logits);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Sums over the last dimension. Keeps it with size 1.
Output SumOfLast(Output x) { return ReduceSum(x, -1, {.keep_dims = true}); }

// Multiplies each row of a matrix by an element of the vector.
Output TimesRows(Output vector, Output matrix) { return ExpandDims(vector, -1) * matrix; }

// Returns the gradient of both cross-entropy ops with respect to the logits. Output 1 of the op is
// the gradient of output 0, the loss. The gradient of output 1 is that of Softmax, because output 1
// is softmax minus labels.
Output ByLogits(Backprop& b) {
  Output grad = TimesRows(b.Of("loss"), b.Value("backprop"));
  if (!b.Has(1)) return grad;
  Output second = b.Of("backprop");
  Output softmax = Softmax(b.Value("features"));
  Output inner = BatchMatMulV2(ExpandDims(second, 1), ExpandDims(softmax, 2));
  return grad + (second - Squeeze(inner, {.squeeze_dims = {1}})) * softmax;
}
#endif

OP(LogSoftmax, "Computes x - log(sum(exp(x))) over the last dimension, without overflow.")
    .Input("logits", "T")
    .Output("logsoftmax", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Recompute(RecomputeCost::kElements)
    .Shape(AtLeastVector) GRADIENT([](Backprop& b) {
      Output grad = b.Of("logsoftmax");
      Output softmax = Exp(b.Value("logsoftmax"));
      b.Into("logits", grad - SumOfLast(grad) * softmax);
    });

OP(Softmax, "Computes exp(x) / sum(exp(x)) over the last dimension, without overflow.")
    .Input("logits", "T")
    .Output("softmax", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Recompute(RecomputeCost::kElements)
    .Shape(AtLeastVector) GRADIENT([](Backprop& b) {
      Output grad = b.Of("softmax"), softmax = b.Value("softmax");
      b.Into("logits", (grad - SumOfLast(grad * softmax)) * softmax);
    });

OP(SoftmaxCrossEntropyWithLogits,
   "Computes the cross entropy of softmax(features) and the distributions `labels` for each row, "
   "and its gradient with respect to features, softmax(features) - labels. Both inputs are [batch, "
   "classes]. Sizes of 1 broadcast.")
    .Input("features", "T")
    .Input("labels", "T")
    .Output("loss", "T")
    .Output("backprop", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape s, BroadcastShapes(c.input(0), c.input(1)));
      SLUICE_ASSIGN_OR_RETURN(s, WithRank(s, 2));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(0, {s.dim(0)}));
      return c.SetOutput(1, s);
    }) GRADIENT([](Backprop& b) {
      b.Into("features", ByLogits(b));
      b.Into("labels", TimesRows(b.Of("loss"), -LogSoftmax(b.Value("features"))));
    });

OP(SparseSoftmaxCrossEntropyWithLogits,
   "Computes the cross entropy of softmax(features), [batch, classes], and one class per row, and "
   "its gradient with respect to features. Labels are [batch], each in [0, classes).")
    .Input("features", "T")
    .Input("labels", "Tlabels")
    .Output("loss", "T")
    .Output("backprop", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tlabels", TypeAttr(IndexTypes(), DT_INT64))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape features, c.WithRank(0, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape labels, c.WithRank(1, 1));
      SLUICE_ASSIGN_OR_RETURN(int64_t batch, MergeDim(features.dim(0), labels.dim(0)));
      SLUICE_RETURN_IF_ERROR(c.SetOutput(0, {batch}));
      features.set_dim(0, batch);
      return c.SetOutput(1, features);
    }) GRADIENT([](Backprop& b) { b.Into("features", ByLogits(b)); });

OP(L2Loss, "Computes sum(t * t) / 2.")
    .Input("t", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(ScalarOutput())
        GRADIENT([](Backprop& b) { b.Into("t", b.Value("t") * b.Of("output")); });

}  // namespace
}  // namespace sluice
