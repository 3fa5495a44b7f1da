// Functions of matrices, by Eigen's Padé approximants and Schur decompositions.
#include <unsupported/Eigen/MatrixFunctions>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

using FullWidthList = TypeList<float, double, complex64, complex128>;

template <typename T, typename F>
absl::Status OfSquares(KernelContext& c, const F& f) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 1));
  SLUICE_RETURN_IF_ERROR(batch.CheckSquare(0));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, n}));
  return batch.ForEach(20 * CubicCost(n, n), [&](int64_t i) {
    if (n == 0) return absl::OkStatus();
    StoreMatrix<T, WidestOf<T>>(f(MatrixAs<T, WidestOf<T>>(c.input(0), i)), out, i);
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status MatrixExponential(KernelContext& c) {
  return OfSquares<T>(c,
                      [](const Matrix<WidestOf<T>>& m) -> Matrix<WidestOf<T>> { return m.exp(); });
}
FUNCTION_KERNELS(MatrixExponential, "T", MatrixExponential, FullWidthList);

template <typename T>
absl::Status MatrixLogarithm(KernelContext& c) {
  return OfSquares<T>(c,
                      [](const Matrix<WidestOf<T>>& m) -> Matrix<WidestOf<T>> { return m.log(); });
}
FUNCTION_KERNELS(MatrixLogarithm, "T", MatrixLogarithm, ComplexList);

template <typename T>
absl::Status MatrixSquareRoot(KernelContext& c) {
  return OfSquares<T>(c,
                      [](const Matrix<WidestOf<T>>& m) -> Matrix<WidestOf<T>> { return m.sqrt(); });
}
FUNCTION_KERNELS(MatrixSquareRoot, "T", MatrixSquareRoot, FullWidthList);

}  // namespace
}  // namespace sluice
