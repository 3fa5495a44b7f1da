#include "executor/memory/copy_costs.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"

namespace sluice {
namespace {

constexpr double kNsPerElement = 1;
constexpr double kNsPerProduct = 0.02;

}  // namespace

CopyCosts::CopyCosts(const MemoryPlan& memory) {
  for (const PlannedTensor& tensor : memory.tensors) {
    for (const Output& result : tensor.results) bytes_[result] = tensor.bytes;
  }
}

double CopyCosts::Elements(const Output& tensor) const {
  const auto known = bytes_.find(tensor);
  if (known != bytes_.end() && known->second >= 0) {
    return static_cast<double>(known->second) /
           static_cast<double>(std::max<size_t>(DataTypeSize(BaseType(tensor.dtype())), 1));
  }
  if (!tensor.shape().IsFullyDefined()) return 1;
  return static_cast<double>(tensor.shape().AsShape().num_elements());
}

double CopyCosts::Of(const Node& node) const {
  double elements = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    elements += Elements(Output(const_cast<Node*>(&node), i));
  }
  double products = 0;
  if (const auto multiply_adds = node.traits().multiply_adds) {
    absl::InlinedVector<double, 4> inputs;
    for (const Output& in : node.inputs()) inputs.push_back(Elements(in));
    products = multiply_adds(node, inputs.data(), elements);
  }
  return elements * kNsPerElement + products * kNsPerProduct;
}

}  // namespace sluice
