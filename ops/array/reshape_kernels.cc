#include <algorithm>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/int_tensor.h"

namespace sluice {
namespace {

// Returns the product of the positive sizes, or -1 if it exceeds int64.
int64_t NonZeroProduct(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t d : dims) {
    if (d > 0 && product > 0) product = MultiplyWithoutOverflow(product, d);
  }
  return product;
}

// Returns the size that is given as -1. Sizes of 0 in both shapes cancel out.
absl::StatusOr<int64_t> MissingSize(const TensorShape& in, absl::Span<const int64_t> dims) {
  const int64_t known = NonZeroProduct(dims);
  const bool has_zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  const int64_t n = has_zero ? NonZeroProduct(in.dims()) : in.num_elements();
  SLUICE_INVALID_IF(n % known != 0 && in.num_elements() > 0, "Input to reshape is a tensor with ",
                    n, " values, but the requested shape requires a multiple of ", known);
  return n / known;
}

// Returns the requested shape, with a size of -1 replaced by the size that fits.
absl::StatusOr<TensorShape> ReshapeTarget(const Tensor& in, const Tensor& sizes) {
  SLUICE_INVALID_IF(sizes.rank() > 1, "sizes input must be 1-D, not ", sizes.shape().ToString());
  Ints dims = IntsOf(sizes);
  int missing = -1;
  for (size_t d = 0; d < dims.size(); ++d) {
    SLUICE_INVALID_IF(dims[d] < -1, "Size ", d, " must be non-negative, not ", dims[d]);
    SLUICE_INVALID_IF(dims[d] == -1 && missing >= 0, "Only one input size may be -1, not both ",
                      missing, " and ", d);
    if (dims[d] == -1) missing = static_cast<int>(d);
  }
  SLUICE_INVALID_IF(NonZeroProduct(dims) < 0, "Reshape sizes are too large");
  if (missing >= 0) {
    SLUICE_ASSIGN_OR_RETURN(dims[missing], MissingSize(in.shape(), dims));
  }
  SLUICE_ASSIGN_OR_RETURN(TensorShape shape, TensorShape::Make(dims));
  SLUICE_INVALID_IF(shape.num_elements() != in.num_elements(), "Input to reshape is a tensor with ",
                    in.num_elements(), " values, but the requested shape has ",
                    shape.num_elements());
  return shape;
}

absl::Status Reshape(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ReshapeTarget(c.input(0), c.input(1)));
  c.set_output(0, c.input(0).Reshaped(shape));
  return absl::OkStatus();
}

absl::Status ExpandDims(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_INVALID_IF(in.dtype() == DT_VARIANT, "ExpandDims on Variant not supported");
  SLUICE_INVALID_IF(c.input(1).num_elements() != 1, "'dim' must be a tensor with a single value");
  int64_t dim = IntAt(c.input(1), 0);
  SLUICE_INVALID_IF(dim < -1 - in.rank() || dim > in.rank(), "Tried to expand dim index ", dim,
                    " for tensor with ", in.rank(), " dimensions.");
  if (dim < 0) dim += in.rank() + 1;
  TensorShape shape = in.shape();
  shape.InsertDim(static_cast<int>(dim), 1);
  c.set_output(0, in.Reshaped(shape));
  return absl::OkStatus();
}

absl::Status Squeeze(KernelContext& c, const Attr<std::vector<int64_t>, "squeeze_dims">& dims) {
  const Tensor& in = c.input(0);
  absl::InlinedVector<bool, 8> named(in.rank(), dims.value.empty());
  for (int64_t d : dims.value) {
    SLUICE_INVALID_IF(d < -in.rank() || d >= in.rank(), "Tried to squeeze dim index ", d,
                      " for tensor with ", in.rank(), " dimensions.");
    named[d < 0 ? d + in.rank() : d] = true;
  }
  TensorShape shape;
  for (int i = 0; i < in.rank(); ++i) {
    if (named[i] && in.dim(i) == 1) continue;
    SLUICE_INVALID_IF(named[i] && !dims.value.empty(), "Can not squeeze dim[", i,
                      "], expected a dimension of 1, got ", in.dim(i));
    shape.AddDim(in.dim(i));
  }
  c.set_output(0, in.Reshaped(shape));
  return absl::OkStatus();
}

absl::Status Bitcast(KernelContext& c) {
  const Tensor& in = c.input(0);
  const DataType type = c.output_dtype(0);
  const int64_t from = static_cast<int64_t>(DataTypeSize(in.dtype()));
  const int64_t to = static_cast<int64_t>(DataTypeSize(type));
  TensorShape shape = in.shape();
  if (from > to) {
    shape.AddDim(from / to);
  } else if (from < to) {
    SLUICE_INVALID_IF(in.rank() == 0 || in.dim(in.rank() - 1) != to / from, "Cannot bitcast from ",
                      DataTypeName(in.dtype()), " to ", DataTypeName(type), ": ",
                      in.shape().ToString());
    shape.RemoveDim(in.rank() - 1);
  }
  if (reinterpret_cast<uintptr_t>(in.raw()) % static_cast<size_t>(to) == 0) {
    c.set_output(0, in.Bitcast(type).Reshaped(shape));
    return absl::OkStatus();
  }
  // The rows of a larger tensor may not be aligned for larger elements.
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (out->bytes() > 0) std::memcpy(out->raw(), in.raw(), out->bytes());
  return absl::OkStatus();
}
KERNEL(Reshape, CheapFunctionKernel<Reshape>);
using ExpandDimsKernel = CheapFunctionKernel<ExpandDims>;
KERNEL(ExpandDims, ExpandDimsKernel);
KERNEL(Squeeze, CheapFunctionKernel<Squeeze>);
using BitcastKernel = CheapFunctionKernel<Bitcast>;
KERNEL(Bitcast, BitcastKernel);

}  // namespace
}  // namespace sluice
