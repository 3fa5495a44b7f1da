// Helpers for kernels that process the matrices in the last two dimensions of their inputs. They
// call a function once per matrix, on several threads.
//
//   SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 1));
//   SLUICE_ASSIGN_OR_RETURN(Tensor* out, batch.Output(0, {batch.columns(0), batch.rows(0)}));
//   return batch.ForEach(cost, [&](int64_t i) -> absl::Status {
//     MatrixAt<T>(out, i) = MatrixAt<T>(c.input(0), i).transpose();
//     …
//
// Lifetime: a MatrixBatch is valid during one Compute.
// Errors: INVALID_ARGUMENT with TensorFlow's texts.
#ifndef SLUICE_OPS_LINALG_MATRIX_BATCH_H_
#define SLUICE_OPS_LINALG_MATRIX_BATCH_H_

#include <Eigen/Core>
#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice {

using FullWidthList = TypeList<float, double, complex64, complex128>;

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Matrix i of a tensor of rank 2 or more.
template <typename T>
Eigen::Map<const Matrix<T>> MatrixAt(const Tensor& t, int64_t i) {
  const int64_t rows = t.dim(t.rank() - 2), columns = t.dim(t.rank() - 1);
  return {t.data<T>() + i * rows * columns, rows, columns};
}
template <typename T>
Eigen::Map<Matrix<T>> MatrixAt(Tensor* t, int64_t i) {
  const int64_t rows = t->dim(t->rank() - 2), columns = t->dim(t->rank() - 1);
  return {t->data<T>() + i * rows * columns, rows, columns};
}
// Vector i along the last dimension.
template <typename T>
Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> VectorAt(Tensor* t, int64_t i) {
  const int64_t size = t->dim(t->rank() - 1);
  return {t->data<T>() + i * size, size};
}

// The type in which decompositions compute: float for half, which has too few digits.
template <typename T>
using WideOf = std::conditional_t<std::is_same_v<T, half>, float, T>;
// The type in which long algorithms compute: double for real types, complex128 for complex ones. So
// an algorithm is compiled for these two types only, and its results have more digits.
template <typename T>
using WidestOf = std::conditional_t<Eigen::NumTraits<T>::IsComplex, complex128, double>;

// MatrixAs returns matrix i of a tensor of T, converted to W. StoreMatrix converts `m` to T and
// stores it as matrix i of a tensor.
template <typename T, typename W>
Matrix<W> MatrixAs(const Tensor& t, int64_t i) {
  Matrix<W> wide(t.dim(t.rank() - 2), t.dim(t.rank() - 1));
  const T* p = t.data<T>() + i * wide.size();
  std::transform(p, p + wide.size(), wide.data(), [](T v) { return static_cast<W>(v); });
  return wide;
}
template <typename T, typename W>
void StoreMatrix(const Matrix<W>& m, Tensor* t, int64_t i) {
  std::transform(m.data(), m.data() + m.size(), t->data<T>() + i * m.size(),
                 [](W v) { return static_cast<T>(v); });
}

class MatrixBatch {
 public:
  // INVALID_ARGUMENT unless the first `num_inputs` inputs have rank 2 or more, and equal dimensions
  // before the last two.
  static absl::StatusOr<MatrixBatch> Of(KernelContext& c, int num_inputs);
  // Like Of for one input, whose matrices must be square.
  static absl::StatusOr<MatrixBatch> OfSquares(KernelContext& c);

  int64_t count() const { return batch_.num_elements(); }
  // Sizes of the matrices of input i.
  int64_t rows(int i) const { return c_->input(i).dim(batch_.rank()); }
  int64_t columns(int i) const { return c_->input(i).dim(batch_.rank() + 1); }
  // INVALID_ARGUMENT "Input matrix must be square, got shape …" unless the matrices of input i are
  // square.
  absl::Status CheckSquare(int i) const;

  // Allocates output i. Its shape consists of the dimensions of the batch, followed by `dims`.
  absl::StatusOr<Tensor*> Output(int i, std::initializer_list<int64_t> dims) const;

  // Calls f(i) for each matrix i, unless all outputs are empty. `cost` is the approximate time of a
  // call in nanoseconds. Returns the error of the first matrix that has one.
  absl::Status ForEach(double cost, absl::FunctionRef<absl::Status(int64_t)> f) const;
  // Calls f(i) for i in [0, count).
  static absl::Status ForEach(KernelContext& c, int64_t count, double cost,
                              absl::FunctionRef<absl::Status(int64_t)> f);

 private:
  MatrixBatch(KernelContext& c, TensorShape batch) : c_(&c), batch_(std::move(batch)) {}
  KernelContext* c_;
  TensorShape batch_;
};

// The product of the sizes, as a cost in nanoseconds.
inline double CostOf(std::initializer_list<int64_t> sizes) {
  double cost = 1;
  for (int64_t size : sizes) cost *= static_cast<double>(size);
  return cost;
}
// The approximate time of a decomposition of a matrix in nanoseconds.
inline double CubicCost(int64_t rows, int64_t columns) {
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns);
  return 100 + m * n * (m < n ? m : n);
}

}  // namespace sluice

#endif  // SLUICE_OPS_LINALG_MATRIX_BATCH_H_
