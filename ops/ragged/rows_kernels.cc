#include <algorithm>
#include <utility>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/loops/elements.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

absl::Status CheckRows(const Tensor& rowids, const Tensor& values, const Tensor& nrows,
                       const Tensor& fallback) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(rowids, 1, "value_rowids must be a vector, saw: "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(values, 1, "values must be a vector, saw: "));
  SLUICE_INVALID_IF(rowids.dim(0) != values.dim(0), "The length of `values` (", values.dim(0),
                    ") must match the first dimension of `value_rowids` (", rowids.dim(0), ").");
  SLUICE_RETURN_IF_ERROR(ExpectRank(nrows, 0, "nrows must be a scalar, saw: "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(fallback, 0, "default_value must be a scalar, saw: "));
  const int64_t rows = nrows.scalar<int64_t>(), count = values.dim(0);
  SLUICE_INVALID_IF(rows < 0, "nrows must be at least 0, got ", rows);
  SLUICE_INVALID_IF(rows == 0 && count > 0,
                    "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = ", count);
  return absl::OkStatus();
}

absl::Status RaggedFillEmptyRows(KernelContext& c) {
  const Tensor &rowids = c.input(0), &values = c.input(1), &nrows = c.input(2);
  const Tensor& fallback = c.input(3);
  SLUICE_RETURN_IF_ERROR(CheckRows(rowids, values, nrows, fallback));
  const int64_t rows = nrows.scalar<int64_t>(), count = values.dim(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * is_empty, c.AllocateOutput(2, {rows}));
  SLUICE_RETURN_IF_ERROR(CheckRoom(rows, sizeof(int64_t), "rows"));
  // The position of the next value in each row.
  std::vector<int64_t> next(static_cast<size_t>(rows), 0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rowids.data<int64_t>()[i];
    SLUICE_INVALID_IF(row < 0 || row >= rows, "value_rowids(", i, ") is invalid: ", row,
                      " >= ", rows);
    ++next[static_cast<size_t>(row)];
  }
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t& at = next[static_cast<size_t>(row)];
    is_empty->data<bool>()[row] = at == 0;
    total += std::max<int64_t>(std::exchange(at, total), 1);
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out_rowids, c.AllocateOutput(0, {total}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out_values, c.AllocateOutput(1, {total}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * map, c.AllocateOutput(3, {count}));
  const size_t size = ElementStride(values.dtype());
  for (int64_t row = 0; row < rows; ++row) {
    if (!is_empty->data<bool>()[row]) continue;
    const int64_t to = next[static_cast<size_t>(row)];
    out_rowids->data<int64_t>()[to] = row;
    CopyElements(c, values.dtype(), fallback.raw(), ElementAt(out_values->raw(), to, size), 1);
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rowids.data<int64_t>()[i], to = next[static_cast<size_t>(row)]++;
    out_rowids->data<int64_t>()[to] = row;
    map->data<int64_t>()[i] = to;
    CopyElements(c, values.dtype(), ElementAt(values.raw(), i, size),
                 ElementAt(out_values->raw(), to, size), 1);
  }
  return absl::OkStatus();
}
KERNEL(RaggedFillEmptyRows, FunctionKernel<RaggedFillEmptyRows>);

}  // namespace
}  // namespace sluice
