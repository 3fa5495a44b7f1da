// Specifications of features of examples, which are parsed as dense, sparse or ragged tensors.
#ifndef SLUICE_OPS_IO_FEATURE_SPEC_H_
#define SLUICE_OPS_IO_FEATURE_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/op/attr.h"
#include "graph/tensor/tensor.h"

namespace sluice {

struct DenseFeature {
  std::string key;
  DataType dtype = DT_INVALID;
  PartialShape shape;
  Tensor default_value;  // without elements if the feature is required

  // Whether the size of the first dimension may differ between examples. Shorter values are padded
  // with `default_value`.
  bool is_variable() const { return shape.rank_known() && shape.rank() > 0 && shape.dim(0) < 0; }
  // The number of values of one example. If is_variable(), the number of values per slice of the
  // first dimension.
  int64_t elements() const;
};

struct SparseFeature {
  std::string key;
  DataType dtype = DT_INVALID;
};

struct RaggedFeature {
  std::string key;
  DataType dtype = DT_INVALID;
  DataType split_type = DT_INT64;
};

struct FeatureSpecs {
  std::vector<DenseFeature> dense;
  std::vector<SparseFeature> sparse;
  std::vector<RaggedFeature> ragged;
};

// INVALID_ARGUMENT if a shape has an unknown rank, or an unknown size in a dimension other than the
// first. The text is TensorFlow's.
absl::Status CheckDenseShapes(const std::vector<PartialShape>& shapes);
// INVALID_ARGUMENT if the type or shape of a default is wrong.
absl::Status CheckDefaults(const std::vector<DenseFeature>& features);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_FEATURE_SPEC_H_
