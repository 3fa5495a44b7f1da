// What a feature of examples becomes: a dense tensor, a sparse one or a ragged one.
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
  Tensor default_value;  // no elements: the feature must be there

  // The first size may differ from example to example, and is padded with the default.
  bool is_variable() const { return shape.rank_known() && shape.rank() > 0 && shape.dim(0) < 0; }
  // Numbers of one example; of one row where it is variable.
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

// Shapes that are known but for the first size. INVALID_ARGUMENT in TensorFlow's words.
absl::Status CheckDenseShapes(const std::vector<PartialShape>& shapes);
// Types and sizes of the defaults, once they are known.
absl::Status CheckDefaults(const std::vector<DenseFeature>& features);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_FEATURE_SPEC_H_
