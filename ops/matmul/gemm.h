// Matrix products on the CPU, in the calling thread: C = op(A) * op(B).
//
// float goes to oneDNN's sgemm, which was the fastest library measured (1.0 to 2 times OpenBLAS, by
// machine and size), but for what loops of our own do better: what the matrix unit of newer Intel
// processors does (amx_gemm.h), few columns, B transposed and large or A of few rows, small
// matrices. Other types go to a blocked loop of our own, which keeps the code small and has no
// library's threads. All take row-major matrices; op is the identity, the transpose, or the
// conjugate transpose.
//
// Thread safety: any number of calls at a time.
#ifndef SLUICE_OPS_MATMUL_GEMM_H_
#define SLUICE_OPS_MATMUL_GEMM_H_

#include <cstdint>

#include "absl/types/span.h"

namespace sluice {

// A matrix as it lies in memory: element (i, j) of op(A) is data[i * row_step + j * column_step].
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_step;
  int64_t column_step;
  bool conjugate = false;  // complex numbers only

  MatrixView FromRow(int64_t i) const {
    return {data + i * row_step, row_step, column_step, conjugate};
  }
  MatrixView FromColumn(int64_t j) const {
    return {data + j * column_step, row_step, column_step, conjugate};
  }
};

// A matrix of rows `row_step` apart; the same turned over.
template <typename T>
MatrixView<T> RowMajor(const T* data, int64_t row_step) {
  return {data, row_step, 1};
}
template <typename T>
MatrixView<T> Transposed(const T* data, int64_t row_step) {
  return {data, 1, row_step};
}

// Matrices that lie alike: `data` is where each one's tensor starts, `offset` where in it the
// matrix does.
template <typename T>
struct MatrixViews {
  absl::Span<const T* const> data;
  int64_t offset;
  int64_t row_step;
  int64_t column_step;

  MatrixView<T> operator[](size_t i) const { return {data[i] + offset, row_step, column_step}; }
};

enum class GemmInto { kReplace, kAdd };

// C (m x n, rows `c_step` apart) = A (m x k) * B (k x n), or that is added to C. For float, one
// step of each view is 1. Instantiated for float, double, int16, int32, int64, complex64 and
// complex128; integers wrap.
template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_step,
          GemmInto into = GemmInto::kReplace);

// C = the sum of the products A_i * B_i, each over a depth of k. Operands are not conjugated.
template <typename T>
void SumOfGemms(int64_t m, int64_t n, int64_t k, MatrixViews<T> a, MatrixViews<T> b, T* c,
                int64_t c_step);

// Whether that is made as C^T = B^T * A^T, because B is transposed and much larger than A and C:
// A is then packed, once a call.
bool GemmTurns(int64_t m, int64_t n, int64_t k, MatrixView<float> b);

// Up to so many rows, B transposed is packed by panels otherwise.
inline constexpr int64_t kFlatRows = 128;

// Whether floats are split for the matrix unit (amx_gemm.h): a call packs the smaller operand
// before it starts.
bool GemmIsSplit(int64_t m, int64_t n, int64_t k);

// An operand B (k x n) that is packed once for many products: what the matrix unit reads, of
// PackedBytes(n, k) aligned to 64.
struct PackedMatrix {
  const char* data;
  int64_t n, k;
};

// Columns of a panel, which is packed as a whole.
inline constexpr int64_t kPackedColumns = 32;

// Whether a product of m rows with such an operand is made quicker from the packed one; never on a
// machine that has no matrix unit.
bool GainsByPacking(int64_t m, int64_t n, int64_t k);
int64_t PackedBytes(int64_t n, int64_t k);
// Panels [begin, end) of b's; other calls may pack others at the same time.
void PackPanels(int64_t n, int64_t k, MatrixView<float> b, int64_t begin, int64_t end, char* to);

// As Gemm: C (m x n) = A * B, where B is columns [first_column, first_column + n) of what was
// packed, and `b` the same as it was. A's rows follow each other; first_column is a multiple of
// kPackedColumns.
void PackedGemm(int64_t m, int64_t n, MatrixView<float> a, MatrixView<float> b, PackedMatrix packed,
                int64_t first_column, float* c, int64_t c_step, GemmInto into);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_GEMM_H_
