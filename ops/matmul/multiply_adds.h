// Counts the multiply-adds of matrix products (OpTraits::multiply_adds).
#ifndef SLUICE_OPS_MATMUL_MULTIPLY_ADDS_H_
#define SLUICE_OPS_MATMUL_MULTIPLY_ADDS_H_

#include <cmath>

#include "graph/ir/graph.h"

namespace sluice {

// Returns m * k * n, the number of multiply-adds of a product of an m x k and a k x n matrix. It is
// the square root of m * k times k * n times m * n, the numbers of elements of the three matrices.
inline double MultiplyAddsOfProduct(const Node&, const double* inputs, double outputs) {
  return std::sqrt(inputs[0] * inputs[1] * outputs);
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_MULTIPLY_ADDS_H_
