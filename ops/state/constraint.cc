#include "ops/state/constraint.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "graph/mutex.h"

namespace sluice {
namespace {

using Table = std::map<std::string, Constraint>;

// Finds and makes tables of constraints. Each graph owns its table.
class Tables {
 public:
  static Tables& Global() {
    static Tables* tables = new Tables;
    return *tables;
  }
  std::shared_ptr<Table> Find(const Graph& graph) {
    ScopedLock lock(&mutex_);
    auto it = tables_.find(&graph);
    return it == tables_.end() ? nullptr : it->second.lock();
  }
  std::shared_ptr<Table> Make(Graph& graph) {
    auto table = std::make_shared<Table>();
    graph.Own(table);
    ScopedLock lock(&mutex_);
    std::erase_if(tables_, [](const auto& entry) { return entry.second.expired(); });
    tables_[&graph] = table;
    return table;
  }

 private:
  Mutex mutex_;
  std::map<const Graph*, std::weak_ptr<Table>> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

void Constrain(const Variable& variable, Constraint constraint) {
  if (!variable) return;
  std::shared_ptr<Table> table = Tables::Global().Find(variable.graph());
  if (table == nullptr) table = Tables::Global().Make(variable.graph());
  (*table)[variable.name()] = std::move(constraint);
}

Constraint ConstraintOf(const Variable& variable) {
  if (!variable) return nullptr;
  const std::shared_ptr<Table> table = Tables::Global().Find(variable.graph());
  if (table == nullptr) return nullptr;
  auto it = table->find(variable.name());
  return it == table->end() ? nullptr : it->second;
}

}  // namespace sluice
