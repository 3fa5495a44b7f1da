#include "ops/loops/constant_element.h"

#include <cstring>

#include "ops/loops/elements.h"

namespace sluice {
namespace {

using NumberOrBoolList = JoinTypes<NumberList, TypeList<bool>>::type;

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
  WithType(dtype, NumberOrBoolList(), [&]<typename T>(ElementTag<T>) {
    if constexpr (std::is_same_v<T, complex64>) {
      t.scalar<T>() = static_cast<float>(value);
    } else {
      t.scalar<T>() = static_cast<T>(value);
    }
  });
  return t;
}

}  // namespace sluice
