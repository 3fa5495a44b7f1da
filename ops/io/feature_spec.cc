#include "ops/io/feature_spec.h"

#include "graph/status.h"
#include "graph/tensor/sizes.h"

namespace sluice {

int64_t DenseFeature::elements() const {
  int64_t n = 1;
  for (int i = is_variable() ? 1 : 0; i < shape.rank(); ++i) n = SaturatedProduct(n, shape.dim(i));
  return n;
}

absl::Status CheckDenseShapes(const std::vector<PartialShape>& shapes) {
  for (size_t d = 0; d < shapes.size(); ++d) {
    bool known = shapes[d].rank_known();
    for (int i = 1; known && i < shapes[d].rank(); ++i) known = shapes[d].dim(i) >= 0;
    SLUICE_INVALID_IF(!known, "dense_shapes[", d,
                      "] has unknown rank or unknown inner dimensions: ", shapes[d].ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckDefaults(const std::vector<DenseFeature>& features) {
  for (size_t d = 0; d < features.size(); ++d) {
    const DenseFeature& f = features[d];
    const Tensor& value = f.default_value;
    if (f.is_variable()) {
      SLUICE_INVALID_IF(value.num_elements() != 1, "dense_shape[", d,
                        "] is a variable length shape: ", f.shape.ToString(),
                        ", therefore def_value[", d,
                        "] must contain a single element (the padding element).  But its "
                        "shape is: ",
                        value.shape().ToString());
    } else if (value.num_elements() > 0 && !f.shape.IsCompatibleWith(value.shape())) {
      return InvalidArgument("def_value[", d, "].shape() == ", value.shape().ToString(),
                             " is not compatible with dense_shapes_[", d,
                             "] == ", f.shape.ToString());
    }
    SLUICE_INVALID_IF(value.dtype() != f.dtype, "dense_defaults[", d,
                      "].dtype() == ", DataTypeName(value.dtype()), " != dense_types_[", d,
                      "] == ", DataTypeName(f.dtype));
  }
  return absl::OkStatus();
}

}  // namespace sluice
