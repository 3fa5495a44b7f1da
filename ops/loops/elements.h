// Chooses C++ types for elements at run time, and names the types that kernels store or compute
// elements in.
//
// Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_ELEMENTS_H_
#define SLUICE_OPS_LOOPS_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "graph/tensor/dtype.h"
#include "graph/tensor/resource_handle.h"
#include "graph/tensor/variant.h"

namespace sluice {

// The type that kernels compute in: float for 16-bit floating point numbers.
template <typename T>
using Wide = std::conditional_t<kIsFloat16<T>, float, T>;

template <typename T>
struct ElementTag {
  using type = T;
};

// Calls f(ElementTag<T>()) if the list has the C++ type T of `dtype`. Returns whether it does.
template <typename... Ts, typename F>
bool WithType(DataType dtype, TypeList<Ts...>, const F& f) {
  return ((dtype == kDataTypeOf<Ts> && (f(ElementTag<Ts>()), true)) || ...);
}

// Calls f(ElementTag<T>()) with the unsigned integer T of the size of `dtype`, 1 to 8 bytes.
template <typename F>
decltype(auto) WithBits(DataType dtype, F&& f) {
  switch (DataTypeSize(dtype)) {
    case 2:
      return f(ElementTag<uint16_t>());
    case 4:
      return f(ElementTag<uint32_t>());
    case 8:
      return f(ElementTag<uint64_t>());
    default:
      return f(ElementTag<uint8_t>());
  }
}

// WithType if the list has the type of `dtype`, else WithBits.
template <typename Types, typename F>
void WithTypeOrBits(DataType dtype, Types types, const F& f) {
  if (!WithType(dtype, types, f)) WithBits(dtype, f);
}

// An element of 16 bytes, copied as one.
struct alignas(8) Bytes16 {
  uint64_t halves[2];
};

// Calls f(ElementTag<T>()) with a T that moves elements of `dtype`: an unsigned integer of their
// size, Bytes16, or the class of their objects. Kernels that only move elements are thus compiled
// once per size, not once per type.
template <typename F>
decltype(auto) WithElement(DataType dtype, F&& f) {
  switch (dtype) {
    case DT_STRING:
      return f(ElementTag<std::string>());
    case DT_RESOURCE:
      return f(ElementTag<ResourceHandle>());
    case DT_VARIANT:
      return f(ElementTag<Variant>());
    default:
      return DataTypeSize(dtype) == 16 ? f(ElementTag<Bytes16>()) : WithBits(dtype, f);
  }
}

// The bytes of an element in memory. For strings, resource handles and variants: the bytes of the
// C++ object.
inline size_t ElementStride(DataType dtype) {
  return WithElement(dtype, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

// The integer type that stores elements of a quantized type. Other types are returned as they are.
constexpr DataType StoredType(DataType dtype) {
  switch (dtype) {
    case DT_QINT8:
      return DT_INT8;
    case DT_QUINT8:
      return DT_UINT8;
    case DT_QINT16:
      return DT_INT16;
    case DT_QUINT16:
      return DT_UINT16;
    case DT_QINT32:
      return DT_INT32;
    default:
      return dtype;
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ELEMENTS_H_
