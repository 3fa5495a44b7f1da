// Functions of matrices, by Eigen's Padé approximants and Schur decompositions.
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

using FullWidthList = TypeList<float, double, complex64, complex128>;

// In complex numbers also of real matrices: these headers take long to compile for each type.
using Wide = Matrix<complex128>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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

// An upper triangular matrix of eigenvalues that are close to each other.
using Block = Eigen::Matrix<complex128, Eigen::Dynamic, Eigen::Dynamic>;

// Whether the square roots of a block's square roots come near one: not those of a zero, nor those
// that overflow.
bool RootsComeNearOne(Block roots) {
  constexpr int kRootsMax = 1100;  // of any finite number
  constexpr double kNear = 0.1;    // Eigen is content with more
  for (int i = 0; i < kRootsMax && roots.allFinite(); ++i) {
    const Block rest = roots - Block::Identity(roots.rows(), roots.cols());
    if (rest.cwiseAbs().colwise().sum().maxCoeff() < kNear) return true;
    Block next;
    Eigen::matrix_sqrt_triangular(roots, next);
    roots = next.triangularView<Eigen::Upper>();
  }
  return false;
}

// Eigen's logarithm of a block, but NaN where Eigen (and TensorFlow with it) takes roots for ever.
struct LogarithmOfBlock {
  Block compute(const Block& block) const {
    if (block.rows() > 2 && !RootsComeNearOne(block)) {
      return Block::Constant(block.rows(), block.cols(), complex128(kNan, kNan));
    }
    return Eigen::internal::MatrixLogarithmAtomic<Block>().compute(block);
  }
};

template <typename T>
absl::Status MatrixLogarithm(KernelContext& c) {
  return OfSquares<T>(c, [](const Wide& m) -> Wide {
    if (m.rows() > 1 && !m.allFinite()) {
      return Wide::Constant(m.rows(), m.cols(), complex128(kNan, kNan));
    }
    Wide logarithm;
    const LogarithmOfBlock of_block;
    Eigen::internal::matrix_function_compute<Wide>::run(m, of_block, logarithm);
    return logarithm;
  });
}
FUNCTION_KERNELS(MatrixLogarithm, "T", MatrixLogarithm, ComplexList);

template <typename T>
absl::Status MatrixSquareRoot(KernelContext& c) {
  return OfSquares<T>(c, [](const Wide& m) -> Wide { return m.sqrt(); });
}
FUNCTION_KERNELS(MatrixSquareRoot, "T", MatrixSquareRoot, FullWidthList);

}  // namespace
}  // namespace sluice
