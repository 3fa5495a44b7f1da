// Kernels that solve equations with triangular matrices, whose batches broadcast.
#include <algorithm>
#include <vector>

#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/linalg/matrix_batch.h"

namespace sluice {
namespace {

// For each matrix of the output, the numbers of the matrices of both inputs from which it is
// computed.
struct BroadcastBatch {
  std::vector<int64_t> x, y;
};

absl::StatusOr<TensorShape> BroadcastShape(const Tensor& x, const Tensor& y) {
  const int xr = x.rank() - 2, yr = y.rank() - 2, rank = std::max(xr, yr);
  TensorShape shape;
  for (int d = 0; d < rank; ++d) {
    const int xd = d - (rank - xr), yd = d - (rank - yr);
    const int64_t nx = xd < 0 ? 1 : x.dim(xd), ny = yd < 0 ? 1 : y.dim(yd);
    SLUICE_INVALID_IF(nx != ny && nx != 1 && ny != 1,
                      "In[0] and In[1] must have compatible batch dimensions: ",
                      x.shape().ToString(), " vs. ", y.shape().ToString());
    shape.AddDim(nx == 1 ? ny : nx);
  }
  return shape;
}

// Returns these numbers for outputs with batch dimensions `shape`, none of which must be 0.
BroadcastBatch BroadcastOf(const TensorShape& shape, const Tensor& x, const Tensor& y) {
  const int xr = x.rank() - 2, yr = y.rank() - 2, rank = shape.rank();
  BroadcastBatch batch;
  batch.x = batch.y = {0};
  for (int d = 0; d < rank; ++d) {
    const int xd = d - (rank - xr), yd = d - (rank - yr);
    const int64_t nx = xd < 0 ? 1 : x.dim(xd), ny = yd < 0 ? 1 : y.dim(yd), n = shape.dim(d);
    auto spread = [n](std::vector<int64_t>& of, int64_t size) {
      std::vector<int64_t> all;
      all.reserve(of.size() * static_cast<size_t>(n));
      for (int64_t at : of) {
        for (int64_t k = 0; k < n; ++k) all.push_back(at * size + (size == 1 ? 0 : k));
      }
      of = std::move(all);
    };
    spread(batch.x, nx);
    spread(batch.y, ny);
  }
  return batch;
}

absl::Status CheckRanks(const Tensor& x, const Tensor& y) {
  for (const Tensor* t : {&x, &y}) {
    if (t->rank() >= 2) continue;
    return InvalidArgument("In[", t == &x ? 0 : 1, "] ndims must be >= 2: ", t->rank());
  }
  return absl::OkStatus();
}

absl::Status Mismatch(const Tensor& x, const Tensor& y, int64_t n) {
  return InvalidArgument("In[0] mismatch In[1] shape: ", n, " vs. ", y.dim(y.rank() - 2), ": ",
                         x.shape().ToString(), " ", y.shape().ToString());
}

// Solves op(a) x = rhs. On entry, x contains rhs.
template <typename T>
void SolveTriangle(const Eigen::Map<const Matrix<T>>& a, bool is_lower, bool is_adjoint,
                   Eigen::Map<Matrix<T>> x) {
  if (is_lower) {
    const auto view = a.template triangularView<Eigen::Lower>();
    is_adjoint ? view.adjoint().solveInPlace(x) : view.solveInPlace(x);
  } else {
    const auto view = a.template triangularView<Eigen::Upper>();
    is_adjoint ? view.adjoint().solveInPlace(x) : view.solveInPlace(x);
  }
}

// A triangular band matrix, stored by diagonals, one per row. The first row is the outermost
// diagonal of an upper triangle, or the main diagonal of a lower one. Upper diagonals are padded at
// the end, and lower diagonals at the front (LEFT_RIGHT).
template <typename T>
class Bands {
 public:
  Bands(const Eigen::Map<const Matrix<T>>& rows, bool is_lower)
      : rows_(rows), is_lower_(is_lower) {}
  int64_t size() const { return rows_.cols(); }
  int64_t reach() const { return std::min<int64_t>(rows_.rows(), size()) - 1; }
  // Returns element (i, j), which must be inside the band.
  T operator()(int64_t i, int64_t j) const {
    return is_lower_ ? rows_(i - j, i) : rows_(rows_.rows() - 1 - (j - i), i);
  }
  bool HasZero() const {
    for (int64_t i = 0; i < size(); ++i) {
      if ((*this)(i, i) == T(0)) return true;
    }
    return false;
  }

