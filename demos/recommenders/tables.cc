#include "demos/recommenders/tables.h"

#include <algorithm>

#include "demos/recommenders/log.h"
#include "graph/status.h"
#include "sluice.h"

namespace sluice::recommenders {

int64_t Tables::RowsOf(int64_t different) const { return std::min(rows_max_, 4 * different); }

const Variable& Tables::Table(const std::string& name, int64_t rows, int64_t size) {
  Variable& table = tables_[name];
  if (!table) table = Variable(graph_, name, {rows, size}, RandomUniformInit(-0.05, 0.05));
  return table;
}

Output Tables::Lookup(const std::string& name, Output keys, int64_t different, int64_t size) {
  const int64_t rows = RowsOf(different);
  return EmbeddingLookup(Table(name, rows, size), FloorMod(keys, Constant(graph_, rows)));
}

Output Tables::LookupFields(const std::string& name, Output keys, int64_t size) {
  std::vector<int64_t> rows;
  for (const int64_t different : kFieldKeys) rows.push_back(RowsOf(different));
  const Output ids = FloorMod(keys, Constant(graph_, Tensor::Vector<int64_t>(rows)));
  OutputList found;
  for (const Output& field : Unstack(ids, 1)) {
    const size_t f = found.size();
    found.push_back(EmbeddingLookup(Table(StrCat(name, "_", f), rows[f], size), field));
  }
  return Stack(found, 1);
}

}  // namespace sluice::recommenders
