// Serialised Examples into tensors.
//
// Thread safety: pure functions. Errors: INVALID_ARGUMENT, in TensorFlow's words, naming the
// example (where names are given), the feature and the example's place in the batch. Bytes are
// read by Protocol Buffers: what they refuse is refused.
#ifndef SLUICE_OPS_IO_PARSE_EXAMPLES_H_
#define SLUICE_OPS_IO_PARSE_EXAMPLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/format/proto/feature.pb.h"
#include "graph/tensor/tensor.h"
#include "ops/io/feature_spec.h"

namespace sluice {

struct ParsedFeatures {
  std::vector<Tensor> sparse_indices;
  std::vector<Tensor> sparse_values;
  std::vector<Tensor> sparse_shapes;
  std::vector<Tensor> dense_values;
  std::vector<Tensor> ragged_values;
  std::vector<Tensor> ragged_splits;
};

// How many values a feature has; -1 where it is missing or of no kind.
int64_t NumValues(const pb::Feature* feature);
// DT_INVALID where it is of no kind.
DataType FeatureType(const pb::Feature* feature);
// Appends the feature's values to `to`, a tensor of its type, from element `at` on.
void CopyValues(const pb::Feature& feature, Tensor* to, int64_t at);
// Null where there is none.
const pb::Feature* FindFeature(const pb::Features& features, const std::string& key);

enum class BatchForm {
  kBatch,   // a first dimension over the examples
  kSingle,  // one example, without it
};

// `names` has no elements, or one a feature set.
absl::StatusOr<ParsedFeatures> ParseFeatures(absl::Span<const pb::Features* const> examples,
                                             absl::Span<const std::string> names,
                                             const FeatureSpecs& specs, BatchForm form,
                                             Allocator& allocator);

// "Name: n, Key: k, Index: i.  text", as far as there is a batch.
absl::Status FeatureError(absl::Span<const std::string> names, const std::string& key, size_t index,
                          BatchForm form, std::string_view text);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_PARSE_EXAMPLES_H_
