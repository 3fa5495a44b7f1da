// The initial rows of an embedding table. They depend on the seed and the key only, and not on the
// order in which keys are first seen, the server or the thread. The rows of normal distributions
// also depend on the processor's instruction sets, because the C library's log and sin do.
//
// Thread safety: a value; its methods may be called from any thread.
#ifndef SLUICE_OPS_EMBEDDING_INITIAL_ROWS_H_
#define SLUICE_OPS_EMBEDDING_INITIAL_ROWS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "graph/tensor/dtype.h"

namespace sluice {

struct InitialRows {
  enum class Kind { kConstant, kUniform, kNormal, kTruncatedNormal };

  // All elements are `value`.
  static InitialRows Constant(float value) { return {Kind::kConstant, value, 0}; }
  // Uniform in [low, high).
  static InitialRows Uniform(float low, float high) { return {Kind::kUniform, low, high}; }
  static InitialRows Normal(float mean, float stddev) { return {Kind::kNormal, mean, stddev}; }
  // A normal distribution without the numbers that are two or more standard deviations away from
  // the mean.
  static InitialRows TruncatedNormal(float mean, float stddev) {
    return {Kind::kTruncatedNormal, mean, stddev};
  }

  // Writes the row of keys[i], `size` elements of type float, half or bfloat16, to the memory at
  // rows[i]. One call for many short rows takes less time than a call for each.
  void Fill(int64_t seed, absl::Span<const int64_t> keys, DataType dtype, int64_t size,
            void* const* rows) const;

  Kind kind = Kind::kUniform;
  float first = -0.05f;  // depending on `kind`: the constant, the lower bound or the mean
  float second = 0.05f;  // depending on `kind`: unused, the upper bound or the standard deviation

  bool operator==(const InitialRows&) const = default;
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_INITIAL_ROWS_H_
