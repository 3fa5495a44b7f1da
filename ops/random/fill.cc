#include "ops/random/fill.h"

#include <vector>

#include "graph/status.h"

namespace sluice::random {

absl::StatusOr<TensorShape> ShapeFromInput(const Tensor& t) {
  if (!t.shape().IsVector()) {
    return InvalidArgument("shape must be a vector of {int32,int64}, got shape ",
                           t.shape().ToString());
  }
  absl::InlinedVector<int64_t, 8> dims(static_cast<size_t>(t.num_elements()));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    dims[i] = t.dtype() == DT_INT32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
    if (dims[i] < 0) return InvalidArgument("Dimension ", dims[i], " must be >= 0");
  }
  return TensorShape::Make(dims);
}

}  // namespace sluice::random
