// Kernels of functions of matrices. They use Eigen's Padé approximants and Schur decompositions.
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

// Real matrices are computed as complex ones too, because Eigen's headers take long to compile for
// each type.
using ComplexMatrix = Matrix<complex128>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
absl::Status OfSquares(KernelContext& c, ComplexMatrix (*f)(const ComplexMatrix&)) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::OfSquares(c));
  const int64_t n = batch.rows(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, n}));
  return batch.ForEach(80 * CubicCost(n, n), [&](int64_t i) {
    if (n == 0) return absl::OkStatus();
    const ComplexMatrix found = f(MatrixAs<T, complex128>(c.input(0), i));
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
  return OfSquares<T>(c, [](const ComplexMatrix& m) -> ComplexMatrix { return m.exp(); });
}
FUNCTION_KERNELS(MatrixExponential, "T", MatrixExponential, FullWidthList);

// A diagonal block of a triangular matrix, whose eigenvalues are close to each other.
using Block = Eigen::Matrix<complex128, Eigen::Dynamic, Eigen::Dynamic>;

// Returns whether repeated square roots of a block converge to the identity. They do not if an
// eigenvalue is 0 or a root overflows.
bool RootsConverge(Block roots) {
  constexpr int kRootsMax = 1100;  // suffices for all finite numbers
  constexpr double kNear = 0.1;    // stricter than Eigen's own condition
  for (int i = 0; i < kRootsMax && roots.allFinite(); ++i) {
    const Block rest = roots - Block::Identity(roots.rows(), roots.cols());
    if (rest.cwiseAbs().colwise().sum().maxCoeff() < kNear) return true;
    Block next;
    Eigen::matrix_sqrt_triangular(roots, next);
    roots = next.triangularView<Eigen::Upper>();
  }
  return false;
}

// Computes the logarithm of a block with Eigen. Returns NaN for blocks for which Eigen's loop, and
// so TensorFlow's, would not end.
struct LogarithmOfBlock {
  Block compute(const Block& block) const {
    if (block.rows() > 2 && !RootsConverge(block)) {
      return Block::Constant(block.rows(), block.cols(), complex128(kNan, kNan));
    }
    return Eigen::internal::MatrixLogarithmAtomic<Block>().compute(block);
  }
};

template <typename T>
absl::Status MatrixLogarithm(KernelContext& c) {
  return OfSquares<T>(c, [](const ComplexMatrix& m) -> ComplexMatrix {
    if (m.rows() > 1 && !m.allFinite()) {
      return ComplexMatrix::Constant(m.rows(), m.cols(), complex128(kNan, kNan));
    }
    ComplexMatrix logarithm;
    const LogarithmOfBlock of_block;
    Eigen::internal::matrix_function_compute<ComplexMatrix>::run(m, of_block, logarithm);
    return logarithm;
  });
}
FUNCTION_KERNELS(MatrixLogarithm, "T", MatrixLogarithm, ComplexList);

template <typename T>
absl::Status MatrixSquareRoot(KernelContext& c) {
  return OfSquares<T>(c, [](const ComplexMatrix& m) -> ComplexMatrix { return m.sqrt(); });
}
FUNCTION_KERNELS(MatrixSquareRoot, "T", MatrixSquareRoot, FullWidthList);

}  // namespace
}  // namespace sluice
