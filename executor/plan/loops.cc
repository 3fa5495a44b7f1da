#include "executor/plan/loops.h"

#include <algorithm>

namespace sluice {
namespace {

bool Is(const std::vector<OpKind>& kinds, const Node* node, OpKind kind) {
  return kinds[node->id()] == kind;
}

// Merge(Enter, NextIteration), in this order or the other.
bool IsLoopVariable(const Node& merge, const std::vector<OpKind>& kinds) {
  if (merge.num_inputs() != 2 || !merge.control_inputs().empty()) return false;
  const Node* a = merge.input(0).node;
  const Node* b = merge.input(1).node;
  if (!Is(kinds, a, OpKind::kEnter)) std::swap(a, b);
  return Is(kinds, a, OpKind::kEnter) && !IsConstantEnter(*a) &&
         Is(kinds, b, OpKind::kNextIteration);
}

bool TakesFromOutsideIteration(const Node& merge, const std::vector<OpKind>& kinds) {
  return std::any_of(merge.inputs().begin(), merge.inputs().end(), [&](const Output& in) {
    return Is(kinds, in.node, OpKind::kEnter) || Is(kinds, in.node, OpKind::kNextIteration);
  });
}

bool OnlyFeedsMerges(const Node& node, const std::vector<OpKind>& kinds) {
  return node.control_outputs().empty() &&
         std::all_of(node.uses().begin(), node.uses().end(),
                     [&](const Use& u) { return Is(kinds, u.dst, OpKind::kMerge); });
}

bool SameControls(const Node& a, const Node& b) {
  std::vector<Node*> x(a.control_inputs().begin(), a.control_inputs().end());
  std::vector<Node*> y(b.control_inputs().begin(), b.control_inputs().end());
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y;
}

// Whether the frame that the node runs in can be a simple loop.
bool FitsSimpleLoop(const Node& node, const std::vector<OpKind>& kinds, Kernel* kernel) {
  if (kernel != nullptr && kernel->AsAsync() != nullptr) return false;
  switch (kinds[node.id()]) {
    case OpKind::kMerge:
      return IsLoopVariable(node, kinds) || !TakesFromOutsideIteration(node, kinds);
    case OpKind::kNextIteration:
      return OnlyFeedsMerges(node, kinds) && node.uses().size() == 1;
    case OpKind::kFetch:
      return false;
    default:
      return !RunsWhenDead(node);
  }
}

}  // namespace

std::vector<bool> FindSimpleLoops(const Graph& graph, const Frames& frames,
                                  const std::vector<OpKind>& kinds,
                                  const std::vector<std::shared_ptr<Kernel>>& kernels) {
  std::vector<bool> simple(frames.frames.size(), true);
  std::vector<const Node*> first_enter(frames.frames.size(), nullptr);
  for (const Node* node : graph.nodes()) {
    const int frame = frames.of_node[node->id()];
    if (!FitsSimpleLoop(*node, kinds, kernels[node->id()].get())) simple[frame] = false;
    if (!Is(kinds, node, OpKind::kEnter)) continue;
    const int child = frames.of_outputs[node->id()];
    if (!IsConstantEnter(*node) && !OnlyFeedsMerges(*node, kinds)) simple[child] = false;
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
