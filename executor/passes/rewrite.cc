#include "executor/passes/rewrite.h"

#include <algorithm>
#include <set>
#include <utility>

#include "graph/build/core_ops.h"
#include "graph/ir/constant.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/purity.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool SamePlace(const Node& node, const Node& other) {
  if (node.device() != other.device()) return false;
  if (node.assigned_device() != other.assigned_device()) return false;
  const auto* companions = node.FindAttr<std::vector<std::string>>("_class");
  const auto* others = other.FindAttr<std::vector<std::string>>("_class");
  return companions == nullptr || (others != nullptr && *companions == *others);
}

// The plan finds loops and branches by these nodes. An output of a Switch may be dead although the
// Switch is not.
bool IsControlFlow(const Node& node) {
  return IsSwitch(node) || IsMerge(node) || IsEnter(node) || IsExit(node) || IsNextIteration(node);
}

// Whether the result lies in the memory of the input.
bool PassesOn(const Node& node) {
  const OpTraits& traits = node.traits();
  switch (traits.output_memory) {
    case OutputMemory::kView:
      return true;
    case OutputMemory::kMayForward:
      return traits.is_identity != nullptr && traits.is_identity(node);
    case OutputMemory::kOwn:
      return node.role() == OpRole::kPass;
  }
  return false;
}

// Whether the result may lie in the memory of an input.
bool MayPassOn(const Node& node) {
  return RunsWithoutKernel(node.role()) || node.traits().output_memory != OutputMemory::kOwn;
}

// By node id: whether a result may lie in the memory of a result of `sources`.
std::vector<bool> PassedOnFrom(const Graph& graph, std::vector<Node*> sources) {
  std::vector<bool> marks(graph.num_node_ids(), false);
  for (const Node* node : sources) marks[node->id()] = true;
  while (!sources.empty()) {
    const Node* node = sources.back();
    sources.pop_back();
    for (const Use& use : node->uses()) {
      if (marks[use.dst->id()] || !MayPassOn(*use.dst)) continue;
      marks[use.dst->id()] = true;
      sources.push_back(use.dst);
    }
  }
  return marks;
}

// Nodes that were added since have their own memory, except the Identities of IdentityOf.
bool Knows(const std::vector<bool>& marks, const Node& node) {
  return node.id() < static_cast<int>(marks.size()) && marks[node.id()];
}

// The other inputs of the passed nodes, which do not lead to x. They may be dead or late although x
// is not.
std::vector<Node*> Gates(const Bypass& bypass) {
  std::vector<Node*> gates;
  for (size_t i = 0; i < bypass.passed.size(); ++i) {
    const Node* next = i + 1 < bypass.passed.size() ? bypass.passed[i + 1] : bypass.x.node;
    for (const Output& in : bypass.passed[i]->inputs()) {
      if (in.node != next && !IsAliveWithItsReaders(*in.node)) gates.push_back(in.node);
    }
  }
  return gates;
}

}  // namespace

bool IsAliveWithItsReaders(const Node& node) {
  return IsEnter(node) || (IsConstant(node) && node.control_inputs().empty());
}

absl::StatusOr<Node*> AddBeside(Graph& graph, const Node& like, NodeSpec spec,
                                const PartialShape& shape) {
  spec.device = like.device();
  spec.at = like.at();
  SLUICE_ASSIGN_OR_RETURN(Node * node, graph.Add(std::move(spec)));
  node->set_assigned_device(like.assigned_device());
  node->set_output_shape(0, shape);
  return node;
}

absl::StatusOr<Node*> ConstantOnDeviceOf(Graph& graph, const Node& like, std::string name,
                                         const Tensor& value) {
  NodeSpec spec = core::ConstSpec(graph.UniqueName(std::move(name)), value);
  spec.device = like.device();
  SLUICE_ASSIGN_OR_RETURN(Node * constant, graph.Add(std::move(spec)));
  constant->set_assigned_device(like.assigned_device());
  constant->set_output_shape(0, value.shape());
  return constant;
}

absl::StatusOr<Node*> ConstantBeside(Graph& graph, const Node& like, std::string name,
                                     const Tensor& value) {
  SLUICE_ASSIGN_OR_RETURN(Node* const constant,
                          ConstantOnDeviceOf(graph, like, std::move(name), value));
  for (Node* before : like.control_inputs()) graph.AddControlEdge(before, constant);
  return constant;
}

absl::Status TakePlace(Graph& graph, Node* node, Output with) {
  const std::vector<Use> uses(node->uses().begin(), node->uses().end());
  for (const Use& use : uses) {
    SLUICE_RETURN_IF_ERROR(
        graph.UpdateInput(use.dst, use.dst_input, Output(with.node, with.index + use.src_output)));
  }
  const std::vector<Node*> waiting(node->control_outputs().begin(), node->control_outputs().end());
  for (Node* to : waiting) graph.AddControlEdge(with.node, to);
  graph.Remove(node);
  return absl::OkStatus();
}

