// Parses the features of Examples into tensors.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT in TensorFlow's words, with the name of the example (if names are
// given), the feature and the position of the example in the batch.
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

// The number of values of a feature. -1 if it is null or has no list of values.
int64_t NumValues(const pb::Feature* feature);
// The type of the values of a feature. DT_INVALID if it is null or has no list of values.
DataType FeatureType(const pb::Feature* feature);
// Copies the values of `feature` to the elements of `to` from `at` on. `to` must have their type.
void CopyValues(const pb::Feature& feature, Tensor* to, int64_t at);
// The feature `key`, or null if it is missing.
const pb::Feature* FindFeature(const pb::Features& features, const std::string& key);

enum class BatchForm {
  kBatch,   // the first dimension of outputs counts the examples
  kSingle,  // one example without that dimension
};

// Parses the features that `specs` names. `names` is empty or has one name per example.
absl::StatusOr<ParsedFeatures> ParseFeatures(absl::Span<const pb::Features* const> examples,
                                             absl::Span<const std::string> names,
                                             const FeatureSpecs& specs, BatchForm form,
                                             Allocator& allocator);

// Returns INVALID_ARGUMENT with `text` after the position of the feature. The message for a batch
// is "Name: <name of the example>, Key: <key>, Index: <index>.  <text>". The message for a single
// example is "Key: <key>.  <text>".
absl::Status FeatureError(absl::Span<const std::string> names, const std::string& key, size_t index,
                          BatchForm form, std::string_view text);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_PARSE_EXAMPLES_H_
