// Parses the feature lists of SequenceExamples into tensors.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT in TensorFlow's words, with the name of the example (if names are
// given), the list and the step.
#ifndef SLUICE_OPS_IO_FEATURE_LISTS_H_
#define SLUICE_OPS_IO_FEATURE_LISTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/io/parse_examples.h"

namespace sluice {

struct DenseFeatureList {
  std::string key;
  DataType dtype = DT_INVALID;
  PartialShape shape;           // of a step, fully known
  bool may_be_missing = false;  // true: a missing list counts as one without steps
};

struct FeatureListSpecs {
  std::vector<DenseFeatureList> dense;
  std::vector<SparseFeature> sparse;
  std::vector<RaggedFeature> ragged;
};

struct ParsedFeatureLists {
  std::vector<Tensor> sparse_indices, sparse_values, sparse_shapes;
  std::vector<Tensor> dense_values, dense_lengths;
  std::vector<Tensor> ragged_values, ragged_outer_splits, ragged_inner_splits;
};

// Parses the feature lists that `specs` names. `names` is empty or has one name per example.
absl::StatusOr<ParsedFeatureLists> ParseFeatureLists(
    absl::Span<const pb::FeatureLists* const> examples, absl::Span<const std::string> names,
    const FeatureListSpecs& specs, BatchForm form, Allocator& allocator);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_FEATURE_LISTS_H_
