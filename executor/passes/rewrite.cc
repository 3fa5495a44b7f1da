#include "executor/passes/rewrite.h"

#include <algorithm>
#include <set>
#include <utility>

#include "executor/passes/purity.h"
#include "executor/plan/op_kind.h"
#include "graph/ir/constant.h"
#include "graph/status.h"

namespace sluice {
namespace {

template <typename T>
std::vector<int64_t> Widen(const Tensor& t) {
  return std::vector<int64_t>(t.flat<T>().begin(), t.flat<T>().end());
}

bool SamePlace(const Node& node, const Node& other) {
  if (node.device() != other.device()) return false;
  if (node.assigned_device() != other.assigned_device()) return false;
  const auto* companions = node.FindAttr<std::vector<std::string>>("_class");
  const auto* others = other.FindAttr<std::vector<std::string>>("_class");
  return companions == nullptr || (others != nullptr && *companions == *others);
}

// Loops and branches are found by these nodes and what lies between them; and one output of a
// Switch may be dead where the Switch is not.
bool IsControlFlow(const Node& node) {
  switch (OpKindOf(node)) {
    case OpKind::kSwitch:
    case OpKind::kMerge:
    case OpKind::kEnter:
    case OpKind::kExit:
    case OpKind::kNextIteration:
      return true;
    default:
      return false;
  }
}

// Nodes whose result lies in their input's memory.
bool PassesOn(const Node& node) {
  return OpKindOf(node) == OpKind::kPass || SharesInput(node) ||
         (node.op() == "Cast" && node.input(0).dtype() == node.output_type(0));
}

// Kernels that hand on an input where its shape or value allows it.
bool MayPassOn(const Node& node) {
  static const auto* ops = new std::set<std::string>{"AccumulateNV2",
                                                     "AddN",
                                                     "BroadcastTo",
                                                     "Cast",
                                                     "Concat",
                                                     "ConcatV2",
                                                     "ConjugateTranspose",
                                                     "EnsureShape",
                                                     "MirrorPad",
                                                     "Pack",
                                                     "Pad",
                                                     "PadV2",
                                                     "Select",
                                                     "SelectV2",
                                                     "Tile",
                                                     "Transpose"};
  return OpKindOf(node) != OpKind::kKernel || SharesInput(node) || ops->contains(node.op());
}

// By node id: whether a result may lie where that of one of `sources` does.
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

// Nodes made since, but for the Identities below, have memory of their own.
bool Knows(const std::vector<bool>& marks, const Node& node) {
  return node.id() < static_cast<int>(marks.size()) && marks[node.id()];
}

// Other inputs of the nodes passed that may be dead, or come late, where x does not.
std::vector<Node*> Gates(const Detour& detour) {
  std::vector<Node*> gates;
  for (size_t i = 0; i < detour.passed.size(); ++i) {
    const Node* next = i + 1 < detour.passed.size() ? detour.passed[i + 1] : detour.x.node;
    for (const Output& in : detour.passed[i]->inputs()) {
      if (in.node != next && !IsAliveWithItsReaders(*in.node)) gates.push_back(in.node);
    }
  }
  return gates;
}

}  // namespace

std::optional<std::vector<int64_t>> ConstantInts(Output output) {
  const Tensor* t = ConstantBehind(output);
  if (t == nullptr || t->rank() > 1) return std::nullopt;
  if (t->dtype() == DT_INT32) return Widen<int32_t>(*t);
  if (t->dtype() == DT_INT64) return Widen<int64_t>(*t);
  return std::nullopt;
}

std::optional<std::vector<int64_t>> PermutationOf(const Node& transpose) {
  const Tensor* tensor = ConstantBehind(transpose.input(1));
  std::optional<std::vector<int64_t>> order = ConstantInts(transpose.input(1));
  const int rank = transpose.input(0).shape().rank();
  if (!order || !tensor->shape().IsVector() || tensor->dim(0) != rank) return std::nullopt;
  std::vector<bool> seen(rank);
  for (int64_t d : *order) {
    if (d < 0 || d >= rank || seen[d]) return std::nullopt;
    seen[d] = true;
  }
  return order;
}

bool IsAliveWithItsReaders(const Node& node) {
  if (IsEnter(node)) return true;
  return node.op() == "Const" && node.control_inputs().empty();
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
  NodeSpec spec;
  spec.name = graph.UniqueName(std::move(name));
  spec.op = "Const";
  spec.device = like.device();
  spec.attrs = {{"dtype", value.dtype()}, {"value", value}};
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
    // A partial run's feeds come through _Recv.
    if (OpKindOf(*node) == OpKind::kFeed || node->op() == "_Recv") feeds.push_back(node);
  }
  in_variable_ = PassedOnFrom(graph, std::move(readers));
  in_feed_ = PassedOnFrom(graph, std::move(feeds));
}

