// Gathering rows of a tensor, of any type.
#ifndef SLUICE_OPS_STATE_COPY_ROWS_H_
#define SLUICE_OPS_STATE_COPY_ROWS_H_

#include <cstdint>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/tensor/tensor.h"
#include "ops/state/arithmetic.h"

namespace sluice {

// Row i of `out`, of `rows`, becomes the `row_size` elements of `params` at element
// row_of(i) * row_size. Both have the same type.
template <typename RowOf>
void CopyRows(KernelContext& c, const Tensor& params, int64_t row_size, const RowOf& row_of,
              int64_t rows, Tensor* out) {
  if (rows == 0 || row_size == 0) return;
  constexpr double kRowCost = 10;  // finding it; its elements come on top
  constexpr double kElementCost = 0.2;
  if (IsPlainBytes(params.dtype())) {
    const size_t bytes = DataTypeSize(params.dtype()) * static_cast<size_t>(row_size);
    const char* from = static_cast<const char*>(params.raw());
    char* to = static_cast<char*>(out->raw());
    c.ParallelFor(rows, kRowCost + kElementCost * static_cast<double>(row_size),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      std::memcpy(to + i * bytes, from + row_of(i) * bytes, bytes);
                    }
                  });
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

#endif  // SLUICE_OPS_STATE_COPY_ROWS_H_
