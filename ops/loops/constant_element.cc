#include "ops/loops/constant_element.h"

#include <cstring>

namespace sluice {
namespace {

template <typename T>
void Set(Tensor& t, double value) {
  if constexpr (std::is_same_v<T, complex64>) {
    t.scalar<T>() = static_cast<float>(value);
  } else {
    t.scalar<T>() = static_cast<T>(value);
  }
}

template <typename... Ts>
void SetNumber(Tensor& t, double value, TypeList<Ts...>) {
  ((t.dtype() == kDataTypeOf<Ts> ? Set<Ts>(t, value) : void()), ...);
}

}  // namespace

Tensor ZeroElement(DataType dtype, Allocator& memory) {
  Buffer* buffer = Buffer::New(memory, dtype, 1);
  if (buffer == nullptr) buffer = Buffer::New(Heap(), dtype, 1);
  Tensor t(dtype, TensorShape(), BufferRef(buffer));
  if (IsPlainBytes(dtype)) std::memset(t.raw(), 0, DataTypeSize(dtype));
  return t;
}

Tensor OneElement(DataType dtype, Allocator& memory) { return NumberElement(dtype, 1, memory); }

Tensor NumberElement(DataType dtype, double value, Allocator& memory) {
  Tensor t = ZeroElement(dtype, memory);
  SetNumber(t, value, JoinTypes<NumberList, TypeList<bool>>::type());
  return t;
}

}  // namespace sluice
