#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/array/constant_element.h"
#include "ops/array/int_tensor.h"
#include "ops/array/slice_spec.h"
#include "ops/array/strided_copy.h"

namespace sluice {
namespace {

absl::Status CheckSlice(const Tensor& in, const Tensor& begin, const Tensor& size) {
  auto fits = [&in](const Tensor& t) { return t.rank() == 1 && t.dim(0) == in.rank(); };
  if (fits(begin) && fits(size)) return absl::OkStatus();
  return InvalidArgument("Expected begin and size arguments to be 1-D tensors of size ", in.rank(),
                         ", but got shapes ", begin.shape().ToString(), " and ",
                         size.shape().ToString(), " instead.");
}

// Whether only the first dimension is cut: then its rows share the memory.
bool IsRows(const TensorShape& in, const TensorShape& out) {
  for (int d = 1; d < in.rank(); ++d) {
    if (in.dim(d) != out.dim(d)) return false;
  }
  return in.rank() > 0;
}

absl::Status Slice(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckSlice(in, c.input(1), c.input(2)));
  const Ints begin = IntsOf(c.input(1));
  Ints size = IntsOf(c.input(2));
  for (int d = 0; d < in.rank(); ++d) {
    if (begin[d] < 0 || begin[d] > in.dim(d)) {
      return InvalidArgument("Expected begin[", d, "] in [0, ", in.dim(d), "], but got ", begin[d]);
    }
    if (size[d] == -1) size[d] = in.dim(d) - begin[d];
    if (size[d] < 0 || size[d] > in.dim(d) - begin[d]) {
      return InvalidArgument("Expected size[", d, "] in [0, ", in.dim(d) - begin[d], "], but got ",
                             size[d]);
    }
  }
  const TensorShape shape(size);
  if (shape == in.shape()) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  if (IsRows(in.shape(), shape)) {
    c.set_output(0, in.SliceRows(begin[0], begin[0] + size[0]));
    return absl::OkStatus();
  }
  Tensor* out;
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
  const auto from = RowMajorStrides(in.shape());
  const auto to = RowMajorStrides(shape);
  CopyBox box;
  for (int d = 0; d < in.rank(); ++d) {
    box.dims.push_back({size[d], from[d], to[d]});
    box.from_offset += begin[d] * from[d];
  }
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
  return absl::OkStatus();
}

// begin, end and strides (inputs first, first + 1, first + 2) for a tensor of shape `in`.
absl::StatusOr<SliceSpec> ReadSpec(KernelContext& c, int first, const TensorShape& in,
                                   const SliceMasks& masks) {
  for (int i = 0; i < 3; ++i) {
    const Tensor& t = c.input(first + i);
    if (t.rank() != 1 || t.dim(0) != c.input(first).num_elements()) {
      return InvalidArgument(
          "Expected begin, end, and strides to be 1D equal size tensors, but got "
          "shapes ",
          c.input(first).shape().ToString(), ", ", c.input(first + 1).shape().ToString(), ", and ",
          c.input(first + 2).shape().ToString(), " instead.");
    }
  }
  auto ints = [&](int i) {
    const Ints values = IntsOf(c.input(first + i));
    return std::optional(std::vector<int64_t>(values.begin(), values.end()));
  };
  return ResolveSlice(PartialShape(in), ints(0), ints(1), *ints(2), masks);
}

// The slice as a box of a tensor of shape `in`: `whole` side there, `part` side dense.
struct SliceBox {
  absl::InlinedVector<CopyDim, 8> dims;  // from: in the whole tensor; to: in the part
  int64_t offset = 0;
  TensorShape part;  // with all dimensions of the whole
};
SliceBox BoxOf(const SliceSpec& spec, const TensorShape& in) {
  SliceBox box;
  for (const SliceSpec::Dim& d : spec.dims) box.part.AddDim(d.size);
  const auto whole = RowMajorStrides(in);
  const auto part = RowMajorStrides(box.part);
  for (int d = 0; d < in.rank(); ++d) {
    box.dims.push_back({spec.dims[d].size, whole[d] * spec.dims[d].stride, part[d]});
    box.offset += whole[d] * spec.dims[d].begin;
  }
  return box;
}

class StridedSliceKernel final : public Kernel {
 public:
  explicit StridedSliceKernel(KernelInit& init) : masks_(SliceMasks::Of(init)) {}
  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSpec(c, 1, in.shape(), masks_));
    const TensorShape result = spec.result.AsShape();
    if (spec.is_identity) {
      c.set_output(0, in.Reshaped(result));
      return absl::OkStatus();
    }
    SliceBox box = BoxOf(spec, in.shape());
    if (IsRows(in.shape(), box.part) && IsForward(spec)) {
      const int64_t begin = spec.dims[0].begin;
      c.set_output(0, in.SliceRows(begin, begin + spec.dims[0].size).Reshaped(result));
      return absl::OkStatus();
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, result, &out));
    CopyStrided(c, in.dtype(), in.raw(), out->raw(), {std::move(box.dims), box.offset, 0});
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  static bool IsForward(const SliceSpec& spec) {
    for (const SliceSpec::Dim& d : spec.dims) {
      if (d.stride != 1 && d.size > 1) return false;
    }
    return spec.dims[0].size > 0;
  }
  SliceMasks masks_;
};

