#include "graph/gradient/loop_states.h"

#include <optional>

#include "graph/build/cond.h"
#include "graph/build/core_ops.h"
#include "graph/build/scopes.h"
#include "graph/gradient/cond_gradient.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice::gradient {

LoopStates::LoopStates(Graph& graph) : graph_(graph), call_(graph.scopes().context) {}

absl::Status LoopStates::Find(std::vector<Node*>& between_list, std::set<const Node*>& between,
                              bool colocate) {
  for (size_t i = 0; i < between_list.size(); ++i) {
    Node* op = between_list[i];
    if (!IsExit(*op)) continue;
    WhileContext* forward = LoopOf(op->context());
    if (forward == nullptr) {
      return absl::FailedPreconditionError(
          StrCat("gradient of ", op->Describe(),
                 ": expected the context of its while loop, got a graph without one; a MetaGraphDef"
                 " keeps contexts in its collection 'while_context', a GraphDef does not"));
    }
    if (states_.contains(forward)) continue;
    std::optional<ColocateWith> with;
    if (colocate) with.emplace(graph_, op);
    WhileContext* around = LoopOf(forward->outer());
    auto outer = states_.find(around);
    auto state = std::make_shared<LoopState>(
        graph_, forward, outer == states_.end() ? nullptr : outer->second.get(), call_);
    SLUICE_RETURN_IF_ERROR(graph_.status());
    graph_.Own(state);  // the backward loop's context points to it
    order_.push_back(state.get());
    for (const Output& exit : state->forward_exits) {
      if (between.insert(exit.node).second) between_list.push_back(exit.node);
    }
    states_[forward] = std::move(state);
  }
  return absl::OkStatus();
}

LoopState* LoopStates::StateOf(const Node& op, bool before) const {
  WhileContext* loop = LoopOf(op.context());
  if (before && IsExit(op) && loop != nullptr) loop = LoopOf(loop->outer());
  auto it = states_.find(loop);
  return it == states_.end() ? nullptr : it->second.get();
}

ControlFlowContext* LoopStates::ContextFor(const Node& op, bool before) const {
  LoopState* state = StateOf(op, before);
  return state == nullptr ? graph_.scopes().context : state->backward();
}

OutputList LoopStates::Enters() const {
  OutputList all;
  for (const LoopState* state : order_) {
    const OutputList& enters = state->forward()->enters;
    all.insert(all.end(), enters.begin(), enters.end());
  }
  return all;
}

OutputList LoopStates::UnusedExits(const std::map<const Node*, int>& pending,
                                   const std::set<const Node*>& ys) {
  OutputList ready;
  for (LoopState* state : order_) {
    for (const Output& exit : state->forward_exits) {
      auto it = pending.find(exit.node);
      if (it != pending.end() && it->second != 0) continue;
      --state->exits_to_come;
      if (!ys.contains(exit.node)) state->unused_exits.push_back(exit);
      if (state->exits_to_come == 0) {
        ready.insert(ready.end(), state->unused_exits.begin(), state->unused_exits.end());
      }
    }
  }
  return ready;
}

Output LoopStates::ZerosForExit(Output exit) {
  WhileContext* forward = LoopOf(exit.node->context());
  auto outer = states_.find(LoopOf(forward->outer()));
  const bool is_static = exit.shape().IsFullyDefined();
  auto static_zeros = [&] {
    // Many zeros are computed when the graph runs, as tf.zeros does.
    return exit.shape().num_elements() < 1000
               ? core::Zeros(graph_, exit.dtype(), exit.shape(), "zeros")
               : core::Filled(core::ShapeOf(exit), exit.dtype(), 0);
  };
  if (outer == states_.end() || outer->first == nullptr) {
    return is_static ? static_zeros() : core::ZerosLike(exit);
  }
  LoopState& state = *outer->second;
  if (is_static) {
    InContext in(graph_, state.backward());
    return static_zeros();
  }
  Output shape;
  {
    InContext in(graph_, forward->outer());
    shape = core::Shape(exit);
  }
  const Output stack = state.Push(shape);
  InContext in(graph_, state.backward());
  return core::Filled(state.Pop(stack, shape), exit.dtype(), 0);
}

// The zeros on the branch that `cond` did not take.
Output LoopStates::SwitchedZeros(LoopState& state, const CondContext& cond, Output zeros) {
  const Output pred = state.Predicate(cond.pred());
  ColocateWith with(graph_, zeros, /*ignore_existing=*/true);
  Node* split = core::Switch(zeros, pred);
  return split == nullptr ? Output() : Output(split, 1 - cond.branch());
}

// The shape of the data of `op`, a Switch of `cond`, computed on the other branch.
Output LoopStates::ShapeOnOtherBranch(Node* op, const CondContext& cond) {
  InContext out(graph_, cond.outer());
  Node* split;
  {
    ColocateWith with(graph_, op->input(0), /*ignore_existing=*/true);
    split = core::Switch(op->input(0), cond.pred());
  }
  if (split == nullptr) return Output();
  const Output shape = core::Shape(Output(split, 1 - cond.branch()));
  if (!shape) return Output();
  split->set_context(op->context());
  shape.node->set_context(op->context());
  return shape;
}

// The caller opens the context of the backward loop if `op` is in a loop.
Output LoopStates::ZerosFor(Node* op, int i) {
  if (IsLoopSwitch(*op)) return Output();
  LoopState* state = StateOf(*op, /*before=*/false);
  if (state == nullptr) return gradient::ZerosFor(op, i);
  const Output value(op, i);
  const CondContext* cond = IsSwitch(*op) ? dynamic_cast<CondContext*>(op->context()) : nullptr;
  if (value.dtype() == DT_RESOURCE || value.dtype() == DT_VARIANT) {
    return gradient::ZerosFor(op, i);
  }
  if (value.shape().IsFullyDefined()) {
    const Output zeros = core::Zeros(graph_, value.dtype(), value.shape(), "");
    return cond == nullptr || !zeros ? zeros : SwitchedZeros(*state, *cond, zeros);
  }
  Output shape;
  if (cond != nullptr) {
    // Zeros are needed if the other branch is taken. That branch pushes the shape.
    state->Predicate(cond->pred());
    shape = ShapeOnOtherBranch(op, *cond);
    if (!shape) return Output();
  } else {
    InContext in(graph_, op->context());
    shape = core::Shape(value);
  }
  const auto branch = cond != nullptr ? LoopState::Branch::kOther : LoopState::Branch::kSame;
  const Output stack = state->Push(shape, branch);
  return core::Filled(state->Pop(stack, shape, branch), value.dtype(), 0);
}

void LoopStates::Close() {
  for (LoopState* state : order_) state->CloseSwitches();
}

}  // namespace sluice::gradient
