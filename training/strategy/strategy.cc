#include "training/strategy/strategy.h"

#include "graph/build/scopes.h"
#include "graph/status.h"

namespace sluice {
namespace {

StrategyContext& Mutable() {
  thread_local StrategyContext context;
  return context;
}

}  // namespace

absl::StatusOr<std::vector<Operation>> Strategy::Update(
    const Variable& variable,
    const std::function<absl::StatusOr<Operation>(const Variable&, int)>& update) {
  std::vector<Operation> updates;
  const std::vector<Variable> components = Components(variable);
  for (size_t i = 0; i < components.size(); ++i) {
    Graph& graph = components[i].graph();
    DeviceScope beside(graph, components[i].device());
    NameScope scope(graph, StrCat("update_", i));
    SLUICE_ASSIGN_OR_RETURN(const Operation op, update(components[i], static_cast<int>(i)));
    updates.push_back(op);
  }
  return updates;
}

const StrategyContext& CurrentStrategy() { return Mutable(); }
bool HasStrategy() { return Mutable().strategy != nullptr; }
bool InCrossReplicaContext() {
  return Mutable().strategy != nullptr && Mutable().replica == nullptr;
}

StrategyScope::StrategyScope(const StrategyContext& context) : previous_(Mutable()) {
  Mutable() = context;
}
StrategyScope::~StrategyScope() { Mutable() = previous_; }

}  // namespace sluice
