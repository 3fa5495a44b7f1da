#include "executor/memory/memory_plan.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "executor/kernel/elementwise_loops.h"
#include "executor/memory/memory_table.h"
#include "executor/plan/op_kind.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/variable_use.h"
#include "graph/strings.h"

namespace sluice {
namespace {

// The shapes that all outputs have if the feeds have the given shapes. Nodes of loops keep the
// graph's shapes.
class Shapes {
 public:
  Shapes(const Graph& graph, absl::Span<const TensorShape> feeds) {
    const absl::StatusOr<std::vector<Node*>> order = TopologicalOrder(graph);
    if (!order.ok()) return;
    for (const Node* node : *order) Copy(*node, feeds);
  }

  PartialShape Of(const Node& node, int output) const {
    const auto found = copies_.find(&node);
    return found != copies_.end() ? found->second->output_shape(output) : node.output_shape(output);
  }

 private:
  void Copy(const Node& node, absl::Span<const TensorShape> feeds) {
    NodeSpec spec;
    spec.name = node.name();
    spec.op = node.op();
    spec.attrs = node.attrs();
    for (const Output& in : node.inputs()) {
      const auto source = copies_.find(in.node);
      if (source == copies_.end()) return;  // a NextIteration
      spec.inputs.push_back(Output(source->second, in.index));
    }
    const absl::StatusOr<Node*> copy = copies_graph_.Add(std::move(spec));
    if (!copy.ok()) return;
    for (int i = 0; i < node.num_outputs(); ++i) {
      (*copy)->set_output_shape(i, node.output_shape(i));
      if (const HandleData* handle = node.output_handle(i)) (*copy)->set_output_handle(i, *handle);
    }
    copies_.emplace(&node, *copy);
    if (node.role() == OpRole::kFeed) {
      const auto index = static_cast<size_t>(node.AttrOr<int64_t>("index", 0));
      if (index < feeds.size()) (*copy)->set_output_shape(0, PartialShape(feeds[index]));
    } else {
      (void)InferShapes(*copy);  // after an error the graph's shapes stay
    }
  }

  Graph copies_graph_;
  std::unordered_map<const Node*, Node*> copies_;
};

int64_t BytesOf(const PartialShape& shape, DataType dtype) {
  if (!shape.IsFullyDefined()) return -1;
  return shape.AsShape().num_elements() * static_cast<int64_t>(DataTypeSize(dtype));
}

// Visits the root's nodes in the order of a step on one thread.
class Walk {
 public:
  Walk(const Plan& plan, const Shapes& shapes, MemoryPlan* memory)
      : body_(plan.bodies[0]), shapes_(shapes), memory_(*memory), in_slot_(body_.num_slots, -1) {}

  void Run() {
    for (const Unit& unit : body_.units) {
      for (uint32_t i = 0; i < unit.num_nodes; ++i) Run(body_.nodes[unit.first_node + i]);
      for (uint32_t i = 0; i < unit.num_copies; ++i) {
        const SlotCopy& copy = body_.copies[unit.first_copy + i];
        if (in_slot_[copy.from] >= 0) Hold(in_slot_[copy.from], copy.to);
      }
    }
    memory_.num_nodes = number_;
    for (const int left : in_slot_) {
      if (left >= 0) memory_.tensors[left].released_at = number_;
    }
  }

 private:
  void Run(const PlanNode& node) {
    Make(node);
    if (alive_ > memory_.peak_bytes) {
      memory_.peak_bytes = alive_;
      memory_.peak_at = number_;
      memory_.peak_node = node.node->name();
    }
    for (int i = 0; i < node.num_releases; ++i) {
      Release(body_.releases[node.first_release + static_cast<uint32_t>(i)]);
    }
    ++number_;
  }

  static bool TakesOver(const PlanNode& node) {
    if (node.kind == OpKind::kFused || node.kind == OpKind::kPass) return true;
    return dynamic_cast<const ElementwiseLoopKernel*>(node.kernel) != nullptr;
  }

  // The tensor of input i if it has `bytes`, otherwise -1.
  int Fitting(const PlanNode& node, int i, int64_t bytes) const {
    const ValueRef& ref = body_.inputs[node.first_input + static_cast<uint32_t>(i)];
    if (ref.base != ValueRef::kSlot) return -1;
    const int tensor = in_slot_[ref.index];
    return tensor >= 0 && memory_.tensors[tensor].bytes == bytes ? tensor : -1;
  }

  // The tensor of an input whose buffer a result of `bytes` takes over. -1: none.
  int Inherited(const PlanNode& node, int64_t bytes) const {
    if (!TakesOver(node)) return -1;
    for (int i = 0; i < node.num_inputs && i < 64; ++i) {
      if (((node.movable >> i) & 1) == 0) continue;
      const int tensor = Fitting(node, i, bytes);
      if (tensor >= 0 && holders_[tensor] == 1) return tensor;
    }
    return -1;
  }

