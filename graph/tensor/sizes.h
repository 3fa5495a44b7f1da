// Saturating arithmetic on sizes that a graph chose: a result that does not fit is INT64_MAX or
// INT64_MIN, which no tensor's size reaches. Thread safety: pure functions.
#ifndef SLUICE_GRAPH_TENSOR_SIZES_H_
#define SLUICE_GRAPH_TENSOR_SIZES_H_

#include <cstdint>

namespace sluice {

inline int64_t SaturatedSum(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

inline int64_t SaturatedProduct(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_TENSOR_SIZES_H_
