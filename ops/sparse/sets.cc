// Ops on sets. Each row of the last dimension is a set. Outputs are sparse tensors, in which the
// elements of a set are sorted and are the first elements of their row.
#include <algorithm>

#include "graph/infer/expect_size.h"
#include "ops/op.h"
#include "ops/sparse/sparse_tensor_shape.h"

namespace sluice {
namespace {

constexpr TypeSet kElements{DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_STRING};

absl::Status CheckRank(int64_t rank) {
  if (rank < 0 || rank >= 2) return absl::OkStatus();
  return InvalidArgument("Shape must be at least rank 2 but is rank ", rank);
}

void SetOperation(OpDefBuilder& op) {
  op.With(SparseOutput{"result_"}).Attr("set_operation", StringAttr());
  op.Attr("validate_indices", BoolAttr(true)).Attr("T", TypeAttr(kElements)).NotDifferentiable();
}

OP(DenseToDenseSetOperation,
   "Combines the sets in the rows of set1 and set2. set_operation is a-b, b-a, intersection or "
   "union.")
    .Input("set1", "T")
    .Input("set2", "T")
    .With(SetOperation)
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape &a = c.input(0), &b = c.input(1);
      for (const PartialShape& s : {a, b}) SLUICE_RETURN_IF_ERROR(CheckRank(s.rank()));
      if (a.rank_known() && b.rank_known()) {
        SLUICE_RETURN_IF_ERROR(WithRank(b, a.rank()).status());
        const PartialShape groups(a.dims().first(a.rank() - 1));
        SLUICE_RETURN_IF_ERROR(
            groups.MergeWith(PartialShape(b.dims().first(a.rank() - 1))).status());
      }
      return SetSparse(c, 0, a.rank_known() ? a.rank() : b.rank());
    });

OP(DenseToSparseSetOperation, "DenseToDenseSetOperation with a sparse second set.")
    .Input("set1", "T")
    .With(SparseInput{"set2_"})
    .With(SetOperation)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(int64_t rank, SparseRank(c, 1));
      SLUICE_RETURN_IF_ERROR(CheckRank(c.input(0).rank()));
      SLUICE_ASSIGN_OR_RETURN(rank, MergeDim(rank, c.input(0).rank()));
      return SetSparse(c, 0, rank);
    });

OP(SetSize, "Counts the distinct elements of each row.")
    .With(SparseInput{"set_"})
    .Output("size", DT_INT32)
    .Attr("validate_indices", BoolAttr(true))
    .Attr("T", TypeAttr(kElements))
    .NotDifferentiable()
    .Shape(UnknownOutputs());

OP(SparseToSparseSetOperation, "DenseToDenseSetOperation with two sparse sets.")
    .With(SparseInput{"set1_"})
    .With(SparseInput{"set2_"})
    .With(SetOperation)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(int64_t rank, SparseRank(c, 0));
      SLUICE_INVALID_IF(rank == 0 || rank == 1, "Input 0, expected rank >= 2, got ", rank, ".");
      SLUICE_ASSIGN_OR_RETURN(const int64_t other, SparseRank(c, 3));
      SLUICE_RETURN_IF_ERROR(rank < 0 ? absl::OkStatus() : ExpectSize(other, rank));
      rank = std::max(rank, other);
      return SetSparse(c, 0, rank);
    });

}  // namespace
}  // namespace sluice