class StridedSliceGradKernel final : public Kernel {
 public:
  explicit StridedSliceGradKernel(KernelInit& init) : masks_(SliceMasks::Of(init)) {}
  absl::Status Compute(KernelContext& c) override {
    if (c.input(0).rank() != 1) {
      return InvalidArgument("shape must be 1-D, got shape.shape = ",
                             c.input(0).shape().ToString());
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(c.input(0))));
    SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSpec(c, 1, shape, masks_));
    const Tensor& dy = c.input(4);
    if (dy.shape() != spec.result.AsShape()) {
      return InvalidArgument("shape of dy was ", dy.shape().ToString(), " instead of ",
                             spec.result.ToString());
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    const Tensor zero = ZeroElement(out->dtype());
    FillElements(c, out->dtype(), zero.raw(), out->raw(), shape.num_elements());
    SliceBox box = BoxOf(spec, shape);
    for (CopyDim& d : box.dims) std::swap(d.from, d.to);
    CopyStrided(c, dy.dtype(), dy.raw(), out->raw(), {std::move(box.dims), 0, box.offset});
    return absl::OkStatus();
  }

 private:
  SliceMasks masks_;
};

class TensorStridedSliceUpdateKernel final : public Kernel {
 public:
  explicit TensorStridedSliceUpdateKernel(KernelInit& init) : masks_(SliceMasks::Of(init)) {}
  absl::Status Compute(KernelContext& c) override {
    const Tensor in = c.input(0);
    const TensorShape shape = in.shape();
    SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSpec(c, 1, shape, masks_));
    const Tensor& value = c.input(4);
    SLUICE_ASSIGN_OR_RETURN(const Ints strides, ValueStrides(spec, value.shape()));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    CopyElements(c, in.dtype(), in.raw(), out->raw(), shape.num_elements());
    SliceBox box = BoxOf(spec, shape);
    for (int d = 0; d < shape.rank(); ++d)
      box.dims[d] = {box.dims[d].size, strides[d], box.dims[d].from};
    CopyStrided(c, in.dtype(), value.raw(), out->raw(), {std::move(box.dims), 0, box.offset});
    return absl::OkStatus();
  }

 private:
  // How far apart the value's elements for neighbours along each dimension of the whole tensor lie:
  // the value broadcasts to the slice, whose dimensions are those of the whole but for new and
  // removed ones.
  absl::StatusOr<Ints> ValueStrides(const SliceSpec& spec, const TensorShape& value) {
    const PartialShape& slice = spec.result;
    const int missing = slice.rank() - value.rank();
    bool fits = missing >= 0;
    for (int d = 0; fits && d < value.rank(); ++d) {
      fits = value.dim(d) == 1 || value.dim(d) == slice.dim(d + missing);
    }
    if (!fits) {
      return InvalidArgument("value of shape ", value.ToString(),
                             " does not broadcast to the slice of shape ", slice.ToString());
    }
    const auto own = RowMajorStrides(value);
    Ints strides;
    for (size_t d = 0; d < spec.dims.size(); ++d) {
      const int at = spec.result_dims[d] - missing;
      strides.push_back(spec.result_dims[d] < 0 || at < 0 || value.dim(at) == 1 ? 0 : own[at]);
    }
    return strides;
  }
  SliceMasks masks_;
};

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() |
    TypeSet{DT_BOOL, DT_STRING, DT_QINT8, DT_QUINT8, DT_QINT32, DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
constexpr TypeSet kHandles = {DT_RESOURCE, DT_VARIANT};
using SliceKernel = FunctionKernel<Slice>;
KERNEL(Slice, SliceKernel, {"T", kTypes});
KERNEL(StridedSlice, StridedSliceKernel, {"T", kTypes | kHandles});
KERNEL(StridedSliceGrad, StridedSliceGradKernel, {"T", kTypes | kHandles});
KERNEL(TensorStridedSliceUpdate, TensorStridedSliceUpdateKernel, {"T", kTypes | kHandles});

}  // namespace
}  // namespace sluice
