#include "graph/build/control_flow_context.h"

#include "graph/build/while.h"
#include "graph/ir/control_flow.h"
#include "graph/ir/scopes.h"

namespace sluice {

WhileContext* ControlFlowContext::loop() {
  for (ControlFlowContext* c = this; c != nullptr; c = c->outer()) {
    if (c->kind() == Kind::kWhile) return static_cast<WhileContext*>(c);
  }
  return nullptr;
}

bool ControlFlowContext::Contains(const Output& value) const {
  for (const ControlFlowContext* c = ContextOfOutputs(*value.node); c != nullptr; c = c->outer()) {
    if (c == this) return true;
  }
  return false;
}

bool ControlFlowContext::IsCall(std::string_view op) {
  return op == "PartitionedCall" || op == "StatefulPartitionedCall" || op == "SymbolicGradient";
}

ControlFlowContext* ContextOfOutputs(const Node& node) {
  ControlFlowContext* context = node.context();
  const bool leaves = context != nullptr && IsExit(node);
  return leaves ? context->outer() : context;
}

InContext::InContext(Graph& graph, ControlFlowContext* context)
    : graph_(graph), previous_(graph.scopes().context) {
  graph.scopes().context = context;
}
InContext::~InContext() { graph_.scopes().context = previous_; }

}  // namespace sluice
