// A function of each string of a tensor.
#ifndef SLUICE_OPS_STRINGS_MAP_STRINGS_H_
#define SLUICE_OPS_STRINGS_MAP_STRINGS_H_

#include <string>

#include "executor/kernel/context.h"

namespace sluice {

// `f(const std::string&)` of each element of input 0 as a T of output 0.
template <typename T, typename F>
absl::Status MapStrings(KernelContext& c, F f) {
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, c.input(0).shape(), &out));
  const auto inputs = c.input(0).flat<std::string>();
  for (size_t i = 0; i < inputs.size(); ++i) out->data<T>()[i] = f(inputs[i]);
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_MAP_STRINGS_H_
