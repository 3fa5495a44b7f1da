// Sparse tensors as three strings or variants (indices, values, shape), that queues and files can
// carry; and kept in a map of the device, by numbers.
#include "ops/op.h"
#include "ops/sparse/sparse_tensor_shape.h"

namespace sluice {
namespace {

absl::Status SparseInputs(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  return c.WithRank(2, 1).status();
}

OP(AddManySparseToTensorsMap,
   "Keeps each row of a sparse tensor (of the first dimension) in the map; their numbers.")
    .Input("sparse_indices", DT_INT64)
    .Input("sparse_values", "T")
    .Input("sparse_shape", DT_INT64)
    .Output("sparse_handles", DT_INT64)
    .Attr("T", TypeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, {-1});
    });

OP(AddSparseToTensorsMap, "Keeps a sparse tensor in the map; its number.")
    .Input("sparse_indices", DT_INT64)
    .Input("sparse_values", "T")
    .Input("sparse_shape", DT_INT64)
    .Output("sparse_handle", DT_INT64)
    .Attr("T", TypeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, PartialShape::Scalar());
    });

OP(DeserializeManySparse, "The sparse tensor whose rows were serialized.")
    .Input("serialized_sparse", DT_STRING)
    .Output("sparse_indices", DT_INT64)
    .Output("sparse_values", "dtype")
    .Output("sparse_shape", DT_INT64)
    .Attr("dtype", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(0, 2));
      SLUICE_RETURN_IF_ERROR(MergeDim(s.dim(1), 3).status());
      return SetSparse(c, 0, -1);
    });

OP(DeserializeSparse,
   "The sparse tensors of which the last dimension holds the three parts; several are put "
   "together under the dimensions before it.")
    .Input("serialized_sparse", "Tserialized")
    .Output("sparse_indices", DT_INT64)
    .Output("sparse_values", "dtype")
    .Output("sparse_shape", DT_INT64)
    .Attr("dtype", TypeAttr())
    .Attr("Tserialized", TypeAttr(TypeSet{DT_STRING, DT_VARIANT}, DT_STRING))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtLeast(0, 1));
      if (s.rank_known()) SLUICE_RETURN_IF_ERROR(MergeDim(s.dim(s.rank() - 1), 3).status());
      return SetSparse(c, 0, -1);
    });

OP(SerializeManySparse, "The three parts of each row of a sparse tensor (of the first dimension).")
    .Input("sparse_indices", DT_INT64)
    .Input("sparse_values", "T")
    .Input("sparse_shape", DT_INT64)
    .Output("serialized_sparse", "out_type")
    .Attr("T", TypeAttr())
    .Attr("out_type", TypeAttr(TypeSet{DT_STRING, DT_VARIANT}, DT_STRING))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, {-1, 3});
    });

OP(SerializeSparse, "The three parts of a sparse tensor.")
    .Input("sparse_indices", DT_INT64)
    .Input("sparse_values", "T")
    .Input("sparse_shape", DT_INT64)
    .Output("serialized_sparse", "out_type")
    .Attr("T", TypeAttr())
    .Attr("out_type", TypeAttr(TypeSet{DT_STRING, DT_VARIANT}, DT_STRING))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(SparseInputs(c));
      return c.SetOutput(0, {3});
    });

OP(TakeManySparseFromTensorsMap,
   "The sparse tensors of these numbers, put together under a first dimension; the map forgets "
   "them. shared_name is that of the op that added them (its own name if it has none).")
    .Input("sparse_handles", DT_INT64)
    .Output("sparse_indices", DT_INT64)
    .Output("sparse_values", "dtype")
    .Output("sparse_shape", DT_INT64)
    .Attr("dtype", TypeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
      return SetSparse(c, 0, -1);
    });

}  // namespace
}  // namespace sluice