 private:
  const Eigen::Map<const Matrix<T>>& rows_;
  const bool is_lower_;
};

template <typename T>
void SolveBands(const Bands<T>& a, bool is_lower, bool is_adjoint, Eigen::Map<Matrix<T>> x) {
  const int64_t n = a.size(), reach = a.reach();
  const bool is_forward = is_lower != is_adjoint;  // the adjoint of a lower triangle is upper
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = is_forward ? step : n - 1 - step;
    const int64_t first = is_forward ? std::max<int64_t>(0, i - reach) : i + 1;
    const int64_t last = is_forward ? i - 1 : std::min(n - 1, i + reach);
    for (int64_t j = first; j <= last; ++j) {
      const T factor = is_adjoint ? Eigen::numext::conj(a(j, i)) : a(i, j);
      x.row(i) -= factor * x.row(j);
    }
    x.row(i) /= is_adjoint ? Eigen::numext::conj(a(i, i)) : a(i, i);
  }
}

enum class Storage { kTriangle, kBands };

template <typename T, Storage kStorage>
class SolveKernel : public Kernel {
 public:
  explicit SolveKernel(KernelInit& init)
      : is_lower_(init.attr<bool>("lower")), is_adjoint_(init.attr<bool>("adjoint")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &a = c.input(0), &rhs = c.input(1);
    SLUICE_RETURN_IF_ERROR(CheckRanks(a, rhs));
    const int64_t n = a.dim(a.rank() - 1), k = rhs.dim(rhs.rank() - 1);
    SLUICE_RETURN_IF_ERROR(CheckMatrix(a));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape batches, BroadcastShape(a, rhs));
    if (n != rhs.dim(rhs.rank() - 2)) return Mismatch(a, rhs, n);
    TensorShape shape = batches;
    shape.AddDim(n);
    shape.AddDim(k);
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    const int64_t count = batches.num_elements();
    SLUICE_RETURN_IF_ERROR(CheckRoom(count, 2 * sizeof(int64_t), "matrices"));
    const BroadcastBatch batch = BroadcastOf(batches, a, rhs);
    const double cost = CostOf({a.dim(a.rank() - 2), n, k});
    return MatrixBatch::ForEach(c, count, cost, [&](int64_t i) {
      const auto matrix = MatrixAt<T>(a, batch.x[static_cast<size_t>(i)]);
      auto x = MatrixAt<T>(out, i);
      x = MatrixAt<T>(rhs, batch.y[static_cast<size_t>(i)]);
      if constexpr (kStorage == Storage::kTriangle) {
        SolveTriangle<T>(matrix, is_lower_, is_adjoint_, x);
      } else {
        const Bands<T> bands(matrix, is_lower_);
        SLUICE_INVALID_IF(bands.HasZero(), "Input matrix is not invertible.");
        SolveBands<T>(bands, is_lower_, is_adjoint_, x);
      }
      return absl::OkStatus();
    });
  }

 private:
  static absl::Status CheckMatrix(const Tensor& a) {
    const int64_t rows = a.dim(a.rank() - 2), n = a.dim(a.rank() - 1);
    SLUICE_INVALID_IF(kStorage == Storage::kTriangle && rows != n,
                      "In[0] matrices in the last dimensions must be square (", n, " =/= ", rows,
                      ")");
    SLUICE_INVALID_IF(kStorage == Storage::kBands && a.num_elements() == 0,
                      "In[0] must not be an empty tensor, got shape ", a.shape().ToString());
    return absl::OkStatus();
  }

  const bool is_lower_, is_adjoint_;
};
template <typename T>
using TriangularKernel = SolveKernel<T, Storage::kTriangle>;
template <typename T>
using BandedKernel = SolveKernel<T, Storage::kBands>;
KERNELS(MatrixTriangularSolve, "T", TriangularKernel, FullWidthList);
KERNELS(BatchMatrixTriangularSolve, "T", TriangularKernel, TypeList<float, double>);
KERNELS(BandedTriangularSolve, "T", BandedKernel, FullWidthList);

}  // namespace
}  // namespace sluice
