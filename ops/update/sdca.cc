// Ops for stochastic dual coordinate ascent for linear models (Shalev-Shwartz & Zhang, 2012), with
// the extension to distributed training of Ma et al., 2015 (https://arxiv.org/abs/1502.03508).
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status OptimizerShape(ShapeContext& c) {
  const PartialShape& state = c.input(c.num_inputs() - 1);
  SLUICE_ASSIGN_OR_RETURN(const PartialShape known, WithRank(state, 2));
  c.SetOutput(0, {known.dim(0), 4}).IgnoreError();
  const int first = c.InputRange("sparse_weights").first;
  for (int i = 1; i < c.num_outputs(); ++i) {
    c.SetOutput(i, c.input(first + i - 1)).IgnoreError();
  }
  return absl::OkStatus();
}

// Returns the definition of a version of the op. The versions differ only in the spelling of one
// attribute.
OpDefBuilder Optimizer(const char* name, const char* doc, const char* adaptive) {
  return OpDefBuilder(name, doc)
      .Input("sparse_example_indices", "num_sparse_features*int64")
      .Input("sparse_feature_indices", "num_sparse_features*int64")
      .Input("sparse_feature_values", "num_sparse_features_with_values*float")
      .Input("dense_features", "num_dense_features*float")
      .Input("example_weights", DT_FLOAT)
      .Input("example_labels", DT_FLOAT)
      .Input("sparse_indices", "num_sparse_features*int64")
      .Input("sparse_weights", "num_sparse_features*float")
      .Input("dense_weights", "num_dense_features*float")
      .Input("example_state_data", DT_FLOAT)
      .Output("out_example_state_data", DT_FLOAT)
      .Output("out_delta_sparse_weights", "num_sparse_features*float")
      .Output("out_delta_dense_weights", "num_dense_features*float")
      .Attr("loss_type", OneOf({"logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss",
                                "poisson_loss"}))
      .Attr(adaptive, BoolAttr(false))
      .Attr("num_sparse_features", IntAttr().Min(0))
      .Attr("num_sparse_features_with_values", IntAttr().Min(0))
      .Attr("num_dense_features", IntAttr().Min(0))
      .Attr("l1", FloatAttr())
      .Attr("l2", FloatAttr())
      .Attr("num_loss_partitions", IntAttr().Min(1))
      .Attr("num_inner_iterations", IntAttr().Min(1))
      .NotDifferentiable()
      .Shape(OptimizerShape);
}
const OpRegistrar kSdcaOptimizer = Optimizer(
    "SdcaOptimizer", "SdcaOptimizerV2 with another spelling of `adaptive`.", "adaptative");
const OpRegistrar kSdcaOptimizerV2 = Optimizer(
    "SdcaOptimizerV2",
    "Makes one pass over a batch. Returns each example's new dual value, primal loss, dual loss "
    "and weight, and the changes of all weights. With `adaptive`, examples with a large residual "
    "are processed more often.",
    "adaptive");

OP(SdcaFprint, "Computes FarmHash's 128-bit fingerprint of each string, as two numbers.")
    .Input("input", DT_STRING)
    .Output("output", DT_INT64)
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(0, 1));
      return c.SetOutput(0, {in.dim(0), 2});
    });

OP(SdcaShrinkL1, "Moves each weight toward 0 by l1 / l2, and no further than 0.")
    .RefInput("weights", "num_features*float")
    .Attr("num_features", IntAttr().Min(0))
    .Attr("l1", FloatAttr())
    .Attr("l2", FloatAttr())
    .NotDifferentiable()
    .Shape(NoOutputs());

}  // namespace
}  // namespace sluice
