// Counts the multiply-adds of matrix products (OpTraits::multiply_adds).
#ifndef SLUICE_OPS_MATMUL_MULTIPLY_ADDS_H_
#define SLUICE_OPS_MATMUL_MULTIPLY_ADDS_H_

#include <cmath>

#include "graph/ir/graph.h"

namespace sluice {

// The tensors have m k, k n and m n elements. The root of the product of these numbers is m k n.
inline double MultiplyAddsOfProduct(const Node&, const double* inputs, double outputs) {
  return std::sqrt(inputs[0] * inputs[1] * outputs);
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_MULTIPLY_ADDS_H_
