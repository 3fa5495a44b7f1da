#include "ops/indexing/slice_box.h"

#include "graph/status.h"
#include "ops/loops/int_tensor.h"

namespace sluice {
namespace {

// Returns the stride of the value along each dimension of the whole tensor. It is 0 for dimensions
// that the slice does not have, and for those along which the value is broadcast.
absl::StatusOr<Ints> ValueStrides(const SliceSpec& spec, const TensorShape& value) {
  const PartialShape& slice = spec.result;
  const int missing = slice.rank() - value.rank();
  bool fits = missing >= 0;
  for (int d = 0; fits && d < value.rank(); ++d) {
    fits = value.dim(d) == 1 || value.dim(d) == slice.dim(d + missing);
  }
  SLUICE_INVALID_IF(!fits, "Cannot broadcast input shape ", value.ToString(), " into final shape ",
                    slice.ToString());
  const auto own = RowMajorStrides(value);
  Ints strides;
  for (size_t d = 0; d < spec.dims.size(); ++d) {
    const int at = spec.result_dims[d] - missing;
    strides.push_back(spec.result_dims[d] < 0 || at < 0 || value.dim(at) == 1 ? 0 : own[at]);
  }
  return strides;
}

}  // namespace

absl::StatusOr<SliceSpec> ReadSliceSpec(KernelContext& c, int first, const TensorShape& in,
                                        const SliceMasks& masks) {
  for (int i = 0; i < 3; ++i) {
    const Tensor& t = c.input(first + i);
    SLUICE_INVALID_IF(t.rank() != 1 || t.dim(0) != c.input(first).num_elements(),
                      "Expected begin, end, and strides to be 1D equal size tensors, but got "
                      "shapes ",
                      c.input(first).shape().ToString(), ", ",
                      c.input(first + 1).shape().ToString(), ", and ",
                      c.input(first + 2).shape().ToString(), " instead.");
  }
  const Ints begin = IntsOf(c.input(first)), end = IntsOf(c.input(first + 1));
  const Ints strides = IntsOf(c.input(first + 2));
  return ResolveSlice(PartialShape(in), absl::MakeConstSpan(begin), absl::MakeConstSpan(end),
                      strides, masks);
}

SliceBox SliceBoxOf(const SliceSpec& spec, const TensorShape& in) {
  SliceBox box;
  for (const SliceSpec::Dim& d : spec.dims) box.part.AddDim(d.size);
  const auto whole = RowMajorStrides(in);
  const auto part = RowMajorStrides(box.part);
  for (int d = 0; d < in.rank(); ++d) {
    // If a dimension has only one element, its stride has no effect, but might overflow.
    const int64_t stride = spec.dims[d].size > 1 ? spec.dims[d].stride : 0;
    box.dims.push_back({spec.dims[d].size, whole[d] * stride, part[d]});
    box.offset += whole[d] * spec.dims[d].begin;
  }
  return box;
}

absl::StatusOr<CopyBox> BoxOfValue(const SliceSpec& spec, const TensorShape& in,
                                   const TensorShape& value) {
  SLUICE_ASSIGN_OR_RETURN(const Ints strides, ValueStrides(spec, value));
  SliceBox box = SliceBoxOf(spec, in);
  for (int d = 0; d < in.rank(); ++d) {
    box.dims[d] = {box.dims[d].size, strides[d], box.dims[d].from};
  }
  return CopyBox{std::move(box.dims), 0, box.offset};
}

}  // namespace sluice
