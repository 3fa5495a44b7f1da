// Kernel of Svd, by one-sided Jacobi rotations after a QR decomposition. This is as exact as other
// methods, and compiles in seconds. Eigen's BDCSVD takes minutes to compile.
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "graph/status.h"
#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

// A column-major matrix, because rotations combine columns.
template <typename W>
using Columns = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

// Makes columns p and q of `x` orthogonal by a rotation, and applies the rotation to `v` too.
// Returns false if the columns were already orthogonal.
template <typename W>
bool Rotate(Columns<W>& x, Columns<W>& v, Eigen::Index p, Eigen::Index q) {
  const double pp = x.col(p).squaredNorm(), qq = x.col(q).squaredNorm();
  const W inner = x.col(p).dot(x.col(q));
  const double size = std::abs(inner);
  if (!(size > 2e-16 * std::sqrt(pp * qq))) return false;
  // Multiplies column q by the phase of the inner product, so that the product becomes real.
  const W phase = Eigen::numext::conj(inner) / size;
  const double zeta = (qq - pp) / (2 * size);
  const double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0, zeta));
  const double cosine = 1 / std::hypot(1.0, t), sine = cosine * t;
  for (Columns<W>* m : {&x, &v}) {
    W *a = m->col(p).data(), *b = m->col(q).data();
    for (Eigen::Index i = 0; i < m->rows(); ++i) {
      const W turned = phase * b[i], old = a[i];
      a[i] = cosine * old - sine * turned;
      b[i] = sine * old + cosine * turned;
    }
  }
  return true;
}

// Computes v for which x v has orthogonal columns, and sets x to x v. Returns false after too many
// sweeps.
template <typename W>
bool MakeOrthogonal(Columns<W>& x, Columns<W>& v) {
  for (int sweep = 0; sweep < 80; ++sweep) {
    bool changed = false;
    for (Eigen::Index p = 0; p < x.cols(); ++p) {
      for (Eigen::Index q = p + 1; q < x.cols(); ++q) changed = Rotate(x, v, p, q) || changed;
    }
    if (!changed) return true;
  }
  return false;
}

// The decomposition a = u diag(s) v^H of a matrix with at least as many rows as columns. If
// `is_full` is true, u is square.
template <typename W>
struct TallSvd {
  // Returns false if some numbers are not finite.
  bool Decompose(const Matrix<W>& a, bool is_full) {
    if (!a.allFinite()) return false;
    const Eigen::Index m = a.rows(), n = a.cols();
    const double scale = a.cwiseAbs().maxCoeff();
    const double unit = scale > 0 ? scale : 1;
    const Eigen::HouseholderQR<Columns<W>> qr(Columns<W>(a / W(unit)));
    Columns<W> x = qr.matrixQR().topRows(n).template triangularView<Eigen::Upper>();
    v = Columns<W>::Identity(n, n);
    if (!MakeOrthogonal(x, v)) return false;
    Sort(x);
    // x = U diag(s) with orthogonal columns. QR returns orthonormal columns U even if some values
    // are 0.
    const Eigen::HouseholderQR<Columns<W>> directions(x);
    Columns<W> inner = directions.householderQ() * Columns<W>::Identity(n, n);
    s.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const W at = directions.matrixQR()(i, i);
      s[i] = std::abs(at) * unit;
      if (at != W(0)) inner.col(i) *= at / std::abs(at);
    }
    u = Columns<W>::Identity(m, is_full ? m : n);
    u.topLeftCorner(n, n) = inner;
    u = qr.householderQ() * u;
    return true;
  }

  Columns<W> u, v;
  Eigen::VectorXd s;

 private:
  void Sort(Columns<W>& x) {
    std::vector<Eigen::Index> order(static_cast<size_t>(x.cols()));
    std::iota(order.begin(), order.end(), 0);
    const Eigen::VectorXd norms = x.colwise().norm();
    std::stable_sort(order.begin(), order.end(),
                     [&](auto i, auto j) { return norms[i] > norms[j]; });
    const Columns<W> old_x = x, old_v = v;
    for (size_t i = 0; i < order.size(); ++i) {
      x.col(static_cast<Eigen::Index>(i)) = old_x.col(order[i]);
      v.col(static_cast<Eigen::Index>(i)) = old_v.col(order[i]);
    }
  }
};

template <typename T>
class SvdKernel : public Kernel {
 public:
  explicit SvdKernel(KernelInit& init)
      : has_vectors_(init.attr<bool>("compute_uv")), is_full_(init.attr<bool>("full_matrices")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 1));
    const int64_t m = batch.rows(0), n = batch.columns(0), p = std::min(m, n);
    SLUICE_ASSIGN_OR_RETURN(Tensor * s, batch.Output(0, {p}));
    Tensor *u = nullptr, *v = nullptr;
    if (has_vectors_) {
      SLUICE_ASSIGN_OR_RETURN(u, batch.Output(1, {m, is_full_ ? m : p}));
      SLUICE_ASSIGN_OR_RETURN(v, batch.Output(2, {n, is_full_ ? n : p}));
    } else {
      SLUICE_ASSIGN_OR_RETURN(u, c.AllocateOutput(1, {0}));
      SLUICE_ASSIGN_OR_RETURN(v, c.AllocateOutput(2, {0}));
    }
    // Checks the memory: full matrices may be much larger than the input, and Eigen needs several
    // copies of them.
    if (batch.count() > 0) {
      const int64_t longer = std::max(m, n), made = has_vectors_ && is_full_ ? longer : p;
      SLUICE_RETURN_IF_ERROR(CheckRoom(SaturatedProduct(longer, made), 3 * sizeof(W), "elements"));
    }
    return batch.ForEach(50 * CubicCost(m, n), [&](int64_t i) {
      if (p > 0) {
        Decompose(c.input(0), i, s, u, v);
      } else if (has_vectors_ && is_full_) {
        MatrixAt<T>(u, i).setIdentity();
        MatrixAt<T>(v, i).setIdentity();
      }
      return absl::OkStatus();
    });
  }

 private:
  using W = WidestOf<T>;

  void Decompose(const Tensor& in, int64_t i, Tensor* s, Tensor* u, Tensor* v) const {
    Matrix<W> a = MatrixAs<T, W>(in, i);
    const bool is_wide = a.rows() < a.cols();
    if (is_wide) a = Matrix<W>(a.adjoint());
    TallSvd<W> found;
    if (!found.Decompose(a, has_vectors_ && is_full_)) {
      const T nan = T(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
      VectorAt<T>(s, i).setConstant(nan);
      if (!has_vectors_) return;
      MatrixAt<T>(u, i).setConstant(nan);
      MatrixAt<T>(v, i).setConstant(nan);
      return;
    }
    auto values = VectorAt<T>(s, i);
    for (Eigen::Index k = 0; k < values.size(); ++k) {
      values[k] = T(static_cast<typename Eigen::NumTraits<T>::Real>(found.s[k]));
    }
    if (!has_vectors_) return;
    StoreMatrix<T, W>(is_wide ? found.v : found.u, u, i);
    StoreMatrix<T, W>(is_wide ? found.u : found.v, v, i);
  }

  const bool has_vectors_, is_full_;
};
KERNELS(Svd, "T", SvdKernel, FullWidthList);
KERNELS(BatchSvd, "T", SvdKernel, FullWidthList);

}  // namespace
}  // namespace sluice
