#include "ops/random/sample_shape.h"

#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice::random {

absl::StatusOr<TensorShape> ShapeFromInput(const Tensor& t) {
  SLUICE_INVALID_IF(!t.shape().IsVector(), "shape must be a vector of {int32,int64}, got shape ",
                    t.shape().ToString());
  absl::InlinedVector<int64_t, 8> dims(static_cast<size_t>(t.num_elements()));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    dims[i] = t.dtype() == DT_INT32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
    SLUICE_INVALID_IF(dims[i] < 0, "Dimension ", dims[i], " must be >= 0");
  }
  return TensorShape::Make(dims);
}

absl::StatusOr<Tensor*> AllocateSamples(KernelContext& c, const Tensor& shape_input,
                                        const TensorShape& parameters) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ShapeFromInput(shape_input));
  const int skip = shape.rank() - parameters.rank();
  SLUICE_INVALID_IF(skip < 0 || shape.dims().subspan(skip) != parameters.dims(),
                    "Shape passed in must end with broadcasted shape, got ", shape.ToString(),
                    " and ", parameters.ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  return out;
}

absl::StatusOr<TensorShape> BroadcastOfInputs(KernelContext& c, int first, int last) {
  PartialShape shape = PartialShape::Scalar();
  for (int i = first; i < last; ++i) {
    SLUICE_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, c.input(i).shape()));
  }
  return TensorShape::Make(shape.dims());
}

int64_t BroadcastIndex(const TensorShape& from, const TensorShape& to, int64_t i) {
  int64_t index = 0, stride = 1;
  for (int back = 1; back <= from.rank(); ++back) {
    const int64_t size = to.dim(to.rank() - back);
    const int64_t own = from.dim(from.rank() - back);
    if (own != 1) index += i % size * stride;
    stride *= own;
    i /= size;
  }
  return index;
}

}  // namespace sluice::random
