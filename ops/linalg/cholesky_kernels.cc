#include <Eigen/Cholesky>
#include <limits>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

template <typename T>
absl::Status Cholesky(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, n}));
  return batch.ForEach(CubicCost(n, n) / 4, [&](int64_t i) {
    auto l = MatrixAt<T>(out, i);
    if (n == 0) return absl::OkStatus();
    Eigen::LLT<Matrix<T>> decomposition(MatrixAt<T>(c.input(0), i));
    if (decomposition.info() == Eigen::Success) {
      l = decomposition.matrixL();
    } else {
      l.setZero();
      l.template triangularView<Eigen::Lower>().setConstant(
          T(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN()));
    }
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(Cholesky, "T", Cholesky, FullWidthList);
FUNCTION_KERNELS(BatchCholesky, "T", Cholesky, TypeList<float, double>);

// Computes the Hermitian part of L^-H P L^-1, where P is the lower triangle of L^H grad with its
// diagonal halved.
template <typename T>
absl::Status CholeskyGrad(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 2));
  SLUICE_RETURN_IF_ERROR(batch.CheckSquare(0));
  SLUICE_INVALID_IF(!(c.input(0).shape() == c.input(1).shape()),
                    "Inputs (L and grad) must have the same shape, got ",
                    c.input(0).shape().ToString(), " and ", c.input(1).shape().ToString());
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, n}));
  return batch.ForEach(CubicCost(n, n), [&](int64_t i) {
    if (n == 0) return absl::OkStatus();
    const Matrix<T> l = MatrixAt<T>(c.input(0), i).template triangularView<Eigen::Lower>();
    const Matrix<T> grad = MatrixAt<T>(c.input(1), i).template triangularView<Eigen::Lower>();
    const Matrix<T> product = l.transpose() * grad;
    Matrix<T> p = product.template triangularView<Eigen::Lower>();
    p.diagonal() *= T(0.5);
    l.template triangularView<Eigen::Lower>().transpose().solveInPlace(p);
    l.template triangularView<Eigen::Lower>().template solveInPlace<Eigen::OnTheRight>(p);
    MatrixAt<T>(out, i) = (p + p.transpose()) * T(0.5);
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(CholeskyGrad, "T", CholeskyGrad, TypeList<float, double>);
FUNCTION_KERNELS(BatchCholeskyGrad, "T", CholeskyGrad, TypeList<float, double>);

}  // namespace
}  // namespace sluice
