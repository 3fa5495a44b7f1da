#include <algorithm>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/row_parts.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

// Returns the product of the sizes of dimension `axis` and all dimensions after it.
int64_t ElementsFrom(const TensorShape& shape, int axis) {
  int64_t n = 1;
  for (int d = axis; d < shape.rank(); ++d) n *= shape.dim(d);
  return n;
}

// Copies `count` inputs from input `first` on to consecutive columns of `out`, reshaped to
// [outer, row].
void CopyColumns(KernelContext& c, int first, int count, int64_t outer, int64_t row, Tensor* out) {
  const auto rows = static_cast<size_t>(outer);
  const auto row_bytes = static_cast<int64_t>(out->bytes() / rows);
  if (IsPlainBytes(out->dtype()) && SuitRows(outer, count, row_bytes)) {
    absl::InlinedVector<RowPart, 64> parts;
    for (int i = first; i < first + count; ++i) {
      const Tensor& in = c.input(i);
      // JoinRows only reads the parts.
      char* const data = static_cast<char*>(const_cast<void*>(in.raw()));
      if (in.num_elements() > 0) parts.push_back({data, in.bytes() / rows});
    }
    return JoinRows(c, outer, parts, static_cast<char*>(out->raw()));
  }
  constexpr int64_t kFew = 64;  // elements for which a general copy has too much overhead
  int64_t offset = 0;
  for (int i = first; i < first + count; ++i) {
    const Tensor& in = c.input(i);
    if (in.num_elements() == 0) continue;
    const int64_t width = in.num_elements() / outer;
    const size_t size = DataTypeSize(in.dtype());
    if (outer == 1 && width <= kFew && IsPlainBytes(in.dtype())) {
      std::memcpy(static_cast<char*>(out->raw()) + static_cast<size_t>(offset) * size, in.raw(),
                  static_cast<size_t>(width) * size);
    } else {
      CopyStrided(c, in.dtype(), in.raw(), out->raw(),
                  {.dims = {{outer, width, row}, {width, 1, 1}}, .to_offset = offset});
    }
    offset += width;
  }
}

// Returns the shape of the concatenation of inputs [first, first + count).
absl::StatusOr<TensorShape> ConcatenatedShape(KernelContext& c, int first, int count, int axis) {
  TensorShape shape = c.input(first).shape();
  int64_t total = shape.dim(axis);
  for (int i = first + 1; i < first + count; ++i) {
    const TensorShape& other = c.input(i).shape();
    SLUICE_INVALID_IF(other.rank() != shape.rank(),
                      "ConcatOp : Ranks of all input tensors should match: shape[0] = ",
                      shape.ToString(), " vs. shape[", i - first, "] = ", other.ToString());
    for (int d = 0; d < shape.rank(); ++d) {
      if (d == axis || other.dim(d) == shape.dim(d)) continue;
      return InvalidArgument("ConcatOp : Dimension ", d,
                             " in both shapes must be equal: shape[0] = ", shape.ToString(),
                             " vs. shape[", i - first, "] = ", other.ToString());
    }
    SLUICE_INVALID_IF(__builtin_add_overflow(total, other.dim(axis), &total),
                      "ConcatOp : the result is too large");
  }
  absl::InlinedVector<int64_t, 8> dims(shape.dims().begin(), shape.dims().end());
  dims[axis] = total;
  return TensorShape::Make(dims);
}

absl::Status ConcatInputs(KernelContext& c, int axis_input, const char* axis_name, int first) {
  const int count = c.num_inputs() - 1;
  const Tensor& axis_tensor = c.input(axis_input);
  // Accepts a vector of one element, as TensorFlow does for older graphs.
  SLUICE_INVALID_IF(axis_tensor.rank() > 1 || axis_tensor.num_elements() != 1, axis_name,
                    " tensor should be a scalar integer, but got shape ",
                    axis_tensor.shape().ToString());
  const int64_t given = IntAt(axis_tensor, 0);
  const int rank = c.input(first).rank();
  SLUICE_INVALID_IF(rank == 0, "ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  SLUICE_INVALID_IF(given < -rank || given >= rank,
                    "ConcatOp : Expected concatenating dimensions in the range [", -rank, ", ",
                    rank, "), but got ", given);
  const int axis = static_cast<int>(given < 0 ? given + rank : given);
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ConcatenatedShape(c, first, count, axis));
  if (count == 1) {
    c.set_output(0, c.input(first));
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (shape.num_elements() == 0) return absl::OkStatus();
  const int64_t row = ElementsFrom(shape, axis);
  CopyColumns(c, first, count, shape.num_elements() / row, row, out);
  return absl::OkStatus();
}

absl::Status Concat(KernelContext& c) { return ConcatInputs(c, 0, "concat_dim", 1); }
absl::Status ConcatV2(KernelContext& c) { return ConcatInputs(c, c.num_inputs() - 1, "axis", 0); }

