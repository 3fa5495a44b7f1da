// Applies a function to each element of a tensor.
#ifndef SLUICE_OPS_STRINGS_MAP_ELEMENTS_H_
#define SLUICE_OPS_STRINGS_MAP_ELEMENTS_H_

#include <string>

#include "executor/kernel/context.h"

namespace sluice {

// Sets output 0, elements of type To, to f(x) for the elements x of input 0, of type From.
template <typename To, typename From = std::string, typename F>
absl::Status MapElements(KernelContext& c, F f) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
  const auto elements = c.input(0).flat<From>();
  for (size_t i = 0; i < elements.size(); ++i) out->data<To>()[i] = f(elements[i]);
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_MAP_ELEMENTS_H_
