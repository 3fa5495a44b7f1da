// Embedding tables for keys that are not known in advance: ids of users, items and words.
//
//   EmbeddingTable items(g, "items", 16, {.initial_rows = InitialRows::Normal(0, 0.01f)});
//   Output rows = EmbeddingLookup(items, ids);          // ops/embedding/embedding.h
//   Operation train = Adagrad({.learning_rate = 0.1f}).Minimize(loss);
//
// A table has a row for every int64 key. A key gets a record with its first update, or later if
// there is an AdmissionRule. The record has the row, the optimizer's slots, the number of updates
// and the step of the last one. A key without a record has its initial row, which depends only on
// the seed and the key. Lookups never change the table. So results do not depend on the order in
// which keys are first seen, on threads or on the number of parts.
//
// Optimizers train a table by default, like a trainable variable. They change only rows with a
// gradient, so Adam is the lazy Adam, and AdamW decays only these rows. LAMB uses the norms of a
// row instead of those of the variable. Gradients of equal keys in a step are summed first, in the
// order of the batch. A table has one optimizer, whose slots are in the records. The first step
// makes the table, so call Minimize before the first step. A graph without an optimizer can open
// and restore a trained table.
//
// Thread safety: that of the graph, which one thread at a time builds. Several steps may read and
// update a table at the same time. A read sees each row before or after an update, and no update is
// lost. A read waits while one of its rows is updated.
// Ownership: a small handle that can be copied, valid as long as the graph. The records belong to
// the device, outlive steps and sessions that share it, and need no initializer. Savers save them
// and restore them, also into another number of parts. Memory: per record, 24 bytes, the row, the
// slots and about 10 bytes of the index. Errors: errors of building stay in the graph
// (Graph::status). A step fails with RESOURCE_EXHAUSTED if there is no memory.
#ifndef SLUICE_OPS_EMBEDDING_EMBEDDING_TABLE_H_
#define SLUICE_OPS_EMBEDDING_EMBEDDING_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "ops/embedding/initial_rows.h"
#include "ops/embedding/table_rules.h"
#include "ops/state/variable.h"

namespace sluice {

// The op of the node that makes a part of a table, and the graph's collection of all these nodes.
// Optimizers and Savers find the tables there.
inline constexpr std::string_view kEmbeddingTableOp = "EmbeddingTableHandleOp";
inline constexpr std::string_view kEmbeddingTables = "embedding_tables";

struct EmbeddingTableOptions {
  // The type of the rows and slots: float, half or bfloat16.
  DataType dtype = DT_FLOAT;
  InitialRows initial_rows = InitialRows::Uniform(-0.05f, 0.05f);
  // If none is given, the seed is derived from the name, so that tables of one model differ.
  std::optional<int64_t> seed;
  // The number of parts. A hash of the key chooses its part. The open device scope chooses the
  // device of each part: ReplicaDevices spreads the parts over the parameter servers.
  int num_shards = 1;
  // Whether optimizers train the table by default.
  bool trainable = true;
  // Rules for which keys get records, and which records are removed during training.
  // `filter_counters` and `capacity` are numbers for the whole table. Each part gets its share.
  AdmissionRule admission = {};
  EvictionRule eviction = {};
};

class EmbeddingTable {
 public:
  // `name` is made unique in the current name scope. `dim` is the number of elements of a row.
  EmbeddingTable(Graph& graph, std::string_view name, int64_t dim,
                 const EmbeddingTableOptions& options = {}, At at = At::current());

  const std::string& name() const { return name_; }
  int64_t dim() const { return dim_; }
  // The handles of the parts, as variables for optimizers (MinimizeOptions::var_list). Empty if the
  // table could not be built.
  const std::vector<Variable>& shards() const { return shards_; }

 private:
  std::string name_;
  int64_t dim_;
  std::vector<Variable> shards_;
};

// Whether the variable is a part of an embedding table.
bool IsEmbeddingTable(const Variable& variable);

// The rows of `keys` (int64 or int32, of any shape) in one part of a table: [keys..., dim]. A
// lookup in a whole table is EmbeddingLookup.
Output GatherRows(const Variable& shard, Output keys, std::string_view name = "",
                  At at = At::current());

// Whether the keys of a sparse gradient are known to be distinct, because the op that computes the
// gradient has summed the rows of equal keys.
bool HasDistinctKeys(Output keys);

// Declares that `optimizer` trains the part. Each record of the part then has one slot per number
// in `slot_values`, which is the initial value of the slot's elements. FAILED_PRECONDITION if
// another optimizer, or one with other values, was declared before.
absl::Status SetTableSlots(const Variable& shard, std::string_view optimizer,
                           const std::vector<float>& slot_values);

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_EMBEDDING_TABLE_H_
