// Defines functions of variables that build initial values from other variables. This library does
// not include initialized_value.h, so that a change of that header does not recompile gradients.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "graph/build/cond.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/strings.h"
#include "ops/state/variable.h"

namespace sluice {

Output InitializedValue(const Variable& variable, At at);

namespace {

// Reads a variable inside a branch of a cond, with the nodes that TensorFlow's `read_value` adds.
Output ReadInBranch(const Variable& v, At at) {
  Graph& g = v.graph();
  if (!v.is_resource()) {
    return NodeBuilder(&g, "Identity", at).Name("read").Input(v.handle()).Finish();
  }
  Output value;
  {
    NameScope scope(g, "Read");
    value =
        NodeBuilder(&g, "ReadVariableOp", at).Input(v.handle()).Attr("dtype", v.dtype()).Finish();
  }
  return NodeBuilder(&g, "Identity", at).Input(value).Finish();
}

// Returns whether the search for variables stops at this node. As in TensorFlow, these ops stay as
// they are.
bool EndsSearch(const Node& node) {
  return node.op() == "IsVariableInitialized" || node.op() == "VarIsInitializedOp" ||
         node.op() == "ReadVariableOp" || node.op() == "If";
}

bool IsVariable(const Node& node) {
  return node.op() == "Variable" || node.op() == "VariableV2" || node.op() == "VarHandleOp";
}

// Replaces the variables that an initial value uses by their initialized values. Copies the nodes
// between them and the initial value.
class Guard {
 public:
  Guard(std::string_view name, At at) : suffix_(StrCat("_", name)), at_(at) {}

  bool HasCycle(const Node* node) {
    if (open_.contains(node)) return true;
    if (!closed_.insert(node).second) return false;
    open_.insert(node);
    const bool found = std::any_of(node->inputs().begin(), node->inputs().end(),
                                   [&](const Output& in) { return HasCycle(in.node); }) ||
                       std::any_of(node->control_inputs().begin(), node->control_inputs().end(),
                                   [&](const Node* in) { return HasCycle(in); });
    open_.erase(node);
    return found;
  }

  Output Safe(Output value) {
    auto known = safe_.find(value.node);
    if (known == safe_.end()) known = safe_.emplace(value.node, SafeNode(value.node)).first;
    return known->second == nullptr ? Output() : Output(known->second, value.index);
  }

 private:
  Node* SafeNode(Node* node) {
    if (EndsSearch(*node)) return node;
    if (IsVariable(*node)) {
      absl::StatusOr<Variable> v = Variable::Find(*node->graph(), node->name());
      return v.ok() ? InitializedValue(*v, at_).node : node;
    }
    OutputList inputs;
    for (const Output& in : node->inputs()) inputs.push_back(Safe(in));
    return std::equal(inputs.begin(), inputs.end(), node->inputs().begin()) ? node
                                                                            : Copy(*node, inputs);
  }

  // Copies the node without its colocation.
  Node* Copy(const Node& node, const OutputList& inputs) {
    NameScope root(*node.graph(), "");
    NodeBuilder builder(node.graph(), node.op() == "RefSwitch" ? "Switch" : node.op(), at_);
    builder.Name(node.name() + suffix_);
    for (size_t arg = 0; arg < node.def().inputs.size(); ++arg) {
      const auto [begin, end] = node.InputRange(static_cast<int>(arg));
      if (node.def().inputs[arg].is_list()) {
        builder.Input(OutputList(inputs.begin() + begin, inputs.begin() + end));
      } else {
        builder.Input(inputs[begin]);
      }
    }
    for (const auto& [name, value] : node.attrs()) {
      if (name != "_class") builder.Attr(name, value);
    }
    return builder.Finish();
  }

  std::string suffix_;
  At at_;
  std::set<const Node*> open_, closed_;
  std::map<Node*, Node*> safe_;
};

}  // namespace

Output InitializedValue(const Variable& variable, At at) {
  if (!variable) return Output();
  InitScope init(variable.graph());
  const OutputList value = Cond(
      variable.IsInitialized("", at), [&] { return ReadInBranch(variable, at); },
      [&] { return variable.initial_value(); }, "cond", at);
  return value.empty() ? Output() : value[0];
}

Output SafeInitialValue(Output value, std::string_view variable_name, At at) {
  if (!value) return value;
  Guard guard(variable_name, at);
  return guard.HasCycle(value.node) ? value : guard.Safe(value);
}

}  // namespace sluice
