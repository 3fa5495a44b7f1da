#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

// Returns the shortest of the best solutions, even if the rank is deficient. Always computes in
// complex numbers, so that the decomposition is compiled only once. It serves small matrices.
Matrix<complex128> SolveOrthogonally(const Matrix<complex128>& a, const Matrix<complex128>& rhs) {
  return Eigen::CompleteOrthogonalDecomposition<Matrix<complex128>>(a).solve(rhs);
}

// Solves the normal equations. Returns false if their matrix is not positive definite.
template <typename W>
bool SolveNormalEquations(const Matrix<W>& a, const Matrix<W>& rhs, double l2, Matrix<W>& x) {
  const bool is_tall = a.rows() >= a.cols();
  Matrix<W> gramian = is_tall ? Matrix<W>(a.adjoint() * a) : Matrix<W>(a * a.adjoint());
  gramian.diagonal().array() += W(l2);
  const Eigen::LLT<Eigen::Ref<Matrix<W>>, Eigen::Lower> cholesky(gramian);
  if (cholesky.info() != Eigen::Success) return false;
  if (is_tall) {
    x.noalias() = a.adjoint() * rhs;
    cholesky.solveInPlace(x);
  } else {
    const Matrix<W> y = cholesky.solve(rhs);
    x.noalias() = a.adjoint() * y;
  }
  return true;
}

template <typename T>
absl::Status MatrixSolveLs(KernelContext& c, Attr<bool, "fast"> is_fast) {
  const Tensor& l2 = c.input(2);
  SLUICE_RETURN_IF_ERROR(ExpectRank(l2, 0, "l2_regularizer must be scalar, got shape "));
  SLUICE_INVALID_IF(!(l2.scalar<double>() >= 0), "l2_regularizer must be >= 0, got ",
                    l2.scalar<double>());
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 2));
  const int64_t m = batch.rows(0), n = batch.columns(0), k = batch.columns(1);
  SLUICE_INVALID_IF(m != batch.rows(1), "Input matrix and rhs are incompatible, got shapes ",
                    c.input(0).shape().ToString(), " and ", c.input(1).shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, k}));
  return batch.ForEach(CubicCost(m, n) + CostOf({m, n, k}), [&](int64_t i) {
    if (m == 0 || n == 0 || k == 0) {
      MatrixAt<T>(out, i).setZero();
      return absl::OkStatus();
    }
    // Computes in double, because the normal equations square the condition number of the matrix.
    using W = WidestOf<T>;
    const Matrix<W> a = MatrixAs<T, W>(c.input(0), i), rhs = MatrixAs<T, W>(c.input(1), i);
    Matrix<W> x(n, k);
    if (!is_fast) {
      const Matrix<complex128> found =
          SolveOrthogonally(a.template cast<complex128>(), rhs.template cast<complex128>());
      if constexpr (Eigen::NumTraits<W>::IsComplex) {
        x = found;
      } else {
        x = found.real();
      }
    } else if (!SolveNormalEquations<W>(a, rhs, l2.scalar<double>(), x)) {
      return InvalidArgument(
          "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or "
          "provide a larger l2_regularizer > 0.");
    }
    StoreMatrix<T, W>(x, out, i);
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(MatrixSolveLs, "T", MatrixSolveLs, FullWidthList);
FUNCTION_KERNELS(BatchMatrixSolveLs, "T", MatrixSolveLs, TypeList<float, double>);

}  // namespace
}  // namespace sluice
