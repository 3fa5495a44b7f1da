// Ops that write slices to a tensor, or combine them with it, at coordinates. Each row of `indices`
// has the coordinates of one slice.
//
// If a row is repeated, ops that write keep the last of its slices (TensorScatterUpdate). All other
// ops combine all its slices.

#include <algorithm>

#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/scatter_nd_builders.h"
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

// Returns whether the shapes fit: indices [..., K] and updates [...] + output[K:].
bool SizesFit(const PartialShape& indices, const PartialShape& updates,
              const PartialShape& output) {
  const int outer = indices.rank() - 1;
  const int64_t depth = indices.dim(outer);
  if (depth > output.rank() || updates.rank() != outer + output.rank() - depth) return false;
  for (int i = 0; i < updates.rank(); ++i) {
    const int64_t want =
        i < outer ? indices.dim(i) : output.dim(static_cast<int>(i - outer + depth));
    if (!MergeDim(updates.dim(i), want).ok()) return false;
  }
  return true;
}

// Checks that SizesFit, if the ranks and the size of the last dimension of `indices` are known.
absl::Status CheckUpdates(const PartialShape& indices, const PartialShape& updates,
                          const PartialShape& output) {
  if (!indices.rank_known() || !updates.rank_known() || !output.rank_known()) {
    return absl::OkStatus();
  }
  SLUICE_INVALID_IF(indices.rank() < 1, "Shape must be at least rank 1 but is rank 0");
  const bool empty_output = output.num_elements() == 0;
  const bool some = indices.num_elements() > 0 || updates.num_elements() > 0;
  SLUICE_INVALID_IF(empty_output && some, "Indices and updates specified for empty output");
  const int outer = indices.rank() - 1;
  const int64_t depth = indices.dim(outer);
  if (depth < 0) return absl::OkStatus();
  if (SizesFit(indices, updates, output)) return absl::OkStatus();
  const PartialShape rest(output.dims().subspan(std::min<size_t>(depth, output.rank())));
  if (updates.rank() >= outer) {
    const PartialShape slices(updates.dims().subspan(outer));
    const absl::Status fit = rest.MergeWith(slices).status();
    SLUICE_INVALID_IF(!fit.ok(), "Dimensions [", depth, ",", output.rank(),
                      ") of input[shape=", output.ToString(), "] = ", rest.ToString(),
                      " must match dimensions [", outer, ",", updates.rank(),
                      ") of updates[shape=", updates.ToString(), "] = ", slices.ToString(), ": ",
                      fit.message());
  }
  return InvalidArgument("Dimensions [0,", outer, ") of indices[shape=", indices.ToString(),
                         "] must match dimensions [0,", outer,
                         ") of updates[shape=", updates.ToString(),
                         "], and the rest of updates dimensions [", depth, ",", output.rank(),
                         ") of the output[shape=", output.ToString(), "]");
}

absl::Status ScatterNdShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, c.InputAsShape(2));
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  SLUICE_RETURN_IF_ERROR(CheckUpdates(c.input(0), c.input(1), out));
  return c.SetOutput(0, std::move(out));
}

absl::Status TensorScatterShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(1, 1).status());
  SLUICE_RETURN_IF_ERROR(CheckUpdates(c.input(1), c.input(2), c.input(0)));
  return c.SetOutput(0, c.input(0));
}

struct TensorScatter {
  TypeSet types;
  TypeSet index_types = IndexTypes();
  const char* input = "tensor";
  void operator()(OpDefBuilder& op) const {
    op.Input(input, "T").Input("indices", "Tindices").Input("updates", "T").Output("output", "T");
    op.Attr("T", TypeAttr(types)).Attr("Tindices", TypeAttr(index_types));
    op.Attr("bad_indices_policy", StringAttr("")).Shape(TensorScatterShape);
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY

// Returns the elements of x at the indices of the op. Uses the op's policy for bad indices.
Output AtIndices(Backprop& b, Output x) {
  return GatherNd(x, b.Value("indices"),
                  {.bad_indices_policy = b.attr<std::string>("bad_indices_policy")});
}

Output UpdatesGradient(Backprop& b) { return AtIndices(b, b.Of(0)); }

void SumGradient(Backprop& b) {
  b.Into(0, Identity(b.Of(0)));
  b.Into("updates", UpdatesGradient(b));
}

// Adds the gradient of a maximum or minimum. The elements that are equal to it share the gradient
// equally.
void ExtremeGradient(Backprop& b) {
  Output x = b.Value("tensor"), y = b.Value("updates"), indices = b.Value("indices");
  Output output = b.Out(0), grad = b.Of(0);
  const DataType type = BaseType(grad.dtype());
  const DataType index_type = BaseType(indices.dtype());
  Output x_wins = Cast(Equal(x, output), type);
  Output y_wins = Cast(Equal(y, AtIndices(b, output)), type);
  const std::string policy = b.attr<std::string>("bad_indices_policy");
  Output winners = AddV2(
      x_wins, ScatterNd(indices, y_wins, ShapeNode(x, index_type), {.bad_indices_policy = policy}));
  b.Into("tensor", RealDiv(Mul(grad, x_wins), winners));
  b.Into("updates", Mul(AtIndices(b, RealDiv(grad, winners)), y_wins));
}

#endif  // SLUICE_DEFINITIONS_ONLY

OP(ScatterNd, "Adds `updates` at `indices` to zeros of the given shape. Appends strings.")
    .Input("indices", "Tindices")
    .Input("updates", "T")
    .Input("shape", "Tindices")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes() | TypeSet{DT_INT16}))
    .Attr("bad_indices_policy", StringAttr(""))
    .Shape(ScatterNdShape) GRADIENT([](Backprop& b) { b.Into("updates", UpdatesGradient(b)); });

OP(ScatterNdNonAliasingAdd, "Adds `updates` at `indices` to the input.")
    .With(TensorScatter{NumberTypes() | TypeSet{DT_BOOL}, IndexTypes(), "input"})
        GRADIENT([](Backprop& b) {
          b.Into("input", b.Of(0));
          b.Into("updates", UpdatesGradient(b));
        });

OP(TensorScatterAdd, "Adds `updates` at `indices` to a tensor.")
    .With(TensorScatter{}) GRADIENT(SumGradient);

OP(TensorScatterMax, "Computes the maximum of a tensor and `updates` at `indices`.")
    .With(TensorScatter{}) GRADIENT(ExtremeGradient);

OP(TensorScatterMin, "Computes the minimum of a tensor and `updates` at `indices`.")
    .With(TensorScatter{}) GRADIENT(ExtremeGradient);

OP(TensorScatterSub, "Subtracts `updates` at `indices` from a tensor.")
    .With(TensorScatter{}) GRADIENT([](Backprop& b) {
      b.Into("tensor", Identity(b.Of(0)));
      b.Into("updates", Neg(UpdatesGradient(b)));
    });

OP(TensorScatterUpdate, "Replaces the elements of a tensor at `indices` by `updates`.")
    .With(TensorScatter{{}, IndexTypes() | TypeSet{DT_INT16, DT_UINT16}}) GRADIENT([](Backprop& b) {
      b.Into("tensor", TensorScatterUpdate(Identity(b.Of(0)), b.Value("indices"),
                                           ZerosLike(b.Value("updates"))));
      b.Into("updates", UpdatesGradient(b));
    });

}  // namespace
}  // namespace sluice
