#include <algorithm>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/array/int_tensor.h"

namespace sluice {
namespace {

// The sizes asked for, with the one that is -1 computed.
absl::StatusOr<TensorShape> ReshapeTarget(const Tensor& in, const Tensor& sizes) {
  if (sizes.rank() > 1) {
    return InvalidArgument("sizes input must be 1-D, not ", sizes.shape().ToString());
  }
  Ints dims = IntsOf(sizes);
  int missing = -1;
  int64_t known = 1;  // product of the sizes that are neither 0 nor missing
  bool has_zero = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == -1) {
      if (missing >= 0) {
        return InvalidArgument("Only one input size may be -1, not both ", missing, " and ", d);
      }
      missing = static_cast<int>(d);
      continue;
    }
    if (dims[d] < 0) return InvalidArgument("Size ", d, " must be non-negative, not ", dims[d]);
    if (dims[d] == 0) {
      has_zero = true;
      continue;
    }
    known = MultiplyWithoutOverflow(known, dims[d]);
    if (known < 0) return InvalidArgument("Reshape sizes are too large");
  }
  const int64_t n = in.num_elements();
  if (missing >= 0 && has_zero && n == 0) {
    // The missing size follows from the sizes that are not zero: [2,0] as [-1,0] is [2,0].
    int64_t rest = 1;
    for (int64_t d : in.shape().dims()) rest *= std::max<int64_t>(d, 1);
    dims[missing] = rest / known;
  } else if (missing >= 0 && !has_zero) {
    if (n % known != 0) {
      return InvalidArgument("Input to reshape is a tensor with ", n,
                             " values, but the requested shape requires a multiple of ", known);
    }
    dims[missing] = n / known;
  } else if ((has_zero ? 0 : known) != n) {
    return InvalidArgument("Input to reshape is a tensor with ", n,
                           " values, but the requested shape has ", has_zero ? 0 : known);
  }
  return TensorShape::Make(dims);
}

absl::Status Reshape(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ReshapeTarget(c.input(0), c.input(1)));
  c.set_output(0, c.input(0).Reshaped(shape));
  return absl::OkStatus();
}

absl::Status ExpandDims(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.dtype() == DT_VARIANT) {
    return InvalidArgument("ExpandDims on Variant not supported");
  }
  if (c.input(1).num_elements() != 1) {
    return InvalidArgument("'dim' must be a tensor with a single value");
  }
  int64_t dim = IntAt(c.input(1), 0);
  if (dim < -1 - in.rank() || dim > in.rank()) {
    return InvalidArgument("Tried to expand dim index ", dim, " for tensor with ", in.rank(),
                           " dimensions.");
  }
  if (dim < 0) dim += in.rank() + 1;
  TensorShape shape = in.shape();
  shape.InsertDim(static_cast<int>(dim), 1);
  c.set_output(0, in.Reshaped(shape));
  return absl::OkStatus();
}

class SqueezeKernel final : public Kernel {
 public:
  explicit SqueezeKernel(KernelInit& init)
      : dims_(init.attr<std::vector<int64_t>>("squeeze_dims")) {}
  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    absl::InlinedVector<bool, 8> named(in.rank(), dims_.empty());
    for (int64_t d : dims_) {
      if (d < -in.rank() || d >= in.rank()) {
        return InvalidArgument("Tried to squeeze dim index ", d, " for tensor with ", in.rank(),
                               " dimensions.");
      }
      named[d < 0 ? d + in.rank() : d] = true;
    }
    TensorShape shape;
    for (int i = 0; i < in.rank(); ++i) {
      if (named[i] && in.dim(i) == 1) continue;
      if (named[i] && !dims_.empty()) {
        return InvalidArgument("Can not squeeze dim[", i, "], expected a dimension of 1, got ",
                               in.dim(i));
      }
      shape.AddDim(in.dim(i));
    }
    c.set_output(0, in.Reshaped(shape));
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const std::vector<int64_t> dims_;
};

absl::Status Bitcast(KernelContext& c) {
  const Tensor& in = c.input(0);
  const DataType type = c.output_dtype(0);
  const int64_t from = static_cast<int64_t>(DataTypeSize(in.dtype()));
  const int64_t to = static_cast<int64_t>(DataTypeSize(type));
  TensorShape shape = in.shape();
  if (from > to) {
    shape.AddDim(from / to);
  } else if (from < to) {
    if (in.rank() == 0 || in.dim(in.rank() - 1) != to / from) {
      return InvalidArgument("Cannot bitcast from ", DataTypeName(in.dtype()), " to ",
                             DataTypeName(type), ": ", in.shape().ToString());
    }
    shape.RemoveDim(in.rank() - 1);
  }
  if (reinterpret_cast<uintptr_t>(in.raw()) % static_cast<size_t>(to) == 0) {
    c.set_output(0, in.Bitcast(type).Reshaped(shape));
    return absl::OkStatus();
  }
  // Rows shared with a larger tensor may not be aligned for wider elements.
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
  if (out->bytes() > 0) std::memcpy(out->raw(), in.raw(), out->bytes());
  return absl::OkStatus();
}

using ReshapeKernel = FunctionKernel<Reshape, false>;
KERNEL(Reshape, ReshapeKernel);
using ExpandDimsKernel = FunctionKernel<ExpandDims, false>;
KERNEL(ExpandDims, ExpandDimsKernel);
KERNEL(Squeeze, SqueezeKernel);
using BitcastKernel = FunctionKernel<Bitcast, false>;
KERNEL(Bitcast, BitcastKernel);

}  // namespace
}  // namespace sluice
