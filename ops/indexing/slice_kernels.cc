#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/indexing/slice_box.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

absl::Status CheckSlice(const Tensor& in, const Tensor& begin, const Tensor& size) {
  auto fits = [&in](const Tensor& t) { return t.rank() == 1 && t.dim(0) == in.rank(); };
  if (fits(begin) && fits(size)) return absl::OkStatus();
  return InvalidArgument("Expected begin and size arguments to be 1-D tensors of size ", in.rank(),
                         ", but got shapes ", begin.shape().ToString(), " and ",
                         size.shape().ToString(), " instead.");
}

// Returns whether only the first dimension is sliced, so that the output can share the memory.
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
    SLUICE_INVALID_IF(begin[d] < 0 || begin[d] > in.dim(d), "Expected begin[", d, "] in [0, ",
                      in.dim(d), "], but got ", begin[d]);
    if (size[d] == -1) size[d] = in.dim(d) - begin[d];
    SLUICE_INVALID_IF(size[d] < 0 || size[d] > in.dim(d) - begin[d], "Expected size[", d,
                      "] in [0, ", in.dim(d) - begin[d], "], but got ", size[d]);
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
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
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

SliceMasks MasksOf(KernelInit& init) { return SliceMasks::Of(init); }

bool IsForward(const SliceSpec& spec) {
  for (const SliceSpec::Dim& d : spec.dims) {
    if (d.stride != 1 && d.size > 1) return false;
  }
  return spec.dims[0].size > 0;
}

absl::Status StridedSlice(KernelContext& c, const Prepared<MasksOf>& masks) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSliceSpec(c, 1, in.shape(), *masks));
  const TensorShape result = spec.result.AsShape();
  if (spec.is_identity) {
    c.set_output(0, in.Reshaped(result));
    return absl::OkStatus();
  }
  SliceBox box = SliceBoxOf(spec, in.shape());
  if (IsRows(in.shape(), box.part) && IsForward(spec)) {
    const int64_t begin = spec.dims[0].begin;
    c.set_output(0, in.SliceRows(begin, begin + spec.dims[0].size).Reshaped(result));
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, result));
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), {std::move(box.dims), box.offset, 0});
  return absl::OkStatus();
}

absl::Status StridedSliceGrad(KernelContext& c, const Prepared<MasksOf>& masks) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(0), 1, "shape must be 1-D, got shape.shape = "));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(c.input(0))));
  SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSliceSpec(c, 1, shape, *masks));
  const Tensor& dy = c.input(4);
  SLUICE_INVALID_IF(dy.shape() != spec.result.AsShape(), "shape of dy was ", dy.shape().ToString(),
                    " instead of ", spec.result.ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const Tensor zero = ZeroElement(out->dtype(), *c.step().allocator);
  FillElements(c, out->dtype(), zero.raw(), out->raw(), shape.num_elements());
  SliceBox box = SliceBoxOf(spec, shape);
  for (CopyDim& d : box.dims) std::swap(d.from, d.to);
  CopyStrided(c, dy.dtype(), dy.raw(), out->raw(), {std::move(box.dims), 0, box.offset});
  return absl::OkStatus();
}

absl::Status TensorStridedSliceUpdate(KernelContext& c, const Prepared<MasksOf>& masks) {
  const Tensor in = c.input(0);
  const TensorShape shape = in.shape();
  SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSliceSpec(c, 1, shape, *masks));
  const Tensor& value = c.input(4);
  SLUICE_ASSIGN_OR_RETURN(const CopyBox box, BoxOfValue(spec, shape, value.shape()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  CopyElements(c, in.dtype(), in.raw(), out->raw(), shape.num_elements());
  CopyStrided(c, in.dtype(), value.raw(), out->raw(), box);
  return absl::OkStatus();
}

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() |
    TypeSet{DT_BOOL, DT_STRING, DT_QINT8, DT_QUINT8, DT_QINT32, DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
constexpr TypeSet kHandles = {DT_RESOURCE, DT_VARIANT};
KERNEL(Slice, FunctionKernel<Slice>, {"T", kTypes});
KERNEL(StridedSlice, CheapFunctionKernel<StridedSlice>, {"T", kTypes | kHandles});
KERNEL(StridedSliceGrad, FunctionKernel<StridedSliceGrad>, {"T", kTypes | kHandles});
KERNEL(TensorStridedSliceUpdate, FunctionKernel<TensorStridedSliceUpdate>,
       {"T", kTypes | kHandles});

}  // namespace
}  // namespace sluice
