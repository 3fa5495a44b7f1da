#include <algorithm>
#include <array>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/arithmetic.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

// The number of elements added before and after each dimension.
struct Border {
  Ints before;
  Ints after;
};

absl::StatusOr<Border> ReadBorder(const Tensor& in, const Tensor& paddings) {
  SLUICE_INVALID_IF(paddings.rank() != 2 || paddings.dim(1) != 2,
                    "paddings must be a matrix with 2 columns: ", paddings.shape().ToString());
  SLUICE_INVALID_IF(paddings.dim(0) != in.rank(),
                    "The first dimension of paddings must be the rank of inputs",
                    paddings.shape().ToString(), " ", in.shape().ToString());
  Border border;
  for (int d = 0; d < in.rank(); ++d) {
    border.before.push_back(IntAt(paddings, 2 * d));
    border.after.push_back(IntAt(paddings, 2 * d + 1));
    SLUICE_INVALID_IF(border.before[d] < 0 || border.after[d] < 0,
                      "Paddings must be non-negative: ", border.before[d], " ", border.after[d]);
  }
  return border;
}

absl::StatusOr<TensorShape> PaddedShape(const TensorShape& in, const Border& border) {
  Ints dims;
  for (int d = 0; d < in.rank(); ++d) {
    int64_t size;
    SLUICE_INVALID_IF(__builtin_add_overflow(in.dim(d), border.before[d], &size) ||
                          __builtin_add_overflow(size, border.after[d], &size),
                      "paddings of dimension ", d, " are too large");
    dims.push_back(size);
  }
  return TensorShape::Make(dims);
}

// Returns the copy of a tensor of shape `part` to the middle of a tensor of shape `whole`.
CopyBox Middle(const TensorShape& whole, const TensorShape& part, const Border& border) {
  CopyBox box;
  const auto from = RowMajorStrides(part);
  const auto to = RowMajorStrides(whole);
  for (int d = 0; d < part.rank(); ++d) {
    box.dims.push_back({part.dim(d), from[d], to[d]});
    box.to_offset += border.before[d] * to[d];
  }
  return box;
}

absl::Status Pad(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Border border, ReadBorder(in, c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, PaddedShape(in.shape(), border));
  Tensor value = c.num_inputs() == 3 ? c.input(2) : ZeroElement(in.dtype(), *c.step().allocator);
  SLUICE_INVALID_IF(value.num_elements() != 1 || value.rank() > 0,
                    "constant_values must be a scalar. Found: ", value.shape().ToString());
  if (shape == in.shape()) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  FillElements(c, in.dtype(), value.raw(), out->raw(), shape.num_elements());
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), Middle(shape, in.shape(), border));
  return absl::OkStatus();
}

// Returns the distance of the first mirrored element from the edge: 1 for REFLECT, which does not
// repeat the edge.
int64_t EdgeOf(KernelInit& init) { return init.attr<std::string>("mode") == "REFLECT" ? 1 : 0; }

absl::Status CheckMirror(const Border& border, const TensorShape& inner, int64_t edge) {
  for (int d = 0; d < inner.rank(); ++d) {
    if (std::max(border.before[d], border.after[d]) <= inner.dim(d) - edge) continue;
    if (border.before[d] == 0 && border.after[d] == 0) continue;
    return InvalidArgument("paddings must be ", edge == 1 ? "less than" : "no greater than",
                           " the dimension size: ", border.before[d], ", ", border.after[d],
                           edge == 1 ? " not less than " : " greater than ", inner.dim(d));
  }
  return absl::OkStatus();
}

// The two copies that fill the border before and after dimension d with mirrored elements. In the
// dimensions after d, they include the border. In those before d, they do not.
using Mirror = std::array<CopyBox, 2>;
Mirror MirrorOf(const TensorShape& whole, const TensorShape& inner, const Border& border, int d,
                int64_t edge) {
  Mirror mirror;
  const auto strides = RowMajorStrides(whole);
  CopyBox box;
  int64_t corner = 0;
  for (int k = 0; k < whole.rank(); ++k) {
    box.dims.push_back({k < d ? inner.dim(k) : whole.dim(k), strides[k], strides[k]});
    if (k < d) corner += border.before[k] * strides[k];
  }
  const int64_t first = border.before[d], last = first + inner.dim(d) - 1;
  for (int side = 0; side < 2; ++side) {
    const int64_t width = side == 0 ? border.before[d] : border.after[d];
    const int64_t sign = side == 0 ? 1 : -1;
    box.dims[d] = {width, sign * strides[d], -sign * strides[d]};
    box.from_offset = corner + (side == 0 ? first + edge : last - edge) * strides[d];
    box.to_offset = corner + (side == 0 ? first - 1 : last + 1) * strides[d];
    mirror[side] = box;
  }
  return mirror;
}

