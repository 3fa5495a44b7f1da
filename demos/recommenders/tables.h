// The embedding tables of a model. Keys are any int64 numbers.
//
// Thread safety: as the graph's; one thread builds.
// Ownership: the graph owns the variables.
// Errors: stay in the graph; the results are then invalid.
#ifndef SLUICE_DEMOS_RECOMMENDERS_TABLES_H_
#define SLUICE_DEMOS_RECOMMENDERS_TABLES_H_

#include <cstdint>
#include <map>
#include <string>

#include "graph/ir/graph.h"
#include "ops/state/variable.h"

namespace sluice::recommenders {

class Tables {
 public:
  // A table has four times as many rows as there are different keys, but at most `rows_max`. Key k
  // has row k mod rows, so some keys share a row.
  Tables(Graph& graph, int64_t rows_max) : graph_(graph), rows_max_(rows_max) {}

  Graph& graph() const { return graph_; }
  // The rows of `keys`, int64, in the table `name`: [dimensions of keys..., size]. `different` is
  // the expected number of different keys. Lookups with one name share the table.
  Output Lookup(const std::string& name, Output keys, int64_t different, int64_t size);
  // The rows of the fields of a click log, each from a table of its own: [batch, kFields] to
  // [batch, kFields, size].
  Output LookupFields(const std::string& name, Output keys, int64_t size);

 private:
  int64_t RowsOf(int64_t different) const;
  const Variable& Table(const std::string& name, int64_t rows, int64_t size);

  Graph& graph_;
  const int64_t rows_max_;
  std::map<std::string, Variable> tables_;
};

}  // namespace sluice::recommenders

#endif  // SLUICE_DEMOS_RECOMMENDERS_TABLES_H_
