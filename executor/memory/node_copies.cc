#include "executor/memory/node_copies.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr double kNsPerElement = 1;
constexpr double kNsPerProduct = 0.02;

}  // namespace

Node* NodeCopies::Of(const Node& original) const {
  const auto found = copies_.find(&original);
  return found == copies_.end() ? nullptr : found->second;
}

absl::Status NodeCopies::Add(const Node& original, Node* trigger,
                             const std::vector<Output>& sources) {
  NodeSpec spec;
  spec.name = StrCat(original.name(), "/remat");
  for (int i = 1; graph_.Find(spec.name) != nullptr; ++i) {
    spec.name = StrCat(original.name(), "/remat_", i);
  }
  spec.op = original.op();
  spec.attrs = original.attrs();
  spec.device = original.device();
  spec.at = original.at();
  spec.control_inputs = {trigger};
  for (const Output& in : original.inputs()) {
    const bool is_source = std::find(sources.begin(), sources.end(), in) != sources.end();
    Node* const copy = is_source ? nullptr : Of(*in.node);
    spec.inputs.push_back(copy != nullptr ? Output(copy, in.index) : in);
  }
  SLUICE_ASSIGN_OR_RETURN(Node * copy, graph_.Add(std::move(spec)));
  copy->set_assigned_device(original.assigned_device());
  for (int i = 0; i < original.num_outputs(); ++i) {
    copy->set_output_shape(i, original.output_shape(i));
  }
  copies_[&original] = copy;
  triggers_[copy] = trigger;
  added_.push_back(copy);
  return absl::OkStatus();
}

void NodeCopies::SetTrigger(Node* copy, Node* trigger) {
  Node*& known = triggers_.at(copy);
  Save(known);
  old_triggers_.emplace_back(copy, known);
  graph_.RemoveControlEdge(known, copy);
  graph_.AddControlEdge(trigger, copy);
  known = trigger;
}

absl::Status NodeCopies::Redirect(const Use& use) {
  Node* const original = use.dst->input(use.dst_input).node;
  Node* const copy = Of(*original);
  Save(original);
  // With this edge, nodes that run after a late reader still run after the original.
  graph_.AddControlEdge(original, copy);
  return graph_.UpdateInput(use.dst, use.dst_input, Output(copy, use.src_output));
}

void NodeCopies::Save(Node* node) {
  const auto is_known = [&](const auto& saved) { return saved.first == node; };
  if (std::any_of(saved_.begin(), saved_.end(), is_known)) return;
  const auto uses = node->uses();
  const auto controls = node->control_outputs();
  saved_.push_back({node, {{uses.begin(), uses.end()}, {controls.begin(), controls.end()}}});
}

void NodeCopies::Keep() {
  added_.clear();
  old_triggers_.clear();
  saved_.clear();
}

absl::Status NodeCopies::Undo() {
  for (auto it = old_triggers_.rbegin(); it != old_triggers_.rend(); ++it) {
    const auto& [copy, trigger] = *it;
    graph_.RemoveControlEdge(triggers_.at(copy), copy);
    graph_.AddControlEdge(trigger, copy);
    triggers_.at(copy) = trigger;
  }
  // Each edge in turn is moved to the end, which restores their order.
  for (const auto& [node, edges] : saved_) {
    for (const Use& use : edges.uses) {
      SLUICE_RETURN_IF_ERROR(
          graph_.UpdateInput(use.dst, use.dst_input, Output(node, use.src_output)));
    }
    for (Node* to : edges.control_outputs) {
      graph_.RemoveControlEdge(node, to);
      graph_.AddControlEdge(node, to);
    }
  }
  for (auto it = added_.rbegin(); it != added_.rend(); ++it) {
    const Node* const copy = *it;
    std::erase_if(copies_, [&](const auto& entry) { return entry.second == copy; });
    triggers_.erase(copy);
    graph_.Remove(*it);
  }
  Keep();
  return absl::OkStatus();
}

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
