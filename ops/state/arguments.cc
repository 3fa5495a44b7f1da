#include "ops/state/arguments.h"

#include "graph/ir/graph.h"

namespace sluice {

int InputIndex(const KernelContext& c, std::string_view name) {
  return c.node().InputRange(c.node().def().InputIndex(name)).first;
}

bool HasInput(const KernelContext& c, std::string_view name) {
  return c.node().def().InputIndex(name) >= 0;
}

Tensors InputsOf(const KernelContext& c, int first, int last) {
  Tensors inputs;
  for (int i = first; i < last; ++i) inputs.push_back(c.input(i));
  return inputs;
}

std::vector<DataType> OutputTypesFrom(const KernelContext& c, int first) {
  std::vector<DataType> types;
  for (int i = first; i < c.num_outputs(); ++i) types.push_back(c.output_dtype(i));
  return types;
}

void SetOutputs(KernelContext& c, int first, Tensors tensors) {
  for (Tensor& t : tensors) c.set_output(first++, std::move(t));
}

std::string TypesText(absl::Span<const DataType> types) {
  std::string text;
  for (DataType t : types) StrAppend(&text, text.empty() ? "" : ", ", DataTypeName(t));
  return text;
}

}  // namespace sluice
