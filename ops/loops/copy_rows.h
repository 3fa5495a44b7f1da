// Gathers rows of a tensor of any type.
//
// Memory: the caller allocates the destination, which must not overlap the source.
#ifndef SLUICE_OPS_LOOPS_COPY_ROWS_H_
#define SLUICE_OPS_LOOPS_COPY_ROWS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "executor/kernel/context.h"
#include "graph/tensor/tensor.h"
#include "ops/loops/arithmetic.h"

namespace sluice {

// Copies rows of `bytes` bytes, which start at from + at[k], to consecutive rows.
void CopyListedRows(const char* from, absl::Span<const int64_t> at, size_t bytes, char* to);

// Copies row row_of(i) of `from` to row i of `to` for i in [begin, end), in this order. A row has
// `bytes` bytes.
template <typename RowOf>
void CopyRowsOfBytes(const char* from, size_t bytes, const RowOf& row_of, int64_t begin,
                     int64_t end, char* to) {
  // Lists and prefetches the next rows before it copies them.
  constexpr int64_t kListed = 16;
  std::array<int64_t, kListed> at;
  for (int64_t first = begin; first < end; first += kListed) {
    const int64_t count = std::min(kListed, end - first);
    for (int64_t k = 0; k < count; ++k) {
      at[k] = row_of(first + k) * static_cast<int64_t>(bytes);
      __builtin_prefetch(from + at[k]);
    }
    CopyListedRows(from, absl::MakeConstSpan(at.data(), count), bytes, to + first * bytes);
  }
}

// Copies row row_of(i) of `params` to row i of `out` for i in [0, rows). Rows have `row_size`
// elements, and both tensors have the same type.
template <typename RowOf>
void CopyRows(KernelContext& c, const Tensor& params, int64_t row_size, const RowOf& row_of,
              int64_t rows, Tensor* out) {
  if (rows == 0 || row_size == 0) return;
  constexpr double kRowCost = 10;
  constexpr double kElementCost = 0.2;
  if (IsPlainBytes(params.dtype())) {
    const size_t bytes = DataTypeSize(params.dtype()) * static_cast<size_t>(row_size);
    const char* from = static_cast<const char*>(params.raw());
    char* to = static_cast<char*>(out->raw());
    c.ParallelFor(
        rows, kRowCost + kElementCost * static_cast<double>(row_size),
        [&](int64_t begin, int64_t end) { CopyRowsOfBytes(from, bytes, row_of, begin, end, to); });
    return;
  }
  const ArithmeticRow assign = FindArithmetic(ArithmeticOp::kAssign, params.dtype());
  for (int64_t i = 0; i < rows; ++i) {
    const Tensor source = params.Reshaped({params.num_elements() / row_size, row_size})
                              .SliceRows(row_of(i), row_of(i) + 1);
    Tensor target = out->Reshaped({rows, row_size}).SliceRows(i, i + 1);
    assign(target.raw(), source.raw(), row_size);
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_COPY_ROWS_H_
