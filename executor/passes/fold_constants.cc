#include "executor/passes/fold_constants.h"

#include <unordered_map>

#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "executor/passes/purity.h"
#include "executor/passes/rewrite.h"
#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Values of nodes that are constants, by node; all outputs of a node are known or none is.
using Known = std::unordered_map<const Node*, std::vector<Tensor>>;

bool IsShapeQuery(const Node& node) {
  return node.op() == "Shape" || node.op() == "Size" || node.op() == "Rank";
}

// The outputs of `node`, computed by its kernel on known inputs; empty where that cannot be.
std::vector<Tensor> Compute(const Node& node, const Known& known) {
  ResourceManager resources;
  KernelInit init(node, "/device:CPU:0", &resources);
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = KernelRegistry::Global().Make(init, "CPU");
  if (!kernel.ok() || (*kernel)->AsAsync() != nullptr) return {};
  std::vector<Value> inputs(node.num_inputs());
  std::vector<Value*> slots(node.num_inputs());
  for (int i = 0; i < node.num_inputs(); ++i) {
    const Output& in = node.input(i);
    inputs[i].tensor = known.at(in.node)[in.index];
    slots[i] = &inputs[i];
  }
  std::vector<Value> outputs(node.num_outputs());
  StepContext step;
  step.allocator = &Heap();
  step.resources = &resources;
  step.step_resources = &resources;
  KernelContext context(step, node, slots.data(), node.num_inputs(), /*movable=*/0, outputs.data(),
                        node.num_outputs());
  if (!(*kernel)->Compute(context).ok()) return {};
  std::vector<Tensor> results;
  for (Value& out : outputs) {
    if (!out.tensor.IsInitialized()) return {};
    results.push_back(std::move(out.tensor));
  }
  return results;
}

// Users of `node` read constants instead; the node goes away.
absl::Status Replace(Graph& graph, Node* node, const std::vector<Tensor>& values, Known& known) {
  std::vector<Node*> constants(values.size(), nullptr);
  const std::vector<Use> uses(node->uses().begin(), node->uses().end());
  for (const Use& use : uses) {
    Node*& constant = constants[use.src_output];
    if (constant == nullptr) {
      const std::string name = StrCat(node->name(), "/folded_", use.src_output);
      SLUICE_ASSIGN_OR_RETURN(constant,
                              ConstantOnDeviceOf(graph, *node, name, values[use.src_output]));
      known[constant] = {values[use.src_output]};
    }
    SLUICE_RETURN_IF_ERROR(graph.UpdateInput(use.dst, use.dst_input, Output(constant)));
  }
  known.erase(node);
  graph.Remove(node);
  return absl::OkStatus();
}

bool AreKnown(const Node& node, const Known& known) {
  for (const Output& in : node.inputs()) {
    if (!known.contains(in.node)) return false;
  }
  return true;
}

// Nodes that run only if a branch is taken or a loop goes on. A constant in their place would be
// alive where they are dead, and a Merge would take it.
class ConditionalNodes {
 public:
  explicit ConditionalNodes(const Graph& graph) : conditional_(graph.num_node_ids(), false) {}
  // Nodes are asked for in topological order.
  bool Visit(const Node& node) {
    bool conditional = node.op() == "Switch" || node.op() == "RefSwitch" ||
                       node.op() == "_SwitchN" || node.op() == "Enter" || node.op() == "RefEnter" ||
                       node.op() == "_Recv" || node.op() == "Recv";
    for (const Output& in : node.inputs()) conditional |= in && IsConditional(*in.node);
    for (const Node* c : node.control_inputs()) conditional |= IsConditional(*c);
    conditional_[node.id()] = conditional;
    return conditional;
  }

 private:
  // A node that was added since is a constant that has taken another's place.
  bool IsConditional(const Node& node) const {
    return node.id() < static_cast<int>(conditional_.size()) && conditional_[node.id()];
  }

  std::vector<bool> conditional_;
};

size_t BytesOf(const std::vector<Tensor>& values) {
  size_t bytes = 0;
  for (const Tensor& t : values) bytes += t.bytes();
  return bytes;
}

}  // namespace

absl::StatusOr<int> FoldConstants(Graph& graph, const PassOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(graph));
  Known known;
  ConditionalNodes conditional(graph);
  int folded = 0;
  for (Node* node : order) {
    if (conditional.Visit(*node) || options.keep.contains(node->name())) continue;
    if (node->op() == "Const") {
      if (const Tensor* value = node->FindAttr<Tensor>("value")) known[node] = {*value};
      continue;
    }
    if (!IsPure(*node) || !node->control_inputs().empty() || !node->control_outputs().empty()) {
      continue;
    }
    std::vector<Tensor> values;
    if (IsShapeQuery(*node)) {
      if (std::optional<Tensor> value = ConstantValue(Output(node))) values = {*value};
    } else if (node->num_inputs() > 0 && AreKnown(*node, known)) {
      values = Compute(*node, known);
    }
    if (values.empty() || BytesOf(values) > static_cast<size_t>(options.max_constant_bytes)) {
      continue;
    }
    SLUICE_RETURN_IF_ERROR(Replace(graph, node, values, known));
    ++folded;
  }
  return folded;
}

}  // namespace sluice
