// Attributes and inputs of the ops that look keys up in several tables in one call (lookup_all.cc).
// A field is one feature with its table.
//
// Thread safety: constant once made.
// Lifetime: Fields point to the inputs of the kernel call.
// Errors: INVALID_ARGUMENT, with the node's name, if inputs do not fit each other.
#ifndef SLUICE_OPS_EMBEDDING_LOOKUP_FIELDS_H_
#define SLUICE_OPS_EMBEDDING_LOOKUP_FIELDS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernel/context.h"

namespace sluice {

enum class Combine { kSum, kMean, kSqrtN };

// The attributes of an op over several fields.
struct FieldAttrs {
  explicit FieldAttrs(const KernelInit& init);
  size_t size() const { return dims.size(); }

  std::vector<int64_t> dims;
  std::vector<Combine> combiners;
  std::vector<int64_t> first_columns;  // the first column of each field in the result
  int64_t width = 0;                   // the number of columns of the result
  DataType dtype;
};

// The keys of all fields.
struct Fields {
  absl::Span<const int64_t> keys;
  absl::InlinedVector<int64_t, 64> begin;  // where each field begins in `keys`, then keys.size()
  bool has_segments = false;               // false: key i of a field belongs to row i
  const int32_t* segments = nullptr;       // the row of each key, ascending within a field
  const float* weights = nullptr;          // null: all are 1
  std::vector<int64_t> wide;               // the memory of `keys` if the input is int32

  int64_t RowOf(size_t field, int64_t i) const {
    return has_segments ? segments[i] : i - begin[field];
  }
  // The first key of a field that belongs to `row` or to a later row.
  int64_t FirstKey(size_t field, int64_t row) const {
    if (!has_segments) return begin[field] + row;
    return std::lower_bound(segments + begin[field], segments + begin[field + 1], row) - segments;
  }
};

// Reads the inputs keys, sizes, segments and weights of `n` fields, which are inputs `first` to
// `first` + 3.
absl::StatusOr<Fields> FieldsOf(const KernelContext& c, int first, size_t n);
// Checks that the segments ascend. Returns the number of rows: `given` or, if `given` is -1, the
// smallest number such that each key has a row. INVALID_ARGUMENT if `given` is less than that
// smallest number or, without segments, if a field does not have one key per row.
absl::StatusOr<int64_t> RowsOf(const KernelContext& c, const Fields& fields, int64_t given);

// The keys [begin, end) of one row of a field.
struct Bag {
  int64_t begin = 0, end = 0;
  // The sum of the weights, or of their squares for kSqrtN. 0 if there are no weights.
  float sum = 0;

  int64_t size() const { return end - begin; }
};

// Returns the bag whose first key is number `begin`. The keys of the field end before `end`.
Bag BagAt(const Fields& fields, size_t field, Combine combiner, int64_t begin, int64_t end);
// Returns the number by which the sum of a bag's weighted rows is divided. If it is 0, the caller
// uses 0 as the result.
float DivisorOf(const Bag& bag, Combine combiner);
// Returns the factor by which the sum of a bag's rows is multiplied if there are no weights, as in
// SparseSegmentMean.
float FactorOf(const Bag& bag, Combine combiner);

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_LOOKUP_FIELDS_H_
