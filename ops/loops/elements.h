// Kernels that move elements do not care what they are: they are compiled once a size, not once a
// type.
//
// Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_ELEMENTS_H_
#define SLUICE_OPS_LOOPS_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "graph/tensor/dtype.h"
#include "graph/tensor/resource_handle.h"
#include "graph/tensor/variant.h"

namespace sluice {

// An element of 16 bytes, copied as one.
struct alignas(8) Bytes16 {
  uint64_t halves[2];
};

template <typename T>
struct ElementTag {
  using type = T;
};

// Calls `f(ElementTag<T>())` with the T that moves elements of `dtype`: an unsigned integer of
// their size, Bytes16, or the class of their objects.
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
      break;
  }
  switch (DataTypeSize(dtype)) {
    case 2:
      return f(ElementTag<uint16_t>());
    case 4:
      return f(ElementTag<uint32_t>());
    case 8:
      return f(ElementTag<uint64_t>());
    case 16:
      return f(ElementTag<Bytes16>());
    default:
      return f(ElementTag<uint8_t>());
  }
}

// Bytes from one element in memory to the next, objects included.
inline size_t ElementStride(DataType dtype) {
  return WithElement(dtype, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ELEMENTS_H_
