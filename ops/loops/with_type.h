// Dispatches on a dtype that is known only when a step runs. The code is instantiated for each C++
// type.
//
//   WithType(IndexList(), indices.dtype(), [&]<typename Index>() { Gather<Index>(context); });
//
// For the type of an op's main operands, kernels are registered per type instead (KERNELS,
// executor/kernel).
#ifndef SLUICE_OPS_LOOPS_WITH_TYPE_H_
#define SLUICE_OPS_LOOPS_WITH_TYPE_H_

#include "graph/tensor/dtype.h"

namespace sluice {

// Returns f.operator()<T>() for the type T of the list whose dtype is `dtype`. The list must have
// such a type: the op's declaration or an earlier check ensures it. Otherwise T is the last type.
template <typename T, typename... Others, typename F>
decltype(auto) WithType(TypeList<T, Others...>, DataType dtype, const F& f) {
  if constexpr (sizeof...(Others) > 0) {
    if (dtype != kDataTypeOf<T>) return WithType(TypeList<Others...>(), dtype, f);
  }
  return f.template operator()<T>();
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_WITH_TYPE_H_
