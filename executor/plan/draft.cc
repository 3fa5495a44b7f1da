#include "executor/plan/draft.h"

#include <algorithm>
#include <utility>

#include "executor/plan/loops.h"
#include "executor/plan/order.h"
#include "graph/ir/constant.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/frames.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The location where readers of a node find output 0.
struct Place {
  ValueRef::Base base = ValueRef::kSlot;
  int index = 0;
  int item = -1;
};

class Drafter {
 public:
  Drafter(const Graph& graph, const Frames& frames,
          const std::vector<std::shared_ptr<Kernel>>& kernels, std::vector<bool> simple)
      : frames_(frames),
        kernels_(kernels),
        places_(graph.num_node_ids()),
        items_(graph.num_node_ids(), -1),
        loop_items_(frames.frames.size(), -1),
        loop_invariants_(frames.frames.size()),
        loop_variables_(frames.frames.size()) {
    draft_.bodies.resize(frames.frames.size());
    for (size_t f = 0; f < frames.frames.size(); ++f) {
      DraftBody& body = draft_.bodies[f];
      body.is_simple_loop = simple[f];
      body.frame_name = frames.frames[f].name;
      body.parent = frames.frames[f].parent;
      body.parallel_iterations = frames.frames[f].parallel_iterations;
    }
  }

  absl::Status AddNode(const Node& node) {
    switch (OpKindOf(node)) {
      case OpKind::kConstant:
        return AddConstant(node);
      case OpKind::kFeed:
        places_[node.id()] = {ValueRef::kFeed, IndexOf(node), -1};
        if (node.uses().empty()) return absl::OkStatus();  // steps do not hold an unread feed
        draft_.num_feeds = std::max(draft_.num_feeds, IndexOf(node) + 1);
        return absl::OkStatus();
      case OpKind::kFetch:
        return AddFetch(node);
      case OpKind::kEnter:
        AddEnter(node);
        return absl::OkStatus();
      case OpKind::kExit:
        AddExit(node);
        return absl::OkStatus();
      case OpKind::kNextIteration:
        AddNextIteration(node);
        return absl::OkStatus();
      case OpKind::kMerge:
        AddMerge(node);
        return absl::OkStatus();
      default:
        AddOrdinary(node, OpKindOf(node));
        return absl::OkStatus();
    }
  }

  // Called after all nodes have been added.
  void Connect(const Node& node) {
    const int item = items_[node.id()];
    const int frame = frames_.of_node[node.id()];
    if (IsEnter(node) && IsSimple(frames_.of_outputs[node.id()])) {
      ConnectEnter(node);
    } else if (item >= 0 && body(frame).items[item].kind == OpKind::kLoopVariable) {
      ConnectVariable(node, frame, item);
    } else if (item >= 0) {
      DraftItem& user = body(frame).items[item];
      for (int i = 0; i < node.num_inputs(); ++i) user.inputs.push_back(InputOf(node, i));
      AddControls(node, &user);
      for (const Output& in : node.inputs()) {
        const bool has_item = items_[in.node->id()] >= 0;
        if (!has_item && IsConstant(*in.node)) AddControls(*in.node, &user);
      }
    }
  }

  Draft Take() {
    for (size_t f = 0; f < draft_.bodies.size(); ++f) {
      if (loop_items_[f] < 0) continue;
      DraftItem& loop = body(draft_.bodies[f].parent).items[loop_items_[f]];
      loop.inputs = std::move(loop_variables_[f]);
      loop.inputs.insert(loop.inputs.end(), loop_invariants_[f].begin(), loop_invariants_[f].end());
    }
    return std::move(draft_);
  }

 private:
  DraftBody& body(int frame) { return draft_.bodies[frame]; }
  bool IsSimple(int frame) const { return draft_.bodies[frame].is_simple_loop; }
  static int IndexOf(const Node& node) {
    return static_cast<int>(node.AttrOr<int64_t>("index", 0));
  }

  int AddItem(int frame, const Node& node, OpKind kind) {
    DraftItem item;
    item.kind = kind;
    item.node = &node;
    item.kernel = kernels_[node.id()].get();
    for (int i = 0; i < node.num_outputs(); ++i) item.output_types.push_back(node.output_type(i));
    body(frame).items.push_back(std::move(item));
    return static_cast<int>(body(frame).items.size()) - 1;
  }

  int AddOrdinary(const Node& node, OpKind kind) {
    const int item = AddItem(frames_.of_node[node.id()], node, kind);
    items_[node.id()] = item;
    places_[node.id()] = {ValueRef::kSlot, 0, item};
    return item;
  }

