#include <Eigen/QR>
#include <algorithm>

#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

template <typename T>
absl::Status Qr(KernelContext& c, Attr<bool, "full_matrices"> is_full) {
  using W = WideOf<T>;
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 1));
  const int64_t m = batch.rows(0), n = batch.columns(0), p = std::min(m, n);
  const int64_t inner = is_full ? m : p;
  SLUICE_ASSIGN_OR_RETURN(Tensor * q, batch.Output(0, {m, inner}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * r, batch.Output(1, {inner, n}));
  // Checks the memory: full matrices may be much larger than the input, and Eigen needs several
  // copies of them.
  if (batch.count() > 0) {
    SLUICE_RETURN_IF_ERROR(CheckRoom(SaturatedProduct(m, inner), 3 * sizeof(W), "elements"));
  }
  return batch.ForEach(3 * CubicCost(m, n), [&](int64_t i) {
    if (p == 0) {
      StoreMatrix<T, W>(Matrix<W>::Identity(m, inner), q, i);
      return absl::OkStatus();
    }
    const Eigen::HouseholderQR<Matrix<W>> qr(MatrixAs<T, W>(c.input(0), i));
    Matrix<W> triangle = Matrix<W>::Zero(inner, n);
    triangle.topRows(p) = qr.matrixQR().topRows(p).template triangularView<Eigen::Upper>();
    StoreMatrix<T, W>(triangle, r, i);
    Matrix<W> columns = Matrix<W>::Identity(m, inner);
    columns = qr.householderQ() * columns;
    StoreMatrix<T, W>(columns, q, i);
    return absl::OkStatus();
  });
}
using QrList = TypeList<half, float, double, complex64, complex128>;
FUNCTION_KERNELS(Qr, "T", Qr, QrList);

}  // namespace
}  // namespace sluice
