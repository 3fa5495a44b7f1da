// Functions of matrices, by Eigen's Padé approximants and Schur decompositions.
#include <unsupported/Eigen/MatrixFunctions>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

using FullWidthList = TypeList<float, double, complex64, complex128>;

// In complex numbers also of real matrices: these headers take long to compile for each type.
using Wide = Matrix<complex128>;

template <typename T>
absl::Status OfSquares(KernelContext& c, Wide (*f)(const Wide&)) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 1));
  SLUICE_RETURN_IF_ERROR(batch.CheckSquare(0));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, n}));
  return batch.ForEach(80 * CubicCost(n, n), [&](int64_t i) {
    if (n == 0) return absl::OkStatus();
    const Wide found = f(MatrixAs<T, complex128>(c.input(0), i));
    if constexpr (Eigen::NumTraits<T>::IsComplex) {
      StoreMatrix<T, complex128>(found, out, i);
    } else {
      StoreMatrix<T, double>(found.real(), out, i);
    }
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status MatrixExponential(KernelContext& c) {
  return OfSquares<T>(c, [](const Wide& m) -> Wide { return m.exp(); });
}
FUNCTION_KERNELS(MatrixExponential, "T", MatrixExponential, FullWidthList);

template <typename T>
absl::Status MatrixLogarithm(KernelContext& c) {
  return OfSquares<T>(c, [](const Wide& m) -> Wide { return m.log(); });
}
FUNCTION_KERNELS(MatrixLogarithm, "T", MatrixLogarithm, ComplexList);

template <typename T>
absl::Status MatrixSquareRoot(KernelContext& c) {
  return OfSquares<T>(c, [](const Wide& m) -> Wide { return m.sqrt(); });
}
FUNCTION_KERNELS(MatrixSquareRoot, "T", MatrixSquareRoot, FullWidthList);

}  // namespace
}  // namespace sluice