  absl::Status AddConstant(const Node& node) {
    const Tensor* value = node.FindAttr<Tensor>("value");
    SLUICE_INVALID_IF(value == nullptr, node.Describe(), ": has no attribute 'value'");
    const int index = static_cast<int>(draft_.constants.size());
    draft_.constants.push_back({*value});
    if (node.control_inputs().empty() || WaitIsItsReaders(node)) {
      places_[node.id()] = {ValueRef::kConstant, index, -1};
    } else {
      const int item = AddOrdinary(node, OpKind::kConstant);
      body(frames_.of_node[node.id()]).items[item].aux = index;
    }
    return absl::OkStatus();
  }

  // Whether a constant with control inputs needs no item: only kernels read it, which can wait for
  // the control inputs themselves without many more edges. Kernels that use a reference keep the
  // constant's item, because they would run earlier, and graphs that do not order the uses of a
  // reference depend on TensorFlow's order.
  bool WaitIsItsReaders(const Node& constant) const {
    if (!constant.control_outputs().empty()) return false;
    const size_t before = constant.control_inputs().size();
    const size_t after = constant.uses().size();
    if (before * after > before + after) return false;
    return std::all_of(constant.uses().begin(), constant.uses().end(), [&](const Use& use) {
      const absl::Span<const Output> inputs = use.dst->inputs();
      const bool uses_reference = std::any_of(
          inputs.begin(), inputs.end(), [](const Output& in) { return IsRefType(in.dtype()); });
      return OpKindOf(*use.dst) == OpKind::kKernel && !use.dst->traits().runs_when_dead &&
             !uses_reference;
    });
  }

  absl::Status AddFetch(const Node& node) {
    const int frame = frames_.of_node[node.id()];
    SLUICE_INVALID_IF(frame != 0, "'", node.input(0).name(),
                      "' cannot be fetched: it is inside while loop '", body(frame).frame_name,
                      "'");
    const int item = AddOrdinary(node, OpKind::kFetch);
    body(0).items[item].aux = IndexOf(node);
    draft_.num_fetches = std::max(draft_.num_fetches, IndexOf(node) + 1);
    return absl::OkStatus();
  }

  // The item of the parent that stands for simple loop `frame`.
  int LoopItem(int frame, const Node& node) {
    int& item = loop_items_[frame];
    if (item < 0) {
      item = AddItem(body(frame).parent, node, OpKind::kLoop);
      DraftItem& loop = body(body(frame).parent).items[item];
      loop.kernel = nullptr;
      loop.output_types.clear();
      loop.aux = static_cast<int>(draft_.loops.size());
      draft_.loops.push_back(frame);
    }
    return item;
  }

  void AddEnter(const Node& node) {
    const int child = frames_.of_outputs[node.id()];
    const bool constant = IsConstantEnter(node);
    const int invariant = constant ? body(child).num_invariants++ : -1;
    ++body(child).num_enters;
    if (IsSimple(child)) {
      LoopItem(child, node);
      if (constant) places_[node.id()] = {ValueRef::kInvariant, invariant, -1};
      return;
    }
    const int item = AddOrdinary(node, OpKind::kEnter);
    const int arrival = AddItem(child, node, OpKind::kArrival);
    body(child).items[arrival].aux = invariant;
    if (constant) body(child).invariant_items.push_back(arrival);
    body(frames_.of_node[node.id()]).items[item].aux = arrival;
    places_[node.id()] = {constant ? ValueRef::kInvariant : ValueRef::kSlot,
                          constant ? invariant : 0, arrival};
  }

  void AddExit(const Node& node) {
    const int frame = frames_.of_node[node.id()];
    const int parent = body(frame).parent;
    if (IsSimple(frame)) {
      const int item = AddOrdinary(node, OpKind::kLeave);
      DraftItem& loop = body(parent).items[LoopItem(frame, node)];
      const int which = static_cast<int>(loop.output_types.size());
      body(frame).items[item].aux = which;
      loop.output_types.push_back(node.output_type(0));
      places_[node.id()] = {ValueRef::kSlot, which, LoopItem(frame, node)};
      return;
    }
    const int item = AddOrdinary(node, OpKind::kExit);
    const int arrival = AddItem(parent, node, OpKind::kArrival);
    body(frame).items[item].aux = static_cast<int>(body(frame).exits.size());
    body(frame).exits.push_back(arrival);
    places_[node.id()] = {ValueRef::kSlot, 0, arrival};
  }

  void AddNextIteration(const Node& node) {
    const int frame = frames_.of_node[node.id()];
    if (frame == 0) {  // outside loops TensorFlow passes the value on
      AddOrdinary(node, OpKind::kPass);
      return;
    }
    if (IsSimple(frame)) {
      AddOrdinary(node, OpKind::kCarry);  // ConnectVariable sets `aux`
      return;
    }
    const int item = AddOrdinary(node, OpKind::kNextIteration);
    const int arrival = AddItem(frame, node, OpKind::kArrival);
    body(frame).items[item].aux = arrival;
    places_[node.id()] = {ValueRef::kSlot, 0, arrival};
  }