absl::Status Pack(KernelContext& c, Attr<int64_t, "axis"> axis_attr) {
  const TensorShape& shape = c.input(0).shape();
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.input(i).shape() == shape) continue;
    return InvalidArgument("Shapes of all inputs must match: values[0].shape = ", shape.ToString(),
                           " != values[", i, "].shape = ", c.input(i).shape().ToString());
  }
  const int rank = shape.rank() + 1;
  SLUICE_INVALID_IF(axis_attr < -rank || axis_attr >= rank, "axis = ", axis_attr.value, " not in [",
                    -rank, ", ", rank, ")");
  const int axis = static_cast<int>(axis_attr < 0 ? axis_attr + rank : axis_attr);
  TensorShape packed = shape;
  packed.InsertDim(axis, c.num_inputs());
  if (c.num_inputs() == 1) {
    c.set_output(0, c.input(0).Reshaped(packed));
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, packed));
  if (packed.num_elements() == 0) return absl::OkStatus();
  const int64_t row = ElementsFrom(packed, axis);
  CopyColumns(c, 0, c.num_inputs(), packed.num_elements() / row, row, out);
  return absl::OkStatus();
}

absl::StatusOr<TensorShape> ShapeOfAllRows(KernelInit& init) {
  const PartialShape& shape = init.attr<PartialShape>("shape");
  SLUICE_INVALID_IF(!shape.IsFullyDefined() || shape.rank() == 0,
                    "shape must be fully defined and have a dimension, got ", shape.ToString());
  return TensorShape::Make(shape.dims());
}

// Concatenates rows. All inputs have been computed already, so it does not copy in parallel.
absl::Status ParallelConcat(KernelContext& c, const Prepared<ShapeOfAllRows>& shape) {
  TensorShape row = *shape;
  row.set_dim(0, 1);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).shape() == row && c.num_inputs() == shape->dim(0)) continue;
    return InvalidArgument("value shape ", c.input(i).shape().ToString(), " of input ", i,
                           " is not a row of the result's shape ", shape->ToString());
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, *shape));
  if (shape->num_elements() > 0) {
    CopyColumns(c, 0, c.num_inputs(), 1, shape->num_elements(), out);
  }
  return absl::OkStatus();
}

absl::Status ParallelConcatStart(KernelContext& c, const Attr<PartialShape, "shape">& shape_attr) {
  SLUICE_INVALID_IF(!shape_attr.value.IsFullyDefined(), "shape must be fully defined");
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(shape_attr.value.dims()));
  return c.AllocateOutput(0, shape).status();
}

// Writes one row of the memory that all updates of one concatenation share.
class ParallelConcatUpdateKernel final : public Kernel {
 public:
  explicit ParallelConcatUpdateKernel(KernelInit& init)
      : row_(init.attr<int64_t>("loc")),
        is_part_(init.node().input(0).node->op().starts_with("_ParallelConcat")) {}
  absl::Status Compute(KernelContext& c) override {
    Tensor value = c.input(0);
    if (!is_part_) {  // the memory belongs to a variable or feed
      SLUICE_ASSIGN_OR_RETURN(value, value.Clone(*c.step().allocator));
    }
    const Tensor& update = c.input(1);
    const bool matches = value.rank() > 0 && update.rank() == value.rank() && update.dim(0) == 1 &&
                         value.dim(0) > 0 &&
                         update.num_elements() == value.num_elements() / value.dim(0);
    SLUICE_INVALID_IF(!matches,
                      "update shape doesn't match the slice of value: ", value.shape().ToString(),
                      " vs. ", update.shape().ToString());
    SLUICE_INVALID_IF(row_ < -value.dim(0) || row_ >= value.dim(0), "loc ", row_,
                      " is not a row of ", value.shape().ToString());
    const int64_t row = row_ < 0 ? row_ + value.dim(0) : row_;
    Tensor target = value.SliceRows(row, row + 1);
    CopyElements(c, value.dtype(), update.raw(), target.raw(), update.num_elements());
    c.set_output(0, std::move(value));
    return absl::OkStatus();
  }

 private:
  const int64_t row_;
  const bool is_part_;  // the value belongs to the concatenation
};

constexpr TypeSet kPlain = RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING};
constexpr TypeSet kQuantized = QuantizedTypes() | TypeSet{DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
KERNEL(Concat, FunctionKernel<Concat>, {"T", kPlain | kQuantized});
KERNEL(ConcatV2, FunctionKernel<ConcatV2>, {"T", kPlain | kQuantized});
KERNEL(Pack, FunctionKernel<Pack>, {"T", kPlain | kQuantized | TypeSet{DT_RESOURCE, DT_VARIANT}});
KERNEL(ParallelConcat, FunctionKernel<ParallelConcat>, {"T", kPlain});
KERNEL(_ParallelConcatStart, CheapFunctionKernel<ParallelConcatStart>, {"dtype", kPlain});
KERNEL(_ParallelConcatUpdate, ParallelConcatUpdateKernel, {"T", kPlain});

}  // namespace
}  // namespace sluice
