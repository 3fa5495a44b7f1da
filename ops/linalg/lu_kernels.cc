// Kernels that use a decomposition P A = L U with partial pivoting.
#include <Eigen/LU>
#include <cmath>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

template <typename T>
using PartialLu = Eigen::PartialPivLU<Matrix<T>>;

template <typename T>
bool IsSingular(const PartialLu<T>& lu) {
  return !(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0);
}

template <typename T>
absl::Status MatrixInverse(KernelContext& c, Attr<bool, "adjoint"> is_adjoint) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, n}));
  return batch.ForEach(2 * CubicCost(n, n), [&](int64_t i) {
    if (n == 0) return absl::OkStatus();
    Matrix<WideOf<T>> in = MatrixAs<T, WideOf<T>>(c.input(0), i);
    if (is_adjoint) in.adjointInPlace();
    const PartialLu<WideOf<T>> lu(in);
    SLUICE_INVALID_IF(IsSingular<WideOf<T>>(lu), "Input is not invertible.");
    StoreMatrix<T, WideOf<T>>(lu.inverse(), out, i);
    return absl::OkStatus();
  });
}
using InverseList = TypeList<half, float, double, complex64, complex128>;
FUNCTION_KERNELS(MatrixInverse, "T", MatrixInverse, InverseList);
FUNCTION_KERNELS(BatchMatrixInverse, "T", MatrixInverse, TypeList<float, double>);

template <typename T>
absl::Status MatrixSolve(KernelContext& c, Attr<bool, "adjoint"> is_adjoint) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 2));
  SLUICE_INVALID_IF(batch.rows(0) != batch.columns(0),
                    "First input (lhs) must be a square matrix, got shape ",
                    c.input(0).shape().ToString());
  SLUICE_INVALID_IF(batch.rows(0) != batch.rows(1),
                    "Input matrix and rhs are incompatible, got shapes ",
                    c.input(0).shape().ToString(), " and ", c.input(1).shape().ToString());
  const int64_t n = batch.rows(0), k = batch.columns(1);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, k}));
  return batch.ForEach(CubicCost(n, n) + CostOf({n, n, k}), [&](int64_t i) {
    if (n == 0 || k == 0) return absl::OkStatus();
    const PartialLu<T> lu(MatrixAt<T>(c.input(0), i));
    SLUICE_INVALID_IF(IsSingular<T>(lu), "Input matrix is not invertible.");
    const auto rhs = MatrixAt<T>(c.input(1), i);
    if (is_adjoint) {
      MatrixAt<T>(out, i) = lu.adjoint().solve(rhs);
    } else {
      MatrixAt<T>(out, i) = lu.solve(rhs);
    }
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(MatrixSolve, "T", MatrixSolve, FullWidthList);
FUNCTION_KERNELS(BatchMatrixSolve, "T", MatrixSolve, TypeList<float, double>);

// The sign of a determinant, and the logarithm of its absolute value. The product of pivots itself
// may overflow.
template <typename T>
struct LogDeterminant {
  using Real = typename Eigen::NumTraits<T>::Real;
  explicit LogDeterminant(const Eigen::Map<const Matrix<T>>& m) {
    if (m.rows() == 0) return;
    const PartialLu<T> lu(m);
    sign = static_cast<T>(static_cast<Real>(lu.permutationP().determinant()));
    for (int64_t i = 0; i < m.rows(); ++i) {
      const T pivot = lu.matrixLU()(i, i);
      const Real size = std::abs(pivot);
      log_size += std::log(size);
      sign *= size == 0 ? T(0) : pivot / size;
    }
    if (std::isinf(log_size) && log_size > 0) sign = T(1);
  }
  T sign = T(1);
  Real log_size = 0;
};

template <typename T>
absl::Status LogMatrixDeterminant(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  SLUICE_ASSIGN_OR_RETURN(Tensor * sign, batch.Output(0, {}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * size, batch.Output(1, {}));
  return batch.ForEach(CubicCost(batch.rows(0), batch.rows(0)), [&](int64_t i) {
    const LogDeterminant<T> found(MatrixAt<T>(c.input(0), i));
    sign->data<T>()[i] = found.sign;
    size->data<T>()[i] = T(found.log_size);
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(LogMatrixDeterminant, "T", LogMatrixDeterminant, FullWidthList);

template <typename T>
absl::Status MatrixDeterminant(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {}));
  return batch.ForEach(CubicCost(batch.rows(0), batch.rows(0)), [&](int64_t i) {
    const LogDeterminant<T> found(MatrixAt<T>(c.input(0), i));
    out->data<T>()[i] = found.sign * std::exp(found.log_size);
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(MatrixDeterminant, "T", MatrixDeterminant, FullWidthList);
FUNCTION_KERNELS(BatchMatrixDeterminant, "T", MatrixDeterminant, FullWidthList);

template <typename T, typename Index>
absl::Status LuOf(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, n}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * p, batch.Output(1, {n}));
  return batch.ForEach(CubicCost(n, n), [&](int64_t i) {
    if (n == 0) return absl::OkStatus();
    const PartialLu<T> lu(MatrixAt<T>(c.input(0), i));
    SLUICE_INVALID_IF(IsSingular<T>(lu), "Input is not invertible.");
    MatrixAt<T>(out, i) = lu.matrixLU();
    // Eigen's permutation moves row k of the input to row indices()[k].
    const auto& to = lu.permutationP().indices();
    for (int64_t k = 0; k < n; ++k) {
      p->data<Index>()[i * n + to[k]] = static_cast<Index>(k);
    }
    return absl::OkStatus();
  });
}
template <typename T>
absl::Status Lu(KernelContext& c) {
  return c.output_dtype(1) == DT_INT64 ? LuOf<T, int64_t>(c) : LuOf<T, int32_t>(c);
}
FUNCTION_KERNELS(Lu, "T", Lu, FullWidthList);

}  // namespace
}  // namespace sluice
