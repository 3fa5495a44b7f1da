// Tables adds the embedding tables of a model to a graph. A table maps int64 keys to rows of
// floats.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the tables.
// Errors: stay in the graph; the results are then invalid.
#ifndef SLUICE_DEMOS_RECOMMENDERS_TABLES_H_
#define SLUICE_DEMOS_RECOMMENDERS_TABLES_H_

#include <cstdint>
#include <map>
#include <string>

#include "graph/ir/graph.h"
#include "ops/embedding/embedding.h"

namespace sluice::recommenders {

// kStatic: a variable. It has four times as many rows as there are different keys, but at most
// `rows_max`. Key k has row k mod rows, so some keys share a row.
// kDynamic: an EmbeddingTable, where each key has its own row.
enum class TableKind { kStatic, kDynamic };
struct TableOptions {
  TableKind kind = TableKind::kStatic;
  int64_t rows_max = 100'000;
};

class Tables {
 public:
  Tables(Graph& graph, const TableOptions& options) : graph_(graph), options_(options) {}

  Graph& graph() const { return graph_; }
  // Looks up int64 `keys` in the table `name`, and returns their rows: [dimensions of keys...,
  // size]. `different` is the expected number of different keys. Lookups with one name share the
  // table.
  Output Lookup(const std::string& name, Output keys, int64_t different, int64_t size);
  // Looks up the words of a click log, `keys` [batch, kFields], and returns their rows [batch,
  // kFields, size]. Each field has its own table.
  Output LookupFields(const std::string& name, Output keys, int64_t size);

 private:
  int64_t RowsOf(int64_t different) const;
  const EmbeddingSource& Table(const std::string& name, int64_t different, int64_t size);

  Graph& graph_;
  const TableOptions options_;
  std::map<std::string, EmbeddingSource> tables_;
};

}  // namespace sluice::recommenders

#endif  // SLUICE_DEMOS_RECOMMENDERS_TABLES_H_
