#include "ops/builders/result.h"

namespace sluice {

Output SingleOutput(Node* node, int arg) {
  return node == nullptr ? Output() : Output(node, node->OutputRange(arg).first);
}

OutputList ListOutput(Node* node, int arg, size_t length) {
  constexpr size_t kLengthMax = 1 << 20;  // a larger or negative count is an error
  if (node == nullptr) return OutputList(length <= kLengthMax ? length : 0);
  const auto [first, last] = node->OutputRange(arg);
  OutputList outputs;
  for (int i = first; i < last; ++i) outputs.push_back(Output(node, i));
  return outputs;
}

}  // namespace sluice
