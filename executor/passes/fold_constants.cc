#include "executor/passes/fold_constants.h"

#include <unordered_map>

#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "executor/passes/rewrite.h"
#include "executor/wait/out_of_memory.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/constant.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/purity.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The values of all outputs of the nodes whose values are known.
using Known = std::unordered_map<const Node*, std::vector<Tensor>>;

// The outputs that the kernel of `node` computes from known inputs; empty if it cannot.
std::vector<Tensor> Compute(const Node& node, const Known& known, Allocator& memory) {
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
  step.allocator = &memory;
  step.resources = &resources;
  step.step_resources = &resources;
  KernelContext context(step, node, slots.data(), node.num_inputs(), /*movable=*/0, outputs.data(),
                        node.num_outputs());
  if (!OrOutOfMemory([&] { return (*kernel)->Compute(context); }).ok()) return {};
  std::vector<Tensor> results;
  for (Value& out : outputs) {
    if (!out.tensor.IsInitialized()) return {};
    results.push_back(std::move(out.tensor));
  }
  return results;
}

// Removes `node`, whose readers then read constants. The new constants wait for what the constant
// inputs of `node` wait for: readers may have no control inputs of their own.
absl::Status Replace(Graph& graph, Node* node, const std::vector<Tensor>& values, Known& known) {
  std::vector<Node*> constants(values.size(), nullptr);
  std::vector<Node*> waits_for;
  for (const Output& in : node->inputs()) {
    if (!known.contains(in.node)) continue;
    const auto& controls = in.node->control_inputs();
    waits_for.insert(waits_for.end(), controls.begin(), controls.end());
  }
  const std::vector<Use> uses(node->uses().begin(), node->uses().end());
  for (const Use& use : uses) {
    Node*& constant = constants[use.src_output];
    if (constant == nullptr) {
      const std::string name = StrCat(node->name(), "/folded_", use.src_output);
      SLUICE_ASSIGN_OR_RETURN(constant,
                              ConstantOnDeviceOf(graph, *node, name, values[use.src_output]));
      for (Node* before : waits_for) graph.AddControlEdge(before, constant);
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

size_t BytesOf(const std::vector<Tensor>& values) {
  size_t bytes = 0;
  for (const Tensor& t : values) bytes += t.bytes();
  return bytes;
}

// The outputs, from the shape or the values of the inputs; empty if they do not follow from these.
std::vector<Tensor> ValuesOf(Node* node, const Known& known, Allocator& memory) {
  if (node->traits().shape_query != ShapeQuery::kNone && node->num_outputs() == 1) {
    const std::optional<Tensor> value = ConstantValue(Output(node));
    return value ? std::vector<Tensor>{*value} : std::vector<Tensor>();
  }
  const bool can_compute = node->num_inputs() > 0 && AreKnown(*node, known);
  return can_compute ? Compute(*node, known, memory) : std::vector<Tensor>();
}

bool CanBeRemoved(const Node& node) {
  return IsPure(node) && node.control_inputs().empty() && node.control_outputs().empty();
}

}  // namespace

absl::StatusOr<int> FoldConstants(Graph& graph, const PassOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(graph));
  Known known;
  // A constant instead of a conditional node would be alive if the node is dead, and a Merge would
  // take it.
  const std::vector<bool> conditional = ConditionalNodes(graph);
  int folded = 0;
  for (Node* node : order) {
    if (conditional[node->id()] || options.keep.contains(node->name())) continue;
    if (IsConstant(*node)) {
      if (const Tensor* value = node->FindAttr<Tensor>("value")) known[node] = {*value};
      continue;
    }
    if (!CanBeRemoved(*node)) continue;
    const std::vector<Tensor> values = ValuesOf(node, known, *options.memory);
    if (values.empty() || BytesOf(values) > static_cast<size_t>(options.max_constant_bytes)) {
      continue;
    }
    SLUICE_RETURN_IF_ERROR(Replace(graph, node, values, known));
    ++folded;
  }
  return folded;
}

}  // namespace sluice