absl::Status MirrorPad(KernelContext& c, const Prepared<EdgeOf>& edge) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Border border, ReadBorder(in, c.input(1)));
  SLUICE_RETURN_IF_ERROR(CheckMirror(border, in.shape(), *edge));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, PaddedShape(in.shape(), border));
  if (shape == in.shape()) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), Middle(shape, in.shape(), border));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    for (CopyBox& side : MirrorOf(shape, in.shape(), border, d, *edge)) {
      CopyStrided(c, in.dtype(), out->raw(), out->raw(), std::move(side));
    }
  }
  return absl::OkStatus();
}

// Undoes the copy `box` for a gradient: adds the elements at `to` to those at `from`.
void AddBack(DataType dtype, char* base, const CopyBox& box, size_t at, int64_t from, int64_t to) {
  const size_t size = ElementStride(dtype);
  if (at == box.dims.size()) {
    FindArithmetic(ArithmeticOp::kAdd, dtype)(ElementAt(base, from, size),
                                              ElementAt(base, to, size), 1);
    return;
  }
  const CopyDim& d = box.dims[at];
  if (at + 1 == box.dims.size() && d.from == 1 && d.to == 1) {
    FindArithmetic(ArithmeticOp::kAdd, dtype)(ElementAt(base, from, size),
                                              ElementAt(base, to, size), d.size);
    return;
  }
  for (int64_t i = 0; i < d.size; ++i) {
    AddBack(dtype, base, box, at + 1, from + i * d.from, to + i * d.to);
  }
}

absl::Status MirrorPadGrad(KernelContext& c, const Prepared<EdgeOf>& edge) {
  const Tensor& grad = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Border border, ReadBorder(grad, c.input(1)));
  TensorShape inner = grad.shape();
  for (int d = 0; d < inner.rank(); ++d) {
    SLUICE_INVALID_IF(
        border.before[d] > inner.dim(d) || border.after[d] > inner.dim(d) - border.before[d],
        "the border of dimension ", d, " is wider than the tensor: ", border.before[d], ", ",
        border.after[d], ", ", inner.dim(d));
    inner.set_dim(d, inner.dim(d) - border.before[d] - border.after[d]);
  }
  SLUICE_RETURN_IF_ERROR(CheckMirror(border, inner, *edge));
  SLUICE_ASSIGN_OR_RETURN(Tensor folded, grad.Clone(*c.step().allocator));
  for (int d = 0; d < inner.rank() && folded.num_elements() > 0; ++d) {
    for (const CopyBox& side : MirrorOf(grad.shape(), inner, border, d, *edge)) {
      AddBack(grad.dtype(), static_cast<char*>(folded.raw()), side, 0, side.from_offset,
              side.to_offset);
    }
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, inner));
  CopyBox middle = Middle(grad.shape(), inner, border);
  for (CopyDim& d : middle.dims) std::swap(d.from, d.to);
  std::swap(middle.from_offset, middle.to_offset);
  CopyStrided(c, grad.dtype(), folded.raw(), out->raw(), std::move(middle));
  return absl::OkStatus();
}

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING, DT_QINT8, DT_QUINT8, DT_QINT32};
KERNEL(Pad, FunctionKernel<Pad>, {"T", kTypes});
KERNEL(PadV2, FunctionKernel<Pad>, {"T", kTypes});
KERNEL(MirrorPad, FunctionKernel<MirrorPad>, {"T", kTypes});
KERNEL(MirrorPadGrad, FunctionKernel<MirrorPadGrad>, {"T", RealTypes() | ComplexTypes()});

}  // namespace
}  // namespace sluice
