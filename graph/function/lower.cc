#include "graph/function/lower.h"

#include <algorithm>
#include <vector>

#include "graph/build/control_flow_context.h"
#include "graph/build/core_ops.h"
#include "graph/build/scopes.h"
#include "graph/function/expand.h"
#include "graph/ir/control_flow.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool LeadsIntoBranchOrLoop(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (IsSwitch(*node) || IsEnter(*node)) return true;
  }
  return false;
}

// Replaces one call of the graph itself, and redirects its users.
class CallSite {
 public:
  CallSite(Graph& graph, Node* node, bool keeps_name)
      : graph_(graph), node_(node), keeps_name_(keeps_name) {}

  absl::Status Lower(Expander& expander, bool may_be_dead) {
    const std::string name = node_->name();
    const std::string op = node_->op();
    const AttrMap attrs = node_->attrs();
    const OutputList inputs(node_->inputs().begin(), node_->inputs().end());
    const std::string device = node_->device();
    const std::vector<Node*> controls(node_->control_inputs().begin(),
                                      node_->control_inputs().end());
    InContext in(graph_, node_->context());
    expander.set_entry(MakeEntry(may_be_dead));
    Expander::Call call{op, name, &attrs, inputs, device};
    SLUICE_ASSIGN_OR_RETURN(Expansion made, expander.Expand(call));
    SLUICE_INVALID_IF(made.outputs.size() != static_cast<size_t>(node_->num_outputs()),
                      node_->Describe(), ": expected ", node_->num_outputs(),
                      " results of its function, got ", made.outputs.size());
    if (made.controls.empty()) {
      for (const Output& out : made.outputs) made.controls.push_back(out.node);
    }
    if (made.controls.empty()) made.controls = controls;
    return Replace(made);
  }

 private:
  // Makes the node for which nodes without inputs in the body wait. It waits for the call's
  // controls, and is dead if the call would be dead. Null if there is nothing to wait for, or if
  // the call is in a context, which does the same.
  Node* MakeEntry(bool may_be_dead) {
    const auto controls = node_->control_inputs();
    if (node_->context() != nullptr || (controls.empty() && !may_be_dead)) return nullptr;
    ControlDependencies after(graph_, std::vector<Operation>(controls.begin(), controls.end()));
    NameScope scope(graph_, node_->name() + "/");
    if (may_be_dead && node_->num_inputs() > 0) {
      return core::IdentityOrRef(node_->input(0), "entry").node;
    }
    return controls.empty() ? nullptr : core::NoOp(graph_, "entry");
  }

  absl::Status Replace(const Expansion& made) {
    const std::vector<Use> uses(node_->uses().begin(), node_->uses().end());
    const std::vector<Node*> waiting(node_->control_outputs().begin(),
                                     node_->control_outputs().end());
    if (keeps_name_) return ReplaceByNamesake(made, uses, waiting);
    SLUICE_RETURN_IF_ERROR(Redirect(uses, made.outputs));
    for (Node* to : waiting) {
      graph_.RemoveControlEdge(node_, to);
      for (Node* from : made.controls) graph_.AddControlEdge(from, to);
    }
    graph_.Remove(node_);
    return absl::OkStatus();
  }

  // A new node takes over the name of the call.
  absl::Status ReplaceByNamesake(const Expansion& made, const std::vector<Use>& uses,
                                 const std::vector<Node*>& waiting) {
    NodeSpec spec = core::IdentityNSpec(node_->name(), made.outputs);
    spec.device = node_->device();
    spec.control_inputs = made.controls;
    ControlFlowContext* context = node_->context();
    for (Node* to : waiting) graph_.RemoveControlEdge(node_, to);
    SLUICE_RETURN_IF_ERROR(Redirect(uses, made.outputs));
    graph_.Remove(node_);
    SLUICE_ASSIGN_OR_RETURN(Node * namesake, graph_.Add(std::move(spec)));
    namesake->set_context(context);
    for (size_t i = 0; i < made.outputs.size(); ++i) {
      namesake->set_output_shape(static_cast<int>(i), made.outputs[i].shape());
    }
    for (Node* to : waiting) graph_.AddControlEdge(namesake, to);
    return absl::OkStatus();
  }

  absl::Status Redirect(const std::vector<Use>& uses, const OutputList& outputs) {
    for (const Use& use : uses) {
      SLUICE_RETURN_IF_ERROR(
          graph_.UpdateInput(use.dst, use.dst_input, outputs[static_cast<size_t>(use.src_output)]));
    }
    return absl::OkStatus();
  }

  Graph& graph_;
  Node* node_;
  const bool keeps_name_;
};

}  // namespace

bool IsFunctional(const Node& node) { return Expander::Knows(node.op()); }

bool TakesFunctions(const Node& node) {
  const auto& attrs = node.def().attrs;
  return std::any_of(attrs.begin(), attrs.end(),
                     [](const AttrDef& attr) { return attr.kind == AttrKind::kFunction; });
}

absl::StatusOr<int> LowerFunctions(Graph& graph, std::string_view library,
                                   const LowerOptions& options) {
  const auto calls_of = [&graph] {
    std::vector<Node*> calls;
    for (Node* node : graph.nodes()) {
      if (IsFunctional(*node)) calls.push_back(node);
    }
    return calls;
  };
  std::vector<Node*> calls = calls_of();
  if (calls.empty()) return 0;
  SLUICE_ASSIGN_OR_RETURN(const FunctionLibrary functions, FunctionLibrary::Parse(library));
  // The user's open controls and contexts do not apply to the new nodes.
  ControlDependencies none = ControlDependencies::None(graph);
  int count = 0;
  Expander expander(graph, functions, options);
  // Each round expands calls that the round before has added: the gradient of a function may
  // contain calls of functions that declare their own gradients.
  for (int round = 0; !calls.empty(); ++round) {
    if (round > options.max_depth) {
      return absl::UnimplementedError(StrCat(calls[0]->Describe(), ": gradients of functions nest ",
                                             "more than ", options.max_depth, " deep"));
    }
    const bool may_be_dead = LeadsIntoBranchOrLoop(graph);
    for (Node* node : calls) {
      const bool keeps_name = options.keep_all_names || options.keep_names.contains(node->name());
      SLUICE_RETURN_IF_ERROR(CallSite(graph, node, keeps_name).Lower(expander, may_be_dead));
    }
    count += static_cast<int>(calls.size());
    calls = calls_of();
  }
  return count;
}

}  // namespace sluice