  // The tensor of the first input if the result shares it, otherwise -1.
  int Shared(const PlanNode& node, int64_t bytes) const {
    const bool is_view = node.node->traits().output_memory == OutputMemory::kView;
    if (node.kind != OpKind::kPass && !is_view) return -1;
    return node.num_inputs > 0 ? Fitting(node, 0, bytes) : -1;
  }

  // The tensor of an input in whose memory output 0 lies, otherwise -1.
  int TakenOrShared(const PlanNode& node, int64_t bytes) {
    const int tensor = Inherited(node, bytes);
    if (tensor < 0) return Shared(node, bytes);
    std::replace(in_slot_.begin(), in_slot_.end(), tensor, -1);  // the input's slot loses it
    holders_[tensor] = 0;
    return tensor;
  }

  static bool MakesTensors(const PlanNode& node) {
    return node.kind == OpKind::kKernel || node.kind == OpKind::kFused ||
           node.kind == OpKind::kPass;
  }

  // Whether output i has memory of the step, of a size that follows from its shape.
  static bool IsPlanned(const PlanNode& node, int i) {
    const DataType dtype = node.output_types[i];
    return !IsRefType(node.node->output_type(i)) && dtype != DT_RESOURCE && dtype != DT_VARIANT &&
           !ReadsVariable(*node.node);
  }

  void Make(const PlanNode& node) {
    if (node.kind == OpKind::kFetch) KeepFetched(node);
    if (!MakesTensors(node)) return;
    for (int i = 0; i < node.num_outputs; ++i) {
      const uint32_t slot = node.first_output + static_cast<uint32_t>(i);
      const DataType dtype = node.output_types[i];
      if (!IsPlanned(node, i)) continue;
      const int64_t bytes = BytesOf(shapes_.Of(*node.node, i), dtype);
      int tensor = i == 0 ? TakenOrShared(node, bytes) : -1;
      if (tensor < 0 && node.kind == OpKind::kPass) continue;  // a variable's value, for example
      if (tensor < 0) tensor = NewTensor({node.node, i, bytes, number_, number_, {}});
      Hold(tensor, slot);
      memory_.tensors[tensor].results.push_back(Output(const_cast<Node*>(node.node), i));
    }
  }

  int NewTensor(PlannedTensor tensor) {
    if (tensor.bytes < 0) ++memory_.num_unknown;
    alive_ += std::max<int64_t>(tensor.bytes, 0);
    memory_.tensors.push_back(std::move(tensor));
    holders_.push_back(0);
    return static_cast<int>(holders_.size()) - 1;
  }

  void Hold(int tensor, uint32_t slot) {
    in_slot_[slot] = tensor;
    ++holders_[tensor];
  }

  void KeepFetched(const PlanNode& node) {
    const ValueRef& ref = body_.inputs[node.first_input];
    if (ref.base == ValueRef::kSlot && in_slot_[ref.index] >= 0) {
      memory_.tensors[in_slot_[ref.index]].released_at = static_cast<int>(body_.nodes.size());
      in_slot_[ref.index] = -1;  // the step still holds it
    }
  }

  void Release(uint32_t slot) {
    const int tensor = std::exchange(in_slot_[slot], -1);
    if (tensor < 0 || --holders_[tensor] > 0) return;
    memory_.tensors[tensor].released_at = number_;
    alive_ -= std::max<int64_t>(memory_.tensors[tensor].bytes, 0);
  }

  const Body& body_;
  const Shapes& shapes_;
  MemoryPlan& memory_;
  std::vector<int> in_slot_;  // by slot: index among the tensors, or -1
  std::vector<int> holders_;  // by tensor: the number of slots, and one for a fetch
  int number_ = 0;
  int64_t alive_ = 0;
};

}  // namespace

std::string MemoryPlan::ToString(int rows) const {
  std::string text =
      StrCat("planned memory: ", MemoryText(peak_bytes), " at '", peak_node, "', node ", peak_at,
             " of ", num_nodes, "; ", tensors.size(), " tensors");
  if (num_unknown > 0) StrAppend(&text, ", ", num_unknown, " of a size that the step decides");
  std::vector<MemoryRow> table;
  for (int i = 0; i < rows && i < static_cast<int>(tensors.size()); ++i) {
    const PlannedTensor& t = tensors[i];
    const std::string until = t.released_at >= num_nodes ? "end" : StrCat(t.released_at);
    table.push_back({.bytes = t.bytes,
                     .lifetime = StrCat(t.computed_at, " to ", until),
                     .at_peak = t.computed_at <= peak_at && peak_at <= t.released_at,
                     .tensor = StrCat(t.node->name(), ":", t.output, " (", t.node->op(), ")")});
  }
  return text + MemoryTable(table);
}

MemoryPlan MemoryOf(const Plan& plan, absl::Span<const TensorShape> feeds) {
  MemoryPlan memory;
  memory.graph = plan.graph;
  const Shapes shapes(*plan.graph, feeds);
  Walk(plan, shapes, &memory).Run();
  std::stable_sort(
      memory.tensors.begin(), memory.tensors.end(),
      [](const PlannedTensor& a, const PlannedTensor& b) { return a.bytes > b.bytes; });
  return memory;
}

}  // namespace sluice
