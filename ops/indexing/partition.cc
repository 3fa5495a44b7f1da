// Ops that distribute the slices of a tensor to several tensors (DynamicPartition), or merge the
// slices of several tensors into one (DynamicStitch). Inputs of integers say where each slice goes.
#include <algorithm>

#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/partition_builders.h"
#endif

namespace sluice {
namespace {

// Returns the rest of `shape`, which must start with `prefix`.
absl::StatusOr<PartialShape> AfterPrefix(const PartialShape& shape, const PartialShape& prefix) {
  if (!shape.rank_known() || !prefix.rank_known()) return PartialShape();
  SLUICE_INVALID_IF(shape.rank() < prefix.rank(), "Shape must be at least rank ", prefix.rank(),
                    " but is rank ", shape.rank());
  for (int i = 0; i < prefix.rank(); ++i) {
    SLUICE_RETURN_IF_ERROR(MergeDim(shape.dim(i), prefix.dim(i)).status());
  }
  return PartialShape(shape.dims().subspan(prefix.rank()));
}

absl::Status DynamicPartitionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape row, AfterPrefix(c.input(0), c.input(1)));
  return c.SetOutputs(PartialShape::Vector().Concatenate(row));
}

absl::Status DynamicStitchShape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  PartialShape row;
  bool all_known = true;
  int64_t greatest = -1;
  for (int i = 0; i < n; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape rest, AfterPrefix(c.input(n + i), c.input(i)));
    SLUICE_ASSIGN_OR_RETURN(row, row.MergeWith(rest));
    const std::optional<Tensor> indices = c.InputValue(i);
    all_known &= indices.has_value();
    if (!indices) continue;
    for (int32_t at : indices->flat<int32_t>()) greatest = std::max<int64_t>(greatest, at);
  }
  return c.SetOutput(0, PartialShape::Vector(all_known ? greatest + 1 : -1).Concatenate(row));
}

void StitchOp(OpDefBuilder& op) {
  op.Input("indices", "N*int32").Input("data", "N*T").Output("merged", "T");
  op.Attr("N", IntAttr().Min(1)).Attr("T", TypeAttr()).Shape(DynamicStitchShape);
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Stitches the gradients of the parts by the original positions of their slices.
void DynamicPartitionGradient(Backprop& b) {
  Graph& g = b.graph();
  Output partitions = b.Value("partitions");
  Output prefix = ShapeNode(partitions);
  Output count = Prod(prefix, IndexVector(g, {0}));
  Output positions = Reshape(Range(IndexScalar(g, 0), count, IndexScalar(g, 1)), prefix);
  const OutputList origins = DynamicPartition(positions, partitions, b.op().num_outputs());
  Output stitched = ParallelDynamicStitch(origins, b.ListOf("outputs"));
  b.Into("data", ReshapedLike(stitched, b.Value("data")));
}

void DynamicStitchGradient(Backprop& b) {
  const OutputList indices = b.Values("indices");
  Output grad = b.Of(0);
  const int n = static_cast<int>(indices.size());
  for (int i = 0; i < n; ++i) {
    b.Into(n + i, GatherV2(grad, indices[i], IndexScalar(b.graph(), 0)));
  }
}

#endif  // SLUICE_DEFINITIONS_ONLY

OP(DynamicPartition,
   "Partitions slices of `data`. Output i has the slices whose number in `partitions` is i, in "
   "order. The shape of `data` starts with that of `partitions`.")
    .Input("data", "T")
    .Input("partitions", DT_INT32)
    .Output("outputs", "num_partitions*T")
    .Attr("num_partitions", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape(DynamicPartitionShape) GRADIENT(DynamicPartitionGradient);

OP(DynamicStitch,
   "Merges slices of all `data` into one tensor, each at the row given by its index. The last "
   "slice wins if an index is repeated.")
    .With(StitchOp) GRADIENT(DynamicStitchGradient);

OP(ParallelDynamicStitch, "DynamicStitch for which any slice wins if an index is repeated.")
    .With(StitchOp) GRADIENT(DynamicStitchGradient);

}  // namespace
}  // namespace sluice
