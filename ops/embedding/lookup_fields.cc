#include "ops/embedding/lookup_fields.h"

#include <cmath>
#include <limits>
#include <string>

#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {

FieldAttrs::FieldAttrs(const KernelInit& init)
    : dims(init.attr<std::vector<int64_t>>("dims")), dtype(init.attr<DataType>("T")) {
  for (const std::string& name : init.attr<std::vector<std::string>>("combiners")) {
    combiners.push_back(name == "sum"    ? Combine::kSum
                        : name == "mean" ? Combine::kMean
                                         : Combine::kSqrtN);
  }
  for (const int64_t dim : dims) {
    first_columns.push_back(width);
    width += dim;
  }
}

namespace {

absl::Status ReadSizes(const KernelContext& c, const Tensor& sizes, size_t n, int64_t keys,
                       Fields& fields) {
  const auto count = static_cast<int64_t>(n);
  const bool is_even = sizes.num_elements() == 0;
  SLUICE_INVALID_IF(is_even && keys % count != 0, c.node().Describe(),
                    ": expected a number of keys that is divisible by the number of fields, ",
                    count, ", got ", keys);
  SLUICE_INVALID_IF(!is_even && sizes.num_elements() != count, c.node().Describe(),
                    ": expected one size for each of ", count, " fields, got ",
                    sizes.num_elements());
  fields.begin.push_back(0);
  for (int64_t f = 0; f < count; ++f) {
    const int64_t left = keys - fields.begin.back();
    const int64_t size = is_even ? keys / count : sizes.data<int64_t>()[f];
    SLUICE_INVALID_IF(size < 0 || size > left, c.node().Describe(),
                      ": expected sizes with the sum ", keys, ", got ", size, " for field ", f,
                      " with ", left, " keys left");
    fields.begin.push_back(fields.begin.back() + size);
  }
  SLUICE_INVALID_IF(fields.begin.back() != keys, c.node().Describe(),
                    ": expected sizes with the sum ", keys, ", got ", fields.begin.back());
  return absl::OkStatus();
}

// Checks the segments of one field. Returns the number of rows that they need.
absl::StatusOr<int64_t> CheckSegments(const KernelContext& c, const Fields& fields, size_t field) {
  int64_t last = 0;
  for (int64_t i = fields.begin[field]; i < fields.begin[field + 1]; ++i) {
    SLUICE_INVALID_IF(fields.segments[i] < last, c.node().Describe(),
                      ": expected ascending segments that are not negative in field ", field,
                      ", got ", fields.segments[i], " behind ", last);
    last = fields.segments[i];
  }
  return fields.begin[field] == fields.begin[field + 1] ? 0 : last + 1;
}

}  // namespace

absl::StatusOr<Fields> FieldsOf(const KernelContext& c, int first, size_t n) {
  for (int i = first; i < first + 4; ++i) {
    SLUICE_INVALID_IF(!c.input(i).shape().IsVector(), c.node().Describe(),
                      ": expected vectors of keys, sizes, segments and weights, got shape ",
                      c.input(i).shape().ToString());
  }
  Fields fields;
  const Tensor& keys = c.input(first);
  const Tensor &segments = c.input(first + 2), &weights = c.input(first + 3);
  const int64_t count = keys.num_elements();
  SLUICE_INVALID_IF(count > std::numeric_limits<int32_t>::max(), c.node().Describe(),
                    ": expected less than 2^31 keys, got ", count);
  if (keys.dtype() == DT_INT64) {
    fields.keys = {keys.data<int64_t>(), static_cast<size_t>(count)};
  } else {
    fields.wide.assign(keys.data<int32_t>(), keys.data<int32_t>() + count);
    fields.keys = fields.wide;
  }
  for (const Tensor* t : {&segments, &weights}) {
    SLUICE_INVALID_IF(t->num_elements() != 0 && t->num_elements() != count, c.node().Describe(),
                      ": expected no ", t == &segments ? "segment" : "weight", ", or ", count,
                      ", one per key, got ", t->num_elements());
  }
  // If there are no keys, counts as having segments, so that any number of rows is allowed.
  fields.has_segments = segments.num_elements() > 0 || count == 0;
  if (segments.num_elements() > 0) fields.segments = segments.data<int32_t>();
  if (weights.num_elements() > 0) fields.weights = weights.data<float>();
  SLUICE_RETURN_IF_ERROR(ReadSizes(c, c.input(first + 1), n, count, fields));
  return fields;
}

absl::StatusOr<int64_t> RowsOf(const KernelContext& c, const Fields& fields, int64_t given) {
  SLUICE_INVALID_IF(given < -1, c.node().Describe(), ": expected num_rows >= -1, got ", given);
  const size_t n = fields.begin.size() - 1;
  int64_t needed = 0;
  for (size_t f = 0; f < n; ++f) {
    if (fields.has_segments) {
      SLUICE_ASSIGN_OR_RETURN(const int64_t own, CheckSegments(c, fields, f));
      needed = std::max(needed, own);
      continue;
    }
    const int64_t size = fields.begin[f + 1] - fields.begin[f];
    needed = given >= 0 ? given : fields.begin[1];
    SLUICE_INVALID_IF(size != needed, c.node().Describe(),
                      ": expected one key per row without segments, ", needed, ", got ", size,
                      " in field ", f);
  }
  SLUICE_INVALID_IF(given >= 0 && needed > given, c.node().Describe(),
                    ": expected segments less than the number of rows, ", given, ", got ",
                    needed - 1);
  return given >= 0 ? given : needed;
}

Bag BagAt(const Fields& fields, size_t field, Combine combiner, int64_t begin, int64_t end) {
  Bag bag = {.begin = begin, .end = begin + 1};
  const int64_t row = fields.RowOf(field, begin);
  while (bag.end < end && fields.RowOf(field, bag.end) == row) ++bag.end;
  if (fields.weights == nullptr) return bag;
  for (int64_t i = bag.begin; i < bag.end; ++i) {
    const float w = fields.weights[i];
    bag.sum += combiner == Combine::kSqrtN ? w * w : w;
  }
  return bag;
}

float DivisorOf(const Bag& bag, Combine combiner) {
  if (combiner == Combine::kSum) return 1;
  return combiner == Combine::kMean ? bag.sum : std::sqrt(bag.sum);
}

float FactorOf(const Bag& bag, Combine combiner) {
  const auto n = static_cast<double>(bag.size());
  if (combiner == Combine::kMean) return static_cast<float>(1.0 / n);
  if (combiner == Combine::kSqrtN) return static_cast<float>(1.0 / std::sqrt(n));
  return 1;
}

}  // namespace sluice
