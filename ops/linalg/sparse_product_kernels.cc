#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/matmul/gemm.h"

namespace sluice {
namespace {

// Returns a tensor as float, the type in which the products are computed.
absl::StatusOr<Tensor> AsFloat(KernelContext& c, const Tensor& t) {
  if (t.dtype() == DT_FLOAT) return t;
  SLUICE_ASSIGN_OR_RETURN(Tensor wide, c.AllocateTemp(DT_FLOAT, t.shape()));
  const bfloat16* from = t.data<bfloat16>();
  std::transform(from, from + t.num_elements(), wide.data<float>(),
                 [](bfloat16 v) { return static_cast<float>(v); });
  return wide;
}

MatrixView<float> View(const Tensor& t, bool is_transposed) {
  return is_transposed ? Transposed(t.data<float>(), t.dim(1))
                       : RowMajor(t.data<float>(), t.dim(1));
}

// Computes row i of the product. As in TensorFlow, zeros of the left factor skip NaNs and
// infinities of the right factor too.
void SparseRow(const MatrixView<float>& left, const MatrixView<float>& right, int64_t i, int64_t k,
               int64_t n, float* to) {
  std::fill_n(to, n, 0.0f);
  for (int64_t l = 0; l < k; ++l) {
    const float factor = left.data[i * left.row_step + l * left.column_step];
    if (factor == 0) continue;
    const float* row = right.data + l * right.row_step;
    for (int64_t j = 0; j < n; ++j) to[j] += factor * row[j];
  }
}

absl::Status SparseMatMul(KernelContext& c, Attr<bool, "transpose_a"> transpose_a,
                          Attr<bool, "transpose_b"> transpose_b,
                          Attr<bool, "a_is_sparse"> a_is_sparse) {
  const Tensor &a = c.input(0), &b = c.input(1);
  SLUICE_INVALID_IF(a.rank() != 2, "a is not a matrix, got ", a.shape().ToString());
  SLUICE_INVALID_IF(b.rank() != 2, "b is not a matrix, got ", b.shape().ToString());
  const int64_t m = a.dim(transpose_a ? 1 : 0), k = a.dim(transpose_a ? 0 : 1);
  const int64_t n = b.dim(transpose_b ? 0 : 1);
  SLUICE_INVALID_IF(k != b.dim(transpose_b ? 1 : 0),
                    "Matrix size incompatible: a: ", a.shape().ToString(),
                    ", b: ", b.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {m, n}));
  if (out->num_elements() == 0) return absl::OkStatus();
  float* to = out->data<float>();
  if (k == 0) {
    std::fill_n(to, m * n, 0.0f);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide_a, AsFloat(c, a));
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide_b, AsFloat(c, b));
  const MatrixView<float> left = View(wide_a, transpose_a), right = View(wide_b, transpose_b);
  const double cost = static_cast<double>(n * k) / 16;
  c.ParallelFor(m, cost, [&](int64_t begin, int64_t end) {
    // A dense product is faster, unless the left factor has many zeros.
    if (a_is_sparse && right.column_step == 1) {
      for (int64_t i = begin; i < end; ++i) SparseRow(left, right, i, k, n, to + i * n);
    } else {
      Gemm<float>(end - begin, n, k, left.FromRow(begin), right, to + begin * n, n);
    }
  });
  return absl::OkStatus();
}
KERNEL(SparseMatMul, FunctionKernel<SparseMatMul>);

}  // namespace
}  // namespace sluice
