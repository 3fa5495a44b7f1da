// Kernels over the matrices in the last two dimensions of their inputs: one call of a function a
// matrix, spread over threads.
//
//   SLUICE_ASSIGN_OR_RETURN(const MatrixBatch batch, MatrixBatch::Of(c, 1));
//   SLUICE_RETURN_IF_ERROR(batch.CheckSquare(0));
//   SLUICE_ASSIGN_OR_RETURN(Tensor* out, batch.Output(0, {batch.rows(0), batch.columns(0)}));
//   return batch.ForEach(cost, [&](int64_t i) -> absl::Status {
//     MatrixAt<T>(out, i) = MatrixAt<T>(c.input(0), i).transpose();
//     …
//
// Thread safety: values over a context, for the time of one Compute.
// Errors: INVALID_ARGUMENT with TensorFlow's sentences.
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
// Vector i, of the last dimension.
template <typename T>
Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> VectorAt(Tensor* t, int64_t i) {
  const int64_t size = t->dim(t->rank() - 1);
  return {t->data<T>() + i * size, size};
}

// The types that a decomposition is made in: half is too narrow for one.
template <typename T>
using WideOf = std::conditional_t<std::is_same_v<T, half>, float, T>;
// Double for all: half the code, and more digits, where the algorithms are large.
template <typename T>
using WidestOf = std::conditional_t<Eigen::NumTraits<T>::IsComplex, complex128, double>;

// Matrix i of a tensor of T, as W; and back.
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
  // The first `num_inputs` inputs have ranks of 2 or more, and the same dimensions before the last
  // two.
  static absl::StatusOr<MatrixBatch> Of(KernelContext& c, int num_inputs);

  int64_t count() const { return batch_.num_elements(); }
  // Of the matrices of input i.
  int64_t rows(int i) const { return c_->input(i).dim(batch_.rank()); }
  int64_t columns(int i) const { return c_->input(i).dim(batch_.rank() + 1); }
  // "Input matrix must be square."
  absl::Status CheckSquare(int i) const;

  // Output i: the batch's dimensions and these.
  absl::StatusOr<Tensor*> Output(int i, std::initializer_list<int64_t> dims) const;

  // Calls f for each matrix, if the outputs have any elements; `cost` is roughly nanoseconds a
  // call. The error of the first matrix that has one.
  absl::Status ForEach(double cost, absl::FunctionRef<absl::Status(int64_t)> f) const;
  // The same over another number of calls.
  static absl::Status ForEach(KernelContext& c, int64_t count, double cost,
                              absl::FunctionRef<absl::Status(int64_t)> f);

 private:
  MatrixBatch(KernelContext& c, TensorShape batch) : c_(&c), batch_(std::move(batch)) {}
  KernelContext* c_;
  TensorShape batch_;
};

// The product of sizes, whose elements may be none.
inline double CostOf(std::initializer_list<int64_t> sizes) {
  double cost = 1;
  for (int64_t size : sizes) cost *= static_cast<double>(size);
  return cost;
}
// Nanoseconds of a decomposition of a matrix, roughly.
inline double CubicCost(int64_t rows, int64_t columns) {
  const auto m = static_cast<double>(rows), n = static_cast<double>(columns);
  return 100 + m * n * (m < n ? m : n);
}

}  // namespace sluice

#endif  // SLUICE_OPS_LINALG_MATRIX_BATCH_H_
