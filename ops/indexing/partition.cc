// Slices of a tensor sent to lists by number (DynamicPartition), and put together again
// (DynamicStitch).

#include <algorithm>

#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/partition_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

// `shape` begins with `prefix`; what is left of it.
absl::StatusOr<PartialShape> BehindPrefix(const PartialShape& shape, const PartialShape& prefix) {
  if (!shape.rank_known() || !prefix.rank_known()) return PartialShape();
  if (shape.rank() < prefix.rank()) {
    return InvalidArgument("Shape must be at least rank ", prefix.rank(), " but is rank ",
                           shape.rank());
  }
  for (int i = 0; i < prefix.rank(); ++i) {
    SLUICE_RETURN_IF_ERROR(MergeDim(shape.dim(i), prefix.dim(i)).status());
  }
  return PartialShape(shape.dims().subspan(prefix.rank()));
}

absl::Status DynamicPartitionShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape row, BehindPrefix(c.input(0), c.input(1)));
  return c.SetOutputs(PartialShape::Vector().Concatenate(row));
}

absl::Status DynamicStitchShape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  PartialShape row;
  bool all_known = true;
  int64_t greatest = -1;
  for (int i = 0; i < n; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape rest, BehindPrefix(c.input(n + i), c.input(i)));
    SLUICE_ASSIGN_OR_RETURN(row, row.MergeWith(rest));
    const std::optional<Tensor> indices = c.InputValue(i);
    all_known &= indices.has_value();
    if (!indices) continue;
    for (int32_t at : indices->flat<int32_t>()) greatest = std::max<int64_t>(greatest, at);
  }
  return c.SetOutput(0, PartialShape::Vector(all_known ? greatest + 1 : -1).Concatenate(row));
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Stitches the parts' gradients by where each part's slices came from.
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
   "Part i holds the slices of `data`, in order, for which `partitions` (whose shape data's begins"
   " with) says i.")
    .Input("data", "T")
    .Input("partitions", DT_INT32)
    .Output("outputs", "num_partitions*T")
    .Attr("num_partitions", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape(DynamicPartitionShape) GRADIENT(DynamicPartitionGradient);

OP(DynamicStitch,
   "One tensor of the slices of all `data`, each put at the row that its index names; where two "
   "have"
   " one index, the last wins.")
    .Input("indices", "N*int32")
    .Input("data", "N*T")
    .Output("merged", "T")
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape(DynamicStitchShape) GRADIENT(DynamicStitchGradient);

OP(ParallelDynamicStitch, "DynamicStitch whose result for repeated indices is any of their slices.")
    .Input("indices", "N*int32")
    .Input("data", "N*T")
    .Output("merged", "T")
    .Attr("N", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Shape(DynamicStitchShape) GRADIENT(DynamicStitchGradient);

}  // namespace
}  // namespace sluice
