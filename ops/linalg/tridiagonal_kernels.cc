// Kernels for tridiagonal matrices, which are given by three diagonals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/status.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

template <typename T>
using RealOf = typename Eigen::NumTraits<T>::Real;

template <typename T>
absl::Status TridiagonalMatMul(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 4));
  const int64_t m = batch.rows(3), k = batch.columns(3);
  for (int i = 0; i < 3; ++i) {
    if (batch.rows(i) == 1 && batch.columns(i) == m) continue;
    const char* name = i == 0 ? "superdiagonal" : i == 1 ? "main diagonal" : "subdiagonal";
    return InvalidArgument("Invalid ", name, " shape: expected one row of ", m, ", got ",
                           c.input(i).shape().ToString());
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {m, k}));
  return batch.ForEach(CostOf({3, m, k}), [&](int64_t i) {
    if (m == 0) return absl::OkStatus();
    const T* above = c.input(0).data<T>() + i * m;
    const T* main = c.input(1).data<T>() + i * m;
    const T* below = c.input(2).data<T>() + i * m;
    const auto x = MatrixAt<T>(c.input(3), i);
    auto y = MatrixAt<T>(out, i);
    for (int64_t r = 0; r < m; ++r) {
      y.row(r) = main[r] * x.row(r);
      if (r + 1 < m) y.row(r) += above[r] * x.row(r + 1);
      if (r > 0) y.row(r) += below[r] * x.row(r - 1);
    }
    return absl::OkStatus();
  });
}
FUNCTION_KERNELS(TridiagonalMatMul, "T", TridiagonalMatMul, FullWidthList);

// Gaussian elimination with exchanges of rows. The upper factor has three diagonals. The
// elimination is applied to the right-hand side too, so neither the lower factor nor the exchanges
// are stored.
template <typename T>
class Elimination {
 public:
  // `diagonals` has three rows: the diagonals above, on and below the main one. `x` is the
  // right-hand side, and becomes the solution.
  Elimination(const Eigen::Map<const Matrix<T>>& diagonals, Eigen::Map<Matrix<T>> x)
      : d_(diagonals), x_(x), n_(diagonals.cols()), u_(static_cast<size_t>(n_)) {}

  // Exchanges rows if the subdiagonal is larger. Returns false if the matrix is singular.
  bool WithPivoting() {
    Start();
    for (int64_t i = 0; i + 1 < n_; ++i) {
      if (std::abs(u_[i].main) >= std::abs(below(i + 1))) {
        if (u_[i].main == T(0)) return false;
        Subtract(i);
      } else {
        Exchange(i);
      }
    }
    return FinishUnlessSingular();
  }

  // Uses Thomas' algorithm, which exchanges no rows. Returns false if a pivot is zero.
  bool WithoutPivoting() {
    Start();
    for (int64_t i = 0; i + 1 < n_; ++i) {
      if (u_[i].main == T(0)) return false;
      Subtract(i);
    }
    return FinishUnlessSingular();
  }

  // Exchanges rows by their relative size. Changes pivots that are nearly zero by a rounding error
  // of the matrix. Reference: LAPACK's xLAGTF and xLAGTS.
  void WithPerturbation() {
    Start();
    Real scale = std::abs(u_[0].main) + (n_ > 1 ? std::abs(u_[0].above) : Real(0));
    for (int64_t i = 0; i + 1 < n_; ++i) {
      const Real next = std::abs(below(i + 1)) + std::abs(d_(1, i + 1)) +
                        (i + 2 < n_ ? std::abs(d_(0, i + 1)) : Real(0));
      const Real own = u_[i].main == T(0) ? Real(0) : std::abs(u_[i].main) / scale;
      if (below(i + 1) == T(0)) {
        Keep(i);
        scale = next;
      } else if (std::abs(below(i + 1)) / next <= own) {
        Subtract(i);
        scale = next;
      } else {
        Exchange(i);
      }
    }
    Real largest = 0;
    for (int64_t i = 0; i < n_; ++i) {
      const Row& r = u_[i];
      largest = std::max(
          {largest, Real(std::abs(r.main)), Real(std::abs(r.above)), Real(std::abs(r.second))});
    }
    tolerance_ = std::numeric_limits<Real>::epsilon() * largest;
    for (int64_t i = n_ - 1; i >= 0; --i) {
      TakeAway(i);
      Perturb(i);
      x_.row(i) *= T(1) / u_[i].main;
    }
  }

 private:
  using Real = RealOf<T>;
  struct Row {
    T main = T(0), above = T(0), second = T(0);
  };

