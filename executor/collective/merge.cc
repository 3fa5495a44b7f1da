#include "executor/collective/merge.h"

namespace sluice {
namespace {

template <typename T, typename F>
void ForEach(T* values, const T* more, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(f(values[i], more[i]));
}

// Returns a half or bfloat16 as a float, in which its sums and products are computed. Returns other
// values unchanged.
template <typename T>
auto Wide(T v) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return static_cast<float>(v);
  } else {
    return v;
  }
}

// Signed sums wrap around, as TensorFlow's do.
template <typename T, typename F>
T Wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <typename T>
void MergeAs(MergeOp op, T* values, const T* more, int64_t n) {
  switch (op) {
    case MergeOp::kAdd:
      return ForEach(values, more, n,
                     [](T a, T b) { return Wrapping(Wide(a), Wide(b), std::plus<>()); });
    case MergeOp::kMul:
      return ForEach(values, more, n,
                     [](T a, T b) { return Wrapping(Wide(a), Wide(b), std::multiplies<>()); });
    case MergeOp::kMin:
      return ForEach(values, more, n, [](T a, T b) { return Wide(b) < Wide(a) ? b : a; });
    case MergeOp::kMax:
      return ForEach(values, more, n, [](T a, T b) { return Wide(a) < Wide(b) ? b : a; });
  }
}

template <typename T>
void DivideAs(T* values, int64_t count, int n) {
  const auto by = Wide(static_cast<T>(n));
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(Wide(values[i]) / by);
}

// Calls `f` with a null pointer of the type.
template <typename F>
void WithType(DataType dtype, F f) {
  switch (dtype) {
    case DT_FLOAT:
      return f(static_cast<float*>(nullptr));
    case DT_DOUBLE:
      return f(static_cast<double*>(nullptr));
    case DT_HALF:
      return f(static_cast<half*>(nullptr));
    case DT_BFLOAT16:
      return f(static_cast<bfloat16*>(nullptr));
    case DT_INT32:
      return f(static_cast<int32_t*>(nullptr));
    case DT_INT64:
      return f(static_cast<int64_t*>(nullptr));
    default:
      return;  // the ops allow no other
  }
}

}  // namespace

void Merge(MergeOp op, Tensor& values, int64_t begin, const Tensor& more) {
  WithType(values.dtype(), [&]<typename T>(T*) {
    MergeAs(op, values.data<T>() + begin, more.data<T>(), more.num_elements());
  });
}

void Divide(Tensor& values, int n) {
  WithType(values.dtype(),
           [&]<typename T>(T*) { DivideAs(values.data<T>(), values.num_elements(), n); });
}

Tensor Elements(const Tensor& values, int64_t begin, int64_t end) {
  return values.Reshaped(TensorShape({values.num_elements()})).SliceRows(begin, end);
}

}  // namespace sluice
