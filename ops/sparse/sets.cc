// Sets in the rows of the last dimension. Results are sparse: the elements of a row's set, in
// rising order, stand first in the row.
#include "ops/op.h"
#include "ops/sparse/sparse_tensor_shape.h"

namespace sluice {
namespace {

constexpr TypeSet kElements{DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_STRING};

absl::Status CheckRank(int64_t rank) {
  if (rank < 0 || rank >= 2) return absl::OkStatus();
  return InvalidArgument("Input rank must be at least 2, got ", rank);
}

OP(DenseToDenseSetOperation,
   "The sets of the rows of set1 and of set2, joined: a-b, b-a, intersection or union.")
    .Input("set1", "T")
    .Input("set2", "T")
    .Output("result_indices", DT_INT64)
    .Output("result_values", "T")
    .Output("result_shape", DT_INT64)
    .Attr("set_operation", StringAttr())
    .Attr("validate_indices", BoolAttr(true))
    .Attr("T", TypeAttr(kElements))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape &a = c.input(0), &b = c.input(1);
      if (a.rank_known() && b.rank_known() && a.rank() != b.rank()) {
        return InvalidArgument("Ranks do not match: input 0 ", a.rank(), ", input 1 ", b.rank());
      }
      for (const PartialShape& s : {a, b}) SLUICE_RETURN_IF_ERROR(CheckRank(s.rank()));
      if (a.rank_known() && b.rank_known()) {
        for (int d = 0; d + 1 < a.rank(); ++d) {
          SLUICE_RETURN_IF_ERROR(MergeDim(a.dim(d), b.dim(d)).status());
        }
      }
      return SetSparse(c, 0, a.rank_known() ? a.rank() : b.rank());
    });

OP(DenseToSparseSetOperation, "DenseToDenseSetOperation with a sparse second set.")
    .Input("set1", "T")
    .Input("set2_indices", DT_INT64)
    .Input("set2_values", "T")
    .Input("set2_shape", DT_INT64)
    .Output("result_indices", DT_INT64)
    .Output("result_values", "T")
    .Output("result_shape", DT_INT64)
    .Attr("set_operation", StringAttr())
    .Attr("validate_indices", BoolAttr(true))
    .Attr("T", TypeAttr(kElements))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(int64_t rank, SparseRank(c, 1));
      SLUICE_RETURN_IF_ERROR(CheckRank(c.input(0).rank()));
      SLUICE_ASSIGN_OR_RETURN(rank, MergeDim(rank, c.input(0).rank()));
      return SetSparse(c, 0, rank);
    });

OP(SetSize, "How many different elements each row has.")
    .Input("set_indices", DT_INT64)
    .Input("set_values", "T")
    .Input("set_shape", DT_INT64)
    .Output("size", DT_INT32)
    .Attr("validate_indices", BoolAttr(true))
    .Attr("T", TypeAttr(kElements))
    .NotDifferentiable()
    .Shape(UnknownOutputs());

OP(SparseToSparseSetOperation, "DenseToDenseSetOperation with two sparse sets.")
    .Input("set1_indices", DT_INT64)
    .Input("set1_values", "T")
    .Input("set1_shape", DT_INT64)
    .Input("set2_indices", DT_INT64)
    .Input("set2_values", "T")
    .Input("set2_shape", DT_INT64)
    .Output("result_indices", DT_INT64)
    .Output("result_values", "T")
    .Output("result_shape", DT_INT64)
    .Attr("set_operation", StringAttr())
    .Attr("validate_indices", BoolAttr(true))
    .Attr("T", TypeAttr(kElements))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(int64_t rank, SparseRank(c, 0));
      SLUICE_ASSIGN_OR_RETURN(const int64_t other, SparseRank(c, 3));
      SLUICE_ASSIGN_OR_RETURN(rank, MergeDim(rank, other));
      return SetSparse(c, 0, rank);
    });

}  // namespace
}  // namespace sluice
