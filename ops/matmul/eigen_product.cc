#include "ops/matmul/eigen_product.h"

#include <Eigen/Core>

namespace sluice {
namespace {

template <int kOrder>
using Operand = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, kOrder>, 0,
                           Eigen::OuterStride<>>;

template <class A, class B>
void Multiply(const A& a, const B& b, float* c, int64_t c_step, bool add) {
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor, 0, Eigen::OuterStride<>> to(c, a.rows(), b.cols(),
                                                   Eigen::OuterStride<>(c_step));
  if (add) {
    to.noalias() += a * b;
  } else {
    to.noalias() = a * b;
  }
}

template <class A>
void MultiplyBy(const A& a, ProductOperand b, int64_t n, float* c, int64_t c_step, bool add) {
  if (b.column_step == 1) {
    const Eigen::OuterStride<> step(b.row_step);
    return Multiply(a, Operand<Eigen::RowMajor>(b.data, a.cols(), n, step), c, c_step, add);
  }
  const Eigen::OuterStride<> step(b.column_step);
  Multiply(a, Operand<Eigen::ColMajor>(b.data, a.cols(), n, step), c, c_step, add);
}

}  // namespace

void SLUICE_EIGEN_PRODUCT(int64_t m, int64_t n, int64_t k, ProductOperand a, ProductOperand b,
                          float* c, int64_t c_step, bool add) {
  if (a.column_step == 1) {
    const Eigen::OuterStride<> step(a.row_step);
    return MultiplyBy(Operand<Eigen::RowMajor>(a.data, m, k, step), b, n, c, c_step, add);
  }
  const Eigen::OuterStride<> step(a.column_step);
  MultiplyBy(Operand<Eigen::ColMajor>(a.data, m, k, step), b, n, c, c_step, add);
}

}  // namespace sluice