  T below(int64_t i) const { return d_(2, i); }
  T above(int64_t i) const { return i + 1 < n_ ? d_(0, i) : T(0); }
  void Start() { u_[0] = {d_(1, 0), above(0), T(0)}; }
  void Keep(int64_t i) { u_[i + 1] = {d_(1, i + 1), above(i + 1), T(0)}; }
  void Subtract(int64_t i) {
    const T factor = below(i + 1) / u_[i].main;
    u_[i + 1] = {d_(1, i + 1) - factor * u_[i].above, above(i + 1), T(0)};
    x_.row(i + 1) -= factor * x_.row(i);
  }
  void Exchange(int64_t i) {
    const T factor = u_[i].main / below(i + 1);
    const T old_above = u_[i].above;
    u_[i] = {below(i + 1), d_(1, i + 1), above(i + 1)};
    u_[i + 1] = {old_above - factor * d_(1, i + 1), -factor * above(i + 1), T(0)};
    const Matrix<T> moved = x_.row(i) - factor * x_.row(i + 1);
    x_.row(i) = x_.row(i + 1);
    x_.row(i + 1) = moved;
  }
  void TakeAway(int64_t i) {
    if (i + 1 < n_) x_.row(i) -= u_[i].above * x_.row(i + 1);
    if (i + 2 < n_) x_.row(i) -= u_[i].second * x_.row(i + 2);
  }
  bool FinishUnlessSingular() {
    if (u_[n_ - 1].main == T(0)) return false;
    for (int64_t i = n_ - 1; i >= 0; --i) {
      TakeAway(i);
      x_.row(i) /= u_[i].main;
    }
    return true;
  }
  // Changes the pivot until neither 1 / pivot nor row / pivot overflows.
  void Perturb(int64_t i) {
    T& pivot = u_[i].main;
    const Real least = std::numeric_limits<Real>::min(), most = Real(1) / least;
    Real by = std::copysign(std::max(tolerance_, least), std::real(pivot));
    const Real row = x_.row(i).cwiseAbs().maxCoeff();
    for (Real size = std::abs(pivot); size < 1; size = std::abs(pivot)) {
      if (size < least) {
        if (size == 0 || row * least > size) {
          pivot += by;
          by *= 2;
        } else {
          pivot *= most;
          x_.row(i) *= T(most);
          return;
        }
      } else if (row > size * most) {
        pivot += by;
        by *= 2;
      } else {
        return;
      }
    }
  }

  const Eigen::Map<const Matrix<T>>& d_;
  Eigen::Map<Matrix<T>> x_;
  const int64_t n_;
  std::vector<Row> u_;
  Real tolerance_ = 0;
};

template <typename T>
class TridiagonalSolveKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const bool pivots = init.attr<bool>("partial_pivoting");
    const bool perturbs = init.attr<bool>("perturb_singular");
    SLUICE_INVALID_IF(perturbs && !pivots,
                      "Setting perturb_singular requires also setting partial_pivoting.");
    return std::unique_ptr<Kernel>(new TridiagonalSolveKernel(pivots, perturbs));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 2));
    SLUICE_INVALID_IF(batch.rows(0) != 3,
                      "Expected diagonals to be provided as a matrix with 3 rows, got ",
                      batch.rows(0), " rows.");
    const int64_t n = batch.columns(0), k = batch.columns(1);
    SLUICE_INVALID_IF(n != batch.rows(1),
                      "Expected the same number of left-hand sides and right-hand sides, ", "got ",
                      n, " and ", batch.rows(1), ".");
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, batch.Output(0, {n, k}));
    return batch.ForEach(CostOf({20, n}) + CostOf({5, n, k}), [&](int64_t i) {
      if (n == 0 || k == 0) return absl::OkStatus();
      const auto diagonals = MatrixAt<T>(c.input(0), i);
      auto x = MatrixAt<T>(out, i);
      x = MatrixAt<T>(c.input(1), i);
      Elimination<T> elimination(diagonals, x);
      bool found = true;
      if (perturbs_) {
        elimination.WithPerturbation();
      } else {
        found = pivots_ ? elimination.WithPivoting() : elimination.WithoutPivoting();
      }
      if (!found) x.setConstant(T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
      return absl::OkStatus();
    });
  }

 private:
  TridiagonalSolveKernel(bool pivots, bool perturbs) : pivots_(pivots), perturbs_(perturbs) {}
  const bool pivots_, perturbs_;
};
KERNELS(TridiagonalSolve, "T", TridiagonalSolveKernel, FullWidthList);

}  // namespace
}  // namespace sluice