  void AddMerge(const Node& node) {
    const int frame = frames_.of_node[node.id()];
    const bool variable =
        IsSimple(frame) && std::any_of(node.inputs().begin(), node.inputs().end(),
                                       [&](auto& in) { return IsEnter(*in.node); });
    const int item = AddOrdinary(node, variable ? OpKind::kLoopVariable : OpKind::kMerge);
    if (variable) body(frame).items[item].aux = body(frame).num_variables++;
  }

  DraftInput InputOf(const Node& node, int i) const {
    const Output& source = node.input(i);
    const Place& place = places_[source.node->id()];
    DraftInput input;
    input.base = place.base;
    input.index = place.base == ValueRef::kSlot ? place.index + source.index : place.index;
    input.item = place.item;
    input.is_ref = IsRefType(source.dtype());
    input.dereference = input.is_ref && !IsRefType(node.input_type(i));
    return input;
  }

  void AddControls(const Node& node, DraftItem* item) const {
    for (const Node* control : node.control_inputs()) {
      const int from = places_[control->id()].item;
      if (from >= 0) item->controls.push_back(from);
    }
    std::sort(item->controls.begin(), item->controls.end());
    item->controls.erase(std::unique(item->controls.begin(), item->controls.end()),
                         item->controls.end());
  }

  // An Enter of a simple loop becomes an input of the loop's item.
  void ConnectEnter(const Node& node) {
    const int child = frames_.of_outputs[node.id()];
    if (IsConstantEnter(node)) loop_invariants_[child].push_back(InputOf(node, 0));
    DraftItem& loop = body(body(child).parent).items[loop_items_[child]];
    AddControls(node, &loop);
  }

  void ConnectVariable(const Node& merge, int frame, int item) {
    const int variable = body(frame).items[item].aux;
    std::vector<DraftInput>& first_values = loop_variables_[frame];
    if (static_cast<int>(first_values.size()) <= variable) first_values.resize(variable + 1);
    for (const Output& in : merge.inputs()) {
      if (IsEnter(*in.node)) {
        first_values[variable] = InputOf(*in.node, 0);
      } else {
        body(frame).items[items_[in.node->id()]].aux = variable;
      }
    }
  }

  const Frames& frames_;
  const std::vector<std::shared_ptr<Kernel>>& kernels_;
  Draft draft_;
  std::vector<Place> places_;    // by node id
  std::vector<int> items_;       // by node id: the item that runs the node
  std::vector<int> loop_items_;  // by frame
  std::vector<std::vector<DraftInput>> loop_invariants_, loop_variables_;  // by frame
};

// Whether readers of the item may get dead values from it.
bool PassesDeadness(const DraftItem& item) {
  switch (item.kind) {
    case OpKind::kSwitch:
    case OpKind::kArrival:
    case OpKind::kLoop:
    case OpKind::kLoopVariable:
      return true;
    case OpKind::kControlTrigger:
      return false;
    default:
      return item.may_be_dead || item.node->traits().runs_when_dead;
  }
}

void MarkDeadness(DraftBody& body) {
  for (int i : body.order) {
    DraftItem& item = body.items[i];
    for (const DraftInput& in : item.inputs) {
      if (in.item >= 0 && PassesDeadness(body.items[in.item])) item.may_be_dead = true;
      if (in.base == ValueRef::kInvariant) item.may_be_dead = true;
    }
    for (int c : item.controls) {
      if (PassesDeadness(body.items[c])) item.may_be_dead = true;
    }
  }
}

}  // namespace

absl::StatusOr<Draft> MakeDraft(const Graph& graph,
                                const std::vector<std::shared_ptr<Kernel>>& kernels,
                                bool dynamic_loops) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(graph));
  SLUICE_ASSIGN_OR_RETURN(Frames frames, AssignFrames(graph, order));
  std::vector<bool> simple(frames.frames.size(), false);
  if (!dynamic_loops) simple = FindSimpleLoops(graph, frames, kernels);
  Drafter drafter(graph, frames, kernels, std::move(simple));
  for (const Node* node : order) SLUICE_RETURN_IF_ERROR(drafter.AddNode(*node));
  for (const Node* node : order) drafter.Connect(*node);
  return drafter.Take();
}

bool OrderItems(DraftBody& body) {
  body.order = ExecutionOrder(body);
  const int64_t runs = std::count_if(body.items.begin(), body.items.end(),
                                     [](const DraftItem& i) { return !i.is_fused_away; });
  if (static_cast<int64_t>(body.order.size()) != runs) return false;
  MarkDeadness(body);
  return true;
}

}  // namespace sluice
