// Computes matrix products in the calling thread: C = op(A) * op(B), where op is the identity, the
// transpose or the conjugate transpose. Matrices are row-major.
//
// oneDNN's sgemm computes float products, unless loops of this folder are faster: on the matrix
// unit of newer Intel processors (amx_gemm.h), for few columns (narrow_gemm.h), and for a
// transposed B or small matrices (gemm_float.cc). Other types use the blocked loop of gemm.cc.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_OPS_MATMUL_GEMM_H_
#define SLUICE_OPS_MATMUL_GEMM_H_

#include <cstdint>

#include "absl/types/span.h"

namespace sluice {

// A matrix in memory: element (i, j) of op(A) is data[i * row_step + j * column_step].
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_step;
  int64_t column_step;
  bool conjugate = false;  // for complex numbers

  MatrixView FromRow(int64_t i) const {
    return {data + i * row_step, row_step, column_step, conjugate};
  }
  MatrixView FromColumn(int64_t j) const {
    return {data + j * column_step, row_step, column_step, conjugate};
  }
};

// RowMajor returns a view of a matrix whose rows are `row_step` elements apart. Transposed returns
// a view of its transpose.
template <typename T>
MatrixView<T> RowMajor(const T* data, int64_t row_step) {
  return {data, row_step, 1};
}
template <typename T>
MatrixView<T> Transposed(const T* data, int64_t row_step) {
  return {data, 1, row_step};
}

// Matrices of one layout. The first element of matrix i is data[i][offset].
template <typename T>
struct MatrixViews {
  absl::Span<const T* const> data;
  int64_t offset;
  int64_t row_step;
  int64_t column_step;

  MatrixView<T> operator[](size_t i) const { return {data[i] + offset, row_step, column_step}; }
};

enum class GemmInto { kReplace, kAdd };

// Computes C = A * B, or C += A * B with kAdd. A is m x k, B is k x n, and C is m x n with rows
// `c_step` elements apart. For float, the row step or the column step of each view must be 1.
// Instantiated for float, double, int16, int32, int64, complex64 and complex128. Integers wrap.
template <typename T>
void Gemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_step,
          GemmInto into = GemmInto::kReplace);

// Computes C = the sum of the products A_i * B_i, where A_i is m x k and B_i is k x n. Operands are
// not conjugated.
template <typename T>
void SumOfGemms(int64_t m, int64_t n, int64_t k, MatrixViews<T> a, MatrixViews<T> b, T* c,
                int64_t c_step);

// Whether Gemm computes C^T = B^T * A^T instead of C, because B is transposed and much larger than
// A and C. Each call then packs A, so product_tiles.cc chooses other tiles.
bool GemmTransposes(int64_t m, int64_t n, int64_t k, MatrixView<float> b);

// If A has at most this number of rows, Gemm packs a transposed B panel by panel instead of calling
// oneDNN, unless GemmTransposes is true or sizes are small.
inline constexpr int64_t kFlatRows = 128;

// Whether Gemm splits floats for the matrix unit (amx_gemm.h). Each call then packs the smaller
// operand first, so product_tiles.cc chooses other tiles.
bool GemmIsSplit(int64_t m, int64_t n, int64_t k);

// An operand B (k x n) that is packed once for many products, in the format that the matrix unit
// reads: PackedBytes(n, k) bytes, aligned to 64.
struct PackedMatrix {
  const char* data;
  int64_t n, k;
};

// The number of columns of a panel. B is packed panel by panel.
inline constexpr int64_t kPackedColumns = 32;

// Whether a product of m rows is faster with the packed operand. False without a matrix unit.
bool GainsByPacking(int64_t m, int64_t n, int64_t k);
// The size of a packed operand in bytes. 0 without a matrix unit.
int64_t PackedBytes(int64_t n, int64_t k);
// Packs panels [begin, end) of b. Other calls may pack other panels at the same time.
void PackPanels(int64_t n, int64_t k, MatrixView<float> b, int64_t begin, int64_t end, char* to);

// Computes Gemm with columns [first_column, first_column + n) of a packed operand. `b` has the same
// columns unpacked, for panels whose products might overflow (amx_gemm.h). The elements of a row of
// A must be contiguous, and first_column must be a multiple of kPackedColumns.
void PackedGemm(int64_t m, int64_t n, MatrixView<float> a, MatrixView<float> b, PackedMatrix packed,
                int64_t first_column, float* c, int64_t c_step, GemmInto into);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_GEMM_H_