bool Rewriter::MayChange(const Node& node) const {
  if (node.num_outputs() != 1 || keep_.contains(node.name()) || !IsPure(node)) return false;
  // Those that want its device would lose it.
  return node.device().empty() || !companions_.contains(node.name());
}

bool Rewriter::MayLieInVariable(const Node& node) const { return Knows(in_variable_, node); }

bool Rewriter::CanBePassed(const Detour& detour, const Node& reader, bool copies) const {
  const Node& source = *detour.x.node;
  if (!SamePlace(reader, source) || Knows(in_variable_, source)) return false;
  if (Knows(in_feed_, source) && !copies &&
      !std::all_of(detour.passed.begin(), detour.passed.end(),
                   [](const Node* node) { return PassesOn(*node); })) {
    return false;
  }
  return std::all_of(detour.passed.begin(), detour.passed.end(), [&](const Node* node) {
    const bool waits = node != &reader && !node->control_inputs().empty();
    return IsPure(*node) && !waits && SamePlace(*node, source);
  });
}

absl::StatusOr<Output> Rewriter::IdentityOf(const Detour& detour, std::vector<Node*> controls) {
  const Node& node = *detour.passed[0];
  NodeSpec spec;
  spec.name = graph_.UniqueName(StrCat(node.name(), "/simplified"));
  spec.op = "Identity";
  spec.inputs = {detour.x};
  spec.control_inputs = std::move(controls);
  spec.device = node.device();
  spec.attrs = {{"T", BaseType(detour.x.dtype())}};
  spec.at = node.at();
  SLUICE_ASSIGN_OR_RETURN(Node * identity, graph_.Add(std::move(spec)));
  identity->set_assigned_device(node.assigned_device());
  identity->set_output_shape(0, node.output_shape(0));
  for (std::vector<bool>* marks : {&in_variable_, &in_feed_}) {
    marks->resize(graph_.num_node_ids(), false);
    (*marks)[identity->id()] = Knows(*marks, *detour.x.node);
  }
  return Output(identity);
}

// A pass that comes later leaves those on an output of a Switch.
void Rewriter::RemoveUnused(absl::Span<Node* const> nodes) {
  for (Node* node : nodes) {
    if (!node->uses().empty() || !node->control_outputs().empty()) return;
    if (keep_.contains(node->name())) return;
    graph_.Remove(node);
  }
}

absl::StatusOr<bool> Rewriter::Replace(const Detour& detour) {
  Node* node = detour.passed[0];
  if (!MayChange(*node) || !CanBePassed(detour, *node, /*copies=*/false)) return false;
  std::vector<Node*> controls = Gates(detour);
  controls.insert(controls.end(), node->control_inputs().begin(), node->control_inputs().end());
  Output with = detour.x;
  if (!controls.empty() || IsControlFlow(*with.node)) {
    // An Identity in its place would cost as much.
    if (PassesOn(*node) && detour.passed.size() == 1) return false;
    SLUICE_ASSIGN_OR_RETURN(with, IdentityOf(detour, std::move(controls)));
  }
  SLUICE_RETURN_IF_ERROR(TakePlace(graph_, node, with));
  RemoveUnused(absl::MakeConstSpan(detour.passed).subspan(1));
  return true;
}

absl::StatusOr<bool> Rewriter::Shorten(Node* reader, int i, const Detour& detour) {
  if (!MayChange(*reader) || !CanBePassed(detour, *reader, !MayPassOn(*reader))) return false;
  for (Node* gate : Gates(detour)) graph_.AddControlEdge(gate, reader);
  SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(reader, i, detour.x));
  RemoveUnused(detour.passed);
  return true;
}

}  // namespace sluice
