// Reads tensors of sizes, axes and positions of any integer type as int64.
//
// Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_INT_TENSOR_H_
#define SLUICE_OPS_LOOPS_INT_TENSOR_H_

#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "graph/tensor/tensor.h"

namespace sluice {

using Ints = absl::InlinedVector<int64_t, 8>;

// Calls `f` with a pointer to the elements, a `const T*`. T is one of the integer types that
// TensorFlow permits for indices.
template <typename F>
decltype(auto) WithIndices(const Tensor& t, F&& f) {
  switch (t.dtype()) {
    case DT_INT64:
      return f(t.data<int64_t>());
    case DT_INT16:
      return f(t.data<int16_t>());
    case DT_INT8:
      return f(t.data<int8_t>());
    case DT_UINT8:
      return f(t.data<uint8_t>());
    default:
      return f(t.data<int32_t>());
  }
}

inline int64_t IntAt(const Tensor& t, int64_t i) {
  return WithIndices(t, [i](const auto* p) { return static_cast<int64_t>(p[i]); });
}

// All elements of a short tensor.
inline Ints IntsOf(const Tensor& t) {
  return WithIndices(t, [&t](const auto* p) { return Ints(p, p + t.num_elements()); });
}

// Sets element i of an int32 or int64 tensor.
inline void SetIntAt(Tensor& t, int64_t i, int64_t value) {
  if (t.dtype() == DT_INT64) {
    t.data<int64_t>()[i] = value;
  } else {
    t.data<int32_t>()[i] = static_cast<int32_t>(value);
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_INT_TENSOR_H_
