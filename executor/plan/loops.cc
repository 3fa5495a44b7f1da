#include "executor/plan/loops.h"

#include <algorithm>

#include "graph/ir/control_flow.h"

namespace sluice {
namespace {

// Whether `merge` has two inputs, an Enter and a NextIteration, in either order.
bool IsLoopVariable(const Node& merge) {
  if (merge.num_inputs() != 2 || !merge.control_inputs().empty()) return false;
  const Node* a = merge.input(0).node;
  const Node* b = merge.input(1).node;
  if (!IsEnter(*a)) std::swap(a, b);
  return IsEnter(*a) && !IsConstantEnter(*a) && IsNextIteration(*b);
}

bool TakesFromOutsideIteration(const Node& merge) {
  return std::any_of(merge.inputs().begin(), merge.inputs().end(), [](const Output& in) {
    return IsEnter(*in.node) || IsNextIteration(*in.node);
  });
}

bool OnlyFeedsMerges(const Node& node) {
  return node.control_outputs().empty() &&
         std::all_of(node.uses().begin(), node.uses().end(),
                     [](const Use& u) { return IsMerge(*u.dst); });
}

bool SameControls(const Node& a, const Node& b) {
  std::vector<Node*> x(a.control_inputs().begin(), a.control_inputs().end());
  std::vector<Node*> y(b.control_inputs().begin(), b.control_inputs().end());
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y;
}

// Whether the frame that the node runs in can be a simple loop.
bool FitsSimpleLoop(const Node& node, Kernel* kernel) {
  if (kernel != nullptr && kernel->AsAsync() != nullptr) return false;
  switch (node.role()) {
    case OpRole::kMerge:
      return IsLoopVariable(node) || !TakesFromOutsideIteration(node);
    case OpRole::kNextIteration:
      return OnlyFeedsMerges(node) && node.uses().size() == 1;
    case OpRole::kFetch:
      return false;
    default:
      return !node.traits().runs_when_dead;
  }
}

}  // namespace

std::vector<bool> FindSimpleLoops(const Graph& graph, const Frames& frames,
                                  const std::vector<std::shared_ptr<Kernel>>& kernels) {
  std::vector<bool> simple(frames.frames.size(), true);
  std::vector<const Node*> first_enter(frames.frames.size(), nullptr);
  for (const Node* node : graph.nodes()) {
    const int frame = frames.of_node[node->id()];
    if (!FitsSimpleLoop(*node, kernels[node->id()].get())) simple[frame] = false;
    if (!IsEnter(*node)) continue;
    const int child = frames.of_outputs[node->id()];
    if (!IsConstantEnter(*node) && !OnlyFeedsMerges(*node)) simple[child] = false;
    const Node*& first = first_enter[child];
    if (first == nullptr) first = node;
    if (!SameControls(*first, *node)) simple[child] = false;
  }
  simple[0] = false;
  for (size_t f = frames.frames.size(); f-- > 1;) {
    if (!simple[f]) simple[frames.frames[f].parent] = false;  // children come after their parents
  }
  return simple;
}

}  // namespace sluice
