#include "demos/recommenders/tables.h"

#include <algorithm>

#include "demos/recommenders/log.h"
#include "graph/status.h"
#include "sluice.h"

namespace sluice::recommenders {

int64_t Tables::RowsOf(int64_t different) const {
  return std::min(options_.rows_max, 4 * different);
}

const EmbeddingSource& Tables::Table(const std::string& name, int64_t different, int64_t size) {
  const auto found = tables_.find(name);
  if (found != tables_.end()) return found->second;
  if (options_.kind == TableKind::kDynamic) {
    return tables_.emplace(name, EmbeddingTable(graph_, name, size)).first->second;
  }
  const Variable rows(graph_, name, {RowsOf(different), size}, RandomUniformInit(-0.05, 0.05));
  return tables_.emplace(name, rows).first->second;
}

Output Tables::Lookup(const std::string& name, Output keys, int64_t different, int64_t size) {
  const bool is_static = options_.kind == TableKind::kStatic;
  const Output ids = is_static ? FloorMod(keys, Constant(graph_, RowsOf(different))) : keys;
  return EmbeddingLookup(Table(name, different, size), ids);
}

Output Tables::LookupFields(const std::string& name, Output keys, int64_t size) {
  Output ids = keys;
  if (options_.kind == TableKind::kStatic) {
    std::vector<int64_t> rows;
    for (const int64_t different : kFieldKeys) rows.push_back(RowsOf(different));
    ids = FloorMod(keys, Constant(graph_, Tensor::Vector<int64_t>(rows)));
  }
  std::vector<FieldLookup> fields;
  for (const Output& field : Unstack(ids, 1)) {
    const size_t f = fields.size();
    fields.push_back({.table = Table(StrCat(name, "_", f), kFieldKeys[f], size), .ids = field});
  }
  return Reshape(LookupAll(fields), {-1, kFields, size});
}

}  // namespace sluice::recommenders
