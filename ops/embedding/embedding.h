// Builder functions that look up rows of tables by id. A table is one variable, or a variable in
// parts. A lookup returns one row per id, or one combination of rows per example.
//
//   PartitionedVariable table(g, "table", {10'000, 16}, GlorotUniform(), {4});
//   Output rows = EmbeddingLookup(table, ids);                       // [batch, length, 16]
//   Output bag = EmbeddingLookupSparse(table, {indices, ids, shape}, std::nullopt,
//                                      {.combiner = Combiner::kSum});  // [batch, 16]
//
// Each part is read on its own device. The gradient of a part is sparse: it has the rows that were
// read. An id outside of the table fails the step. An EmbeddingTable
// (ops/embedding/embedding_table.h) has rows for all ids, and partitions them by hash, whatever the
// partition strategy:
//
//   EmbeddingTable items(g, "items", 16, {.num_shards = 2});
//   Output rows = EmbeddingLookup(items, ids);                       // [batch, length, 16]
//
// LookupAll looks all features of a model up and concatenates the results:
//
//   Output x = LookupAll({{.table = users, .ids = user},
//                         {.table = items, .bags = clicks, .combiner = Combiner::kSum}});
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the arguments are handles, which are valid as long as the graph.
// Errors: stay in the graph. The result is then an invalid handle.
// Reference: nodes, names and devices are those of tf.compat.v1.nn.embedding_lookup and its
// variants.
#ifndef SLUICE_OPS_EMBEDDING_EMBEDDING_H_
#define SLUICE_OPS_EMBEDDING_EMBEDDING_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "ops/embedding/embedding_table.h"
#include "ops/embedding/partitioned_variable.h"
#include "ops/state/variable.h"

namespace sluice {

// The source of a lookup: an EmbeddingTable, a variable, a PartitionedVariable, or several
// variables that are the parts of a table. The rows of all parts must have the same shape.
class EmbeddingSource {
 public:
  EmbeddingSource(const EmbeddingTable& table) : parts_(table.shards()) {}    // NOLINT
  EmbeddingSource(const Variable& whole) : parts_({whole}) {}                 // NOLINT
  EmbeddingSource(std::vector<Variable> parts) : parts_(std::move(parts)) {}  // NOLINT
  EmbeddingSource(const PartitionedVariable& v) : parts_(v.parts()) {}        // NOLINT
  const std::vector<Variable>& parts() const { return parts_; }

 private:
  std::vector<Variable> parts_;
};

// A sparse tensor as three dense tensors. Reference: tf.SparseTensor.
struct SparseOutput {
  // int64 [entries, rank]: the positions, sorted.
  Output indices;
  // [entries]: the value at each position.
  Output values;
  // int64 [rank]: the shape of the whole tensor.
  Output shape;
};

// The assignment of ids to the rows of n parts. With kMod, id i has row i / n of part i mod n. With
// kDiv, each part has a range of ids, as in a PartitionedVariable. If the number of ids is
// not divisible by n, the first parts have one id more. A PartitionedVariable needs kDiv to find
// the rows of the undivided variable.
enum class PartitionStrategy { kMod, kDiv };

struct EmbeddingLookupOptions {
  PartitionStrategy strategy = PartitionStrategy::kMod;
  // Rows with a larger Euclidean norm are scaled to this norm, in the result only. If none is
  // given, rows are not scaled.
  std::optional<float> max_norm;
  std::string_view name = "embedding_lookup";
};

// Returns a row of the table for each id. `ids` is int32 or int64, of any shape. The result has the
// dimensions of `ids`, followed by those of a row. With kDiv, the sizes of the parts must be known.
Output EmbeddingLookup(const EmbeddingSource& table, Output ids,
                       const EmbeddingLookupOptions& options = {}, At at = At::current());

// The way in which the rows of an example are combined. kSum is the weighted sum of the rows. kMean
// divides this sum by the sum of the weights, kSqrtN by the square root of the sum of their
// squares.
enum class Combiner { kMean, kSqrtN, kSum };

// Options of EmbeddingLookupSparse; see EmbeddingLookupOptions.
struct SparseEmbeddingOptions {
  Combiner combiner = Combiner::kMean;
  PartitionStrategy strategy = PartitionStrategy::kMod;
  std::optional<float> max_norm;
  std::string_view name = "embedding_lookup_sparse";
};

// Row i of the result combines the table's rows for the ids in row i of the matrix `ids`. The shape
// is [rows, row size...]. `weights` has the same indices as `ids`; without it, all weights are 1. A
// row without ids yields zeros. But the result has no rows after the last row that has an id. If
// there are weights, sums of 16-bit numbers are computed in float.
Output EmbeddingLookupSparse(const EmbeddingSource& table, const SparseOutput& ids,
                             const std::optional<SparseOutput>& weights = std::nullopt,
                             const SparseEmbeddingOptions& options = {}, At at = At::current());

// Options of SafeEmbeddingLookupSparse. The default strategy differs, as in TensorFlow.
struct SafeEmbeddingOptions {
  Combiner combiner = Combiner::kMean;
  // The id to look up for rows without a valid id. If none is given, these rows are zeros.
  std::optional<int64_t> default_id;
  PartitionStrategy strategy = PartitionStrategy::kDiv;
  std::optional<float> max_norm;
  std::string_view name = "embedding_lookup";
};

// Like EmbeddingLookupSparse, for input with missing ids, such as features of a click log. `ids`
// has a rank of at least 2. The result has the dimensions of `ids` except the last, followed by
// those of a row. Negative ids are ignored. So are ids whose weight is not positive, unless the
// combiner is kSum. The result also has rows for trailing rows of `ids` that are empty.
Output SafeEmbeddingLookupSparse(const EmbeddingSource& table, const SparseOutput& ids,
                                 const std::optional<SparseOutput>& weights = std::nullopt,
                                 const SafeEmbeddingOptions& options = {}, At at = At::current());

// One feature of LookupAll: a table with either `ids` or `bags`.
struct FieldLookup {
  EmbeddingSource table;
  // One id per row: a vector.
  Output ids;
  // Any number of ids per row: a sparse matrix, with its shape. The rows of the table are
  // multiplied by `weights`, if they are given (with the same indices), and combined.
  std::optional<SparseOutput> bags;
  std::optional<SparseOutput> weights;
  Combiner combiner = Combiner::kMean;
  PartitionStrategy strategy = PartitionStrategy::kMod;  // of variables in parts
};

struct LookupAllOptions {
  std::string_view name = "lookup_all";
};

// Looks up one or more fields. Row i of the result is the concatenation of the fields' results for
// row i. The shape is [rows, sum of row sizes]. For each device and type, one node reads all
// EmbeddingTables that have one part, and combines their rows. Another node sums their gradients by
// key.
// Other tables and variables are read as by EmbeddingLookup and EmbeddingLookupSparse. Results and
// gradients have the same bits as those of single lookups.
Output LookupAll(const std::vector<FieldLookup>& fields, const LookupAllOptions& options = {},
                 At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_EMBEDDING_H_
