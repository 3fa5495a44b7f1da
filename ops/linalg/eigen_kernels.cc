#include <Eigen/Eigenvalues>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

absl::Status NotSuccessful(const char* what) {
  return InvalidArgument(what, " was not successful. The input might not be valid.");
}

int EigenOption(bool has_vectors) {
  return has_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly;
}

template <typename W>
using SelfAdjointSolver = Eigen::SelfAdjointEigenSolver<Matrix<W>>;

template <typename W>
absl::Status SolveSelfAdjoint(const Matrix<W>& in, bool has_vectors, SelfAdjointSolver<W>* solver) {
  solver->compute(in, EigenOption(has_vectors));
  if (solver->info() == Eigen::Success && in.allFinite()) return absl::OkStatus();
  return NotSuccessful("Self-adjoint eigen decomposition");
}

// Allocates output 1 for the n eigenvectors of each matrix. It is empty if they are not computed.
absl::StatusOr<Tensor*> VectorsOutput(KernelContext& c, const MatrixBatch& batch, bool has_vectors,
                                      int64_t n) {
  return has_vectors ? batch.Output(1, {n, n}) : c.AllocateOutput(1, {0});
}

template <typename T>
absl::Status SelfAdjointEigV2(KernelContext& c, Attr<bool, "compute_v"> has_vectors) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * e, batch.Output(0, {n}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * v, VectorsOutput(c, batch, has_vectors, n));
  return batch.ForEach(10 * CubicCost(n, n), [&](int64_t i) -> absl::Status {
    if (n == 0) return absl::OkStatus();
    using W = WidestOf<T>;
    SelfAdjointSolver<W> solver;
    SLUICE_RETURN_IF_ERROR(
        SolveSelfAdjoint<W>(MatrixAs<T, W>(c.input(0), i), has_vectors, &solver));
    VectorAt<T>(e, i) = solver.eigenvalues().template cast<T>();
    if (has_vectors) StoreMatrix<T, W>(solver.eigenvectors(), v, i);
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(SelfAdjointEigV2, "T", SelfAdjointEigV2, FullWidthList);
FUNCTION_KERNELS(BatchSelfAdjointEigV2, "T", SelfAdjointEigV2, TypeList<float, double>);

template <typename T>
absl::Status SelfAdjointEig(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n + 1, n}));
  return batch.ForEach(10 * CubicCost(n, n), [&](int64_t i) -> absl::Status {
    if (n == 0) return absl::OkStatus();
    SelfAdjointSolver<double> solver;
    SLUICE_RETURN_IF_ERROR(
        SolveSelfAdjoint<double>(MatrixAs<T, double>(c.input(0), i), true, &solver));
    Matrix<double> all(n + 1, n);
    all.row(0) = solver.eigenvalues().transpose();
    all.bottomRows(n) = solver.eigenvectors();
    StoreMatrix<T, double>(all, out, i);
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(SelfAdjointEig, "T", SelfAdjointEig, TypeList<float, double>);
FUNCTION_KERNELS(BatchSelfAdjointEig, "T", SelfAdjointEig, TypeList<float, double>);

template <typename T>
absl::Status Eig(KernelContext& c, Attr<bool, "compute_v"> has_vectors) {
  using Complex = std::complex<typename Eigen::NumTraits<T>::Real>;
  using W = WidestOf<T>;
  using Solver =
      std::conditional_t<Eigen::NumTraits<T>::IsComplex, Eigen::ComplexEigenSolver<Matrix<W>>,
                         Eigen::EigenSolver<Matrix<W>>>;
  SLUICE_INVALID_IF(c.output_dtype(0) != kDataTypeOf<Complex>, "Invalid output dtype ",
                    DataTypeName(c.output_dtype(0)), " vs ", DataTypeName(kDataTypeOf<Complex>));
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * e, batch.Output(0, {n}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * v, VectorsOutput(c, batch, has_vectors, n));
  return batch.ForEach(25 * CubicCost(n, n), [&](int64_t i) -> absl::Status {
    if (n == 0) return absl::OkStatus();
    const Matrix<W> in = MatrixAs<T, W>(c.input(0), i);
    // If numbers are not finite, Eigen might crash or not converge.
    if (!in.allFinite()) return NotSuccessful("Eigen decomposition");
    const Solver solver(in, has_vectors);
    if (solver.info() != Eigen::Success) return NotSuccessful("Eigen decomposition");
    VectorAt<Complex>(e, i) = solver.eigenvalues().template cast<Complex>();
    if (!has_vectors) return absl::OkStatus();
    StoreMatrix<Complex, complex128>(solver.eigenvectors(), v, i);
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(Eig, "T", Eig, FullWidthList);

}  // namespace
}  // namespace sluice
