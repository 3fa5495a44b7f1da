#include "ops/state/constraint.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace sluice {
namespace {

using Table = std::map<std::string, Constraint>;

// Finds the table of a graph; does not keep it alive.
struct Tables {
  std::mutex mutex;
  std::map<const Graph*, std::weak_ptr<Table>> of;  // guarded by mutex

  static Tables& Global() {
    static Tables* tables = new Tables;
    return *tables;
  }
  std::shared_ptr<Table> Find(const Graph& graph) {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = of.find(&graph);
    return it == of.end() ? nullptr : it->second.lock();
  }
  std::shared_ptr<Table> Make(Graph& graph) {
    auto table = std::make_shared<Table>();
    graph.Own(table);
    std::lock_guard<std::mutex> lock(mutex);
    std::erase_if(of, [](const auto& entry) { return entry.second.expired(); });
    of[&graph] = table;
    return table;
  }
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
