// Float matrix products by Eigen. eigen_product.cc is compiled once for each of these functions,
// each time with another instruction set and another name of Eigen's namespace. So the versions
// share no template instance, which would use the instructions of only one of the sets.
#ifndef SLUICE_OPS_MATMUL_EIGEN_PRODUCT_H_
#define SLUICE_OPS_MATMUL_EIGEN_PRODUCT_H_

#include <cstdint>

namespace sluice {

// A matrix whose element (i, j) is data[i * row_step + j * column_step]. One of the steps is 1.
struct ProductOperand {
  const float* data;
  int64_t row_step;
  int64_t column_step;
};

// Computes C = A * B or, if `add`, C += A * B. A is m x k, B is k x n, and C is m x n. The rows of
// C are contiguous and begin c_step floats apart.
using EigenProduct = void(int64_t m, int64_t n, int64_t k, ProductOperand a, ProductOperand b,
                          float* c, int64_t c_step, bool add);
EigenProduct EigenProductSse2;
EigenProduct EigenProductAvx2;
EigenProduct EigenProductAvx512;

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_EIGEN_PRODUCT_H_
