#include "executor/plan/op_kind.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "executor/plan/no_kernel.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

OpKind OpKindOfOp(std::string_view op) {
  static const auto* kinds = new std::unordered_map<std::string_view, OpKind>{
      {"Const", OpKind::kConstant},
      {"_Arg", OpKind::kFeed},
      {"_Retval", OpKind::kFetch},
      {"Identity", OpKind::kPass},
      {"StopGradient", OpKind::kPass},
      {"PreventGradient", OpKind::kPass},
      {"PlaceholderWithDefault", OpKind::kPass},
      {"RefIdentity", OpKind::kPass},
      {"LoopCond", OpKind::kPass},
      {"NoOp", OpKind::kNoOp},
      {"ControlTrigger", OpKind::kControlTrigger},
      {"Switch", OpKind::kSwitch},
      {"RefSwitch", OpKind::kSwitch},
      {"_SwitchN", OpKind::kSwitch},
      {"Merge", OpKind::kMerge},
      {"RefMerge", OpKind::kMerge},
      {"Enter", OpKind::kEnter},
      {"RefEnter", OpKind::kEnter},
      {"Exit", OpKind::kExit},
      {"RefExit", OpKind::kExit},
      {"NextIteration", OpKind::kNextIteration},
      {"RefNextIteration", OpKind::kNextIteration},
  };
  auto it = kinds->find(op);
  return it == kinds->end() ? OpKind::kKernel : it->second;
}

}  // namespace

OpKind OpKindOf(const Node& node) { return OpKindOfOp(node.op()); }

bool RunsWithoutKernel(std::string_view op) { return OpKindOfOp(op) != OpKind::kKernel; }

std::vector<OpKind> OpKindsOf(const Graph& graph) {
  std::vector<OpKind> kinds(graph.num_node_ids(), OpKind::kNoOp);
  for (int id = 0; id < graph.num_node_ids(); ++id) {
    if (const Node* node = graph.node(id)) kinds[id] = OpKindOf(*node);
  }
  return kinds;
}

bool RunsWhenDead(const Node& node) {
  const std::string& op = node.op();
  return op == "_Send" || op == "_Recv" || op == "_HostSend" || op == "_HostRecv";
}

bool ReadsVariable(const Node& node) {
  if (node.op() == "ReadVariableOp") return true;
  return node.op() == "Identity" && node.input(0) && IsRefType(node.input(0).dtype());
}

bool SharesInput(const Node& node) {
  static const auto* ops = new std::unordered_set<std::string_view>{
      "Reshape", "Squeeze", "ExpandDims", "Bitcast",      "IdentityN",
      "Split",   "Slice",   "Unpack",     "StridedSlice", "PlaceholderWithDefault"};
  return ops->contains(node.op());
}

bool IsPlaceholder(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2";
}

std::string_view FrameNameOf(const Node& enter) {
  const std::string* name = enter.FindAttr<std::string>("frame_name");
  return name == nullptr ? std::string_view() : std::string_view(*name);
}

bool IsEnter(const Node& node) { return OpKindOf(node) == OpKind::kEnter; }

bool IsConstantEnter(const Node& enter) { return enter.AttrOr<bool>("is_constant", false); }

int ParallelIterationsOf(const Node& enter) {
  const int64_t n = enter.AttrOr<int64_t>("parallel_iterations", 10);
  return static_cast<int>(std::clamp<int64_t>(n, 1, 1 << 20));
}

}  // namespace sluice
