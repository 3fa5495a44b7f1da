// Helpers with which kernels read inputs and set outputs: by name, as lists and as scalars.
#ifndef SLUICE_OPS_STATE_ARGUMENTS_H_
#define SLUICE_OPS_STATE_ARGUMENTS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The position of the first input of the input argument `name`, which the op must declare.
int InputIndex(const KernelContext& c, std::string_view name);
// Whether the op declares an input `name`. Other versions of the op may lack it.
bool HasInput(const KernelContext& c, std::string_view name);

// The value of the input `name`. INVALID_ARGUMENT "<name> must be a scalar" if the input is not a
// scalar.
template <typename T>
absl::StatusOr<T> ScalarInput(const KernelContext& c, std::string_view name) {
  const Tensor& input = c.input(InputIndex(c, name));
  if (input.shape().IsScalar()) return input.scalar<T>();
  return InvalidArgument(name, " must be a scalar");
}

// The inputs [first, last).
Tensors InputsOf(const KernelContext& c, int first, int last);
inline Tensors InputsFrom(const KernelContext& c, int first) {
  return InputsOf(c, first, c.num_inputs());
}

// The types of the outputs from `first` on.
std::vector<DataType> OutputTypesFrom(const KernelContext& c, int first);
// Moves the tensors to the outputs from `first` on.
void SetOutputs(KernelContext& c, int first, Tensors tensors);
// Sets output 0 to a scalar.
template <typename T>
absl::Status SetScalarOutput(KernelContext& c, T value) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
  out->scalar<T>() = std::move(value);
  return absl::OkStatus();
}

// The types as text for messages: "float, int32".
std::string TypesText(absl::Span<const DataType> types);
// The shapes as text for messages: "[[2], [?,3]]".
template <typename Shape>
std::string ShapesText(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& s : shapes) StrAppend(&text, text.empty() ? "" : ", ", s.ToString());
  return StrCat("[", text, "]");
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_ARGUMENTS_H_