Rewriter::Rewriter(Graph& graph, const std::set<std::string>& keep) : graph_(graph), keep_(keep) {
  std::vector<Node*> readers, feeds;
  for (Node* node : graph.nodes()) {
    for (std::string& name : node->colocation()) companions_.insert(std::move(name));
    const bool reads = std::any_of(node->inputs().begin(), node->inputs().end(),
                                   [](Output in) { return in && IsRefType(in.dtype()); });
    if (reads && MayPassOn(*node)) readers.push_back(node);
    // In a partial run, the feeds are outputs of nodes that receive.
    if (node->role() == OpRole::kFeed || node->role() == OpRole::kReceive) feeds.push_back(node);
  }
  in_variable_ = PassedOnFrom(graph, std::move(readers));
  in_feed_ = PassedOnFrom(graph, std::move(feeds));
}

bool Rewriter::MayChange(const Node& node) const {
  if (node.num_outputs() != 1 || keep_.contains(node.name()) || !IsPure(node)) return false;
  // Nodes that are colocated with it would lose its device.
  return node.device().empty() || !companions_.contains(node.name());
}

bool Rewriter::MayLieInVariable(const Node& node) const { return Knows(in_variable_, node); }

bool Rewriter::CanBePassed(const Bypass& bypass, const Node& reader, bool copies) const {
  const Node& source = *bypass.x.node;
  if (!SamePlace(reader, source) || Knows(in_variable_, source)) return false;
  if (Knows(in_feed_, source) && !copies &&
      !std::all_of(bypass.passed.begin(), bypass.passed.end(),
                   [](const Node* node) { return PassesOn(*node); })) {
    return false;
  }
  return std::all_of(bypass.passed.begin(), bypass.passed.end(), [&](const Node* node) {
    const bool waits = node != &reader && !node->control_inputs().empty();
    return IsPure(*node) && !waits && SamePlace(*node, source);
  });
}

absl::StatusOr<Output> Rewriter::IdentityOf(const Bypass& bypass, std::vector<Node*> controls) {
  const Node& node = *bypass.passed[0];
  NodeSpec spec =
      core::IdentitySpec(graph_.UniqueName(StrCat(node.name(), "/simplified")), bypass.x);
  spec.control_inputs = std::move(controls);
  spec.device = node.device();
  spec.at = node.at();
  SLUICE_ASSIGN_OR_RETURN(Node * identity, graph_.Add(std::move(spec)));
  identity->set_assigned_device(node.assigned_device());
  identity->set_output_shape(0, node.output_shape(0));
  for (std::vector<bool>* marks : {&in_variable_, &in_feed_}) {
    marks->resize(graph_.num_node_ids(), false);
    (*marks)[identity->id()] = Knows(*marks, *bypass.x.node);
  }
  return Output(identity);
}

// unused_nodes cannot do this later for nodes that read an output of a Switch.
void Rewriter::RemoveUnused(absl::Span<Node* const> nodes) {
  for (Node* node : nodes) {
    if (!node->uses().empty() || !node->control_outputs().empty()) return;
    if (keep_.contains(node->name())) return;
    graph_.Remove(node);
  }
}

absl::StatusOr<bool> Rewriter::Replace(const Bypass& bypass) {
  Node* node = bypass.passed[0];
  if (!MayChange(*node) || !CanBePassed(bypass, *node, /*copies=*/false)) return false;
  std::vector<Node*> controls = Gates(bypass);
  controls.insert(controls.end(), node->control_inputs().begin(), node->control_inputs().end());
  Output with = bypass.x;
  if (!controls.empty() || IsControlFlow(*with.node)) {
    // An Identity would cost as much as the node.
    if (PassesOn(*node) && bypass.passed.size() == 1) return false;
    SLUICE_ASSIGN_OR_RETURN(with, IdentityOf(bypass, std::move(controls)));
  }
  SLUICE_RETURN_IF_ERROR(TakePlace(graph_, node, with));
  RemoveUnused(absl::MakeConstSpan(bypass.passed).subspan(1));
  return true;
}

absl::StatusOr<bool> Rewriter::Shorten(Node* reader, int i, const Bypass& bypass) {
  if (!MayChange(*reader) || !CanBePassed(bypass, *reader, !MayPassOn(*reader))) return false;
  for (Node* gate : Gates(bypass)) graph_.AddControlEdge(gate, reader);
  SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(reader, i, bypass.x));
  RemoveUnused(bypass.passed);
  return true;
}

}  // namespace sluice
