// Rows of tables by number: of one variable, or of one in parts; one row an id, or the rows of an
// example's ids combined.
//
//   PartitionedVariable table(g, "table", {10'000, 16}, GlorotUniform(), {4});
//   Output rows = EmbeddingLookup(table, ids);                       // [batch, length, 16]
//   Output bag = EmbeddingLookupSparse(table, {indices, ids, shape}, std::nullopt,
//                                      {.combiner = Combiner::kSum});  // [batch, 16]
//
// Nodes, names and devices are those of tf.compat.v1.nn.embedding_lookup and its kin: each part is
// read where it lies, and its gradient is the rows that were read. Errors stay in the graph; the
// result is then an invalid handle. An id outside of the table fails the step.
#ifndef SLUICE_OPS_EMBEDDING_EMBEDDING_H_
#define SLUICE_OPS_EMBEDDING_EMBEDDING_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "ops/embedding/partitioned_variable.h"
#include "ops/state/variable.h"

namespace sluice {

// A table's parts, of one row length: one variable, several, or those of a partitioned one.
class EmbeddingTable {
 public:
  EmbeddingTable(const Variable& whole) : parts_({whole}) {}                 // NOLINT
  EmbeddingTable(std::vector<Variable> parts) : parts_(std::move(parts)) {}  // NOLINT
  EmbeddingTable(const PartitionedVariable& v) : parts_(v.parts()) {}        // NOLINT
  const std::vector<Variable>& parts() const { return parts_; }

 private:
  std::vector<Variable> parts_;
};

// A sparse tensor as its three dense ones.
struct SparseOutput {
  Output indices;  // int64 [entries, rank], in order
  Output values;   // [entries]
  Output shape;    // int64 [rank]
};

// Which part row `id` lies in. kMod: id mod parts, in row id / parts. kDiv: parts hold ranges of
// ids, as those of a PartitionedVariable do; the first ones have one more where it does not divide.
enum class PartitionStrategy { kMod, kDiv };

struct EmbeddingLookupOptions {
  PartitionStrategy strategy = PartitionStrategy::kMod;
  // Rows that are longer are made as long.
  std::optional<float> max_norm;
  std::string_view name = "embedding_lookup";
};

// Shaped as `ids`, with a row of the table for each.
Output EmbeddingLookup(const EmbeddingTable& table, Output ids,
                       const EmbeddingLookupOptions& options = {}, At at = At::current());

// The weighted sum of rows, that by the sum of weights, or by the root of the sum of their squares.
enum class Combiner { kMean, kSqrtN, kSum };

struct SparseEmbeddingOptions {
  Combiner combiner = Combiner::kMean;
  PartitionStrategy strategy = PartitionStrategy::kMod;
  std::optional<float> max_norm;
  std::string_view name = "embedding_lookup_sparse";
};

// Row i combines the table's rows of the ids in row i of the matrix `ids`. `weights` has the same
// indices; without it all are 1. Rows without an id give zeros, or, at the end, none at all.
Output EmbeddingLookupSparse(const EmbeddingTable& table, const SparseOutput& ids,
                             const std::optional<SparseOutput>& weights = std::nullopt,
                             const SparseEmbeddingOptions& options = {}, At at = At::current());

struct SafeEmbeddingOptions {
  Combiner combiner = Combiner::kMean;
  // Stands in for rows without a valid id; those are zeros without it.
  std::optional<int64_t> default_id;
  PartitionStrategy strategy = PartitionStrategy::kDiv;
  std::optional<float> max_norm;
  std::string_view name = "embedding_lookup";
};

// The same for ids of any rank of 2 or more, of which negative ones, and those whose weight is not
// positive (but for kSum), are left out.
Output SafeEmbeddingLookupSparse(const EmbeddingTable& table, const SparseOutput& ids,
                                 const std::optional<SparseOutput>& weights = std::nullopt,
                                 const SafeEmbeddingOptions& options = {}, At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_EMBEDDING_H_
