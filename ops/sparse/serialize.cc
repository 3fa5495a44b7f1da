// Ops that convert a sparse tensor to three strings or variants (indices, values and shape) for
// queues and files, or store it in a map of the device.
#include "graph/infer/expect_size.h"
#include "ops/op.h"
#include "ops/sparse/sparse_tensor_shape.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

absl::Status SparseInputs(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  return c.WithRank(2, 1).status();
}

void SerializeOp(OpDefBuilder& op) {
  op.With(SparseInput{"sparse_"}).Output("serialized_sparse", "out_type").Attr("T", TypeAttr());
  op.Attr("out_type", TypeAttr({DT_STRING, DT_VARIANT}, DT_STRING));
}

OP(AddManySparseToTensorsMap,
   "Stores each row of a sparse tensor along the first dimension in the map. Returns their "
   "numbers.")
    .With(SparseInput{"sparse_"})
    .Output("sparse_handles", DT_INT64)
    .Attr("T", TypeAttr())
    .With(ContainerAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, {-1});
    });

OP(AddSparseToTensorsMap, "Stores a sparse tensor in the map. Returns its number.")
    .With(SparseInput{"sparse_"})
    .Output("sparse_handle", DT_INT64)
    .Attr("T", TypeAttr())
    .With(ContainerAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(DeserializeManySparse, "Deserializes a sparse tensor from its serialized rows.")
    .Input("serialized_sparse", DT_STRING)
    .With(SparseOutput{"sparse_", "dtype"})
    .Attr("dtype", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(0, 2));
      SLUICE_RETURN_IF_ERROR(ExpectSize(s.dim(1), 3));
      return SetSparse(c, 0, -1);
    });

OP(DeserializeSparse,
   "Deserializes sparse tensors whose three parts are along the last dimension. Stacks several "
   "along the other dimensions.")
    .Input("serialized_sparse", "Tserialized")
    .With(SparseOutput{"sparse_", "dtype"})
    .Attr("dtype", TypeAttr())
    .Attr("Tserialized", TypeAttr(TypeSet{DT_STRING, DT_VARIANT}, DT_STRING))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(0, 1));
      if (s.rank_known()) SLUICE_RETURN_IF_ERROR(ExpectSize(s.dim(s.rank() - 1), 3));
      return SetSparse(c, 0, -1);
    });

OP(SerializeManySparse, "Serializes each row of a sparse tensor along the first dimension.")
    .With(SerializeOp)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, {-1, 3});
    });

OP(SerializeSparse, "Serializes a sparse tensor to its three parts.")
    .With(SerializeOp)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, {3});
    });

OP(TakeManySparseFromTensorsMap,
   "Removes sparse tensors from the map and stacks them along a new first dimension. shared_name "
   "is that of the op that added them, or the name of this op.")
    .Input("sparse_handles", DT_INT64)
    .With(SparseOutput{"sparse_", "dtype"})
    .Attr("dtype", TypeAttr())
    .With(ContainerAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
      return SetSparse(c, 0, -1);
    });

}  // namespace
}  // namespace sluice
