#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/row_parts.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

// Takes consecutive parts of a tensor along an axis.
class Splitter {
 public:
  Splitter(KernelContext& c, const Tensor& value, int axis) : c_(c), value_(value), axis_(axis) {
    for (int d = 0; d < axis; ++d) outer_ = SaturatedProduct(outer_, value.dim(d));
    for (int d = axis + 1; d < value.rank(); ++d) inner_ = SaturatedProduct(inner_, value.dim(d));
  }

  // Sets output i, which has the given shape, to the next `size` slices. Parts along the outermost
  // dimension share the memory of the tensor.
  absl::Status Next(int i, int64_t size, const TensorShape& shape) {
    const int64_t first = taken_;
    taken_ += size;
    if (value_.num_elements() == 0) return c_.AllocateOutput(i, shape).status();
    if (outer_ == 1) {
      const TensorShape rows({value_.dim(axis_), inner_});
      c_.set_output(i, value_.Reshaped(rows).SliceRows(first, taken_).Reshaped(shape));
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c_.AllocateOutput(i, shape));
    parts_.push_back({out, size * inner_});
    return absl::OkStatus();
  }

  // Copies the parts that do not share memory. Called after the last Next.
  void Copy() {
    if (parts_.empty()) return;
    const DataType type = value_.dtype();
    const int64_t row = value_.dim(axis_) * inner_;
    const auto element = static_cast<int64_t>(DataTypeSize(type));
    if (IsPlainBytes(type) && SuitRows(outer_, std::ssize(parts_), row * element)) {
      absl::InlinedVector<RowPart, 64> rows;
      for (const Part& part : parts_) {
        const auto bytes = static_cast<size_t>(part.width * element);
        rows.push_back({static_cast<char*>(part.out->raw()), bytes});
      }
      return SplitRows(c_, outer_, static_cast<const char*>(value_.raw()), rows);
    }
    int64_t from = 0;
    for (const Part& part : parts_) {
      CopyStrided(c_, type, value_.raw(), part.out->raw(),
                  {.dims = {{outer_, row, part.width}, {part.width, 1, 1}}, .from_offset = from});
      from += part.width;
    }
  }

 private:
  struct Part {
    Tensor* out;
    int64_t width;  // elements per row
  };

  KernelContext& c_;
  const Tensor& value_;
  int axis_;
  int64_t outer_ = 1;
  int64_t inner_ = 1;
  int64_t taken_ = 0;
  absl::InlinedVector<Part, 64> parts_;
};

absl::StatusOr<int> SplitAxis(const Tensor& axis, const Tensor& value) {
  SLUICE_INVALID_IF(axis.num_elements() != 1, "split_dim must be a scalar but has rank ",
                    axis.rank());
  const int64_t given = IntAt(axis, 0);
  const int rank = value.rank();
  SLUICE_INVALID_IF(given < -rank || given >= rank, "-input rank(-", rank,
                    ") <= split_dim < input rank (", rank, "), but got ", given);
  return static_cast<int>(given < 0 ? given + rank : given);
}

absl::Status Split(KernelContext& c) {
  const Tensor& value = c.input(1);
  SLUICE_ASSIGN_OR_RETURN(const int axis, SplitAxis(c.input(0), value));
  const int n = c.num_outputs();
  SLUICE_INVALID_IF(value.dim(axis) % n != 0,
                    "Number of ways to split should evenly divide the split dimension, but "
                    "got split_dim ",
                    axis, " (size = ", value.dim(axis), ") and num_split ", n);
  const int64_t size = value.dim(axis) / n;
  TensorShape shape = value.shape();
  shape.set_dim(axis, size);
  Splitter splitter(c, value, axis);
  for (int i = 0; i < n; ++i) SLUICE_RETURN_IF_ERROR(splitter.Next(i, size, shape));
  splitter.Copy();
  return absl::OkStatus();
}

// Returns the sizes of the parts, whose sum is `whole`. Replaces a size of -1 by the rest.
using Sizes = absl::InlinedVector<int64_t, 32>;
absl::StatusOr<Sizes> PartSizes(const Tensor& given, int parts, int64_t whole) {
  SLUICE_INVALID_IF(given.rank() != 1 || given.dim(0) != parts,
                    "size of the split_tensor must be 1-D and have the same elements as "
                    "outputs got ",
                    given.shape().ToString(), " and ", parts, " outputs");
  Sizes sizes(parts);
  for (int i = 0; i < parts; ++i) sizes[i] = IntAt(given, i);
  int missing = -1;
  int64_t total = 0;
  for (int i = 0; i < parts; ++i) {
    if (sizes[i] == -1) {
      SLUICE_INVALID_IF(missing >= 0, "There can only be one -1 in the input.");
      missing = i;
    } else if (sizes[i] < 0) {
      return InvalidArgument("Split size at index ", i, " must be >= 0. Got: ", sizes[i]);
    } else if (__builtin_add_overflow(total, sizes[i], &total)) {
      return InvalidArgument("The sizes of the splits are too large");
    }
  }
  SLUICE_INVALID_IF(missing >= 0 ? total > whole : total != whole,
                    "Determined shape must either match input shape along split_dim exactly "
                    "if fully specified, or be less than the size of the input along "
                    "split_dim if not fully specified.  Got: ",
                    total);
  if (missing >= 0) sizes[missing] = whole - total;
  return sizes;
}

absl::Status SplitV(KernelContext& c) {
  const Tensor& value = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const int axis, SplitAxis(c.input(2), value));
  SLUICE_ASSIGN_OR_RETURN(const Sizes sizes,
                          PartSizes(c.input(1), c.num_outputs(), value.dim(axis)));
  TensorShape shape = value.shape();
  Splitter splitter(c, value, axis);
  for (int i = 0; i < c.num_outputs(); ++i) {
    shape.set_dim(axis, sizes[i]);
    SLUICE_RETURN_IF_ERROR(splitter.Next(i, sizes[i], shape));
  }
  splitter.Copy();
  return absl::OkStatus();
}

absl::Status Unpack(KernelContext& c, Attr<int64_t, "axis"> axis_attr) {
  const Tensor& value = c.input(0);
  const int rank = value.rank();
  SLUICE_INVALID_IF(axis_attr < -rank || axis_attr >= rank, "axis = ", axis_attr.value, " not in [",
                    -rank, ", ", rank, ")");
  const int axis = static_cast<int>(axis_attr < 0 ? axis_attr + rank : axis_attr);
  SLUICE_INVALID_IF(value.dim(axis) != c.num_outputs(), "Input shape axis ", axis, " must equal ",
                    c.num_outputs(), ", got shape ", value.shape().ToString());
  TensorShape shape = value.shape();
  shape.RemoveDim(axis);
  Splitter splitter(c, value, axis);
  for (int i = 0; i < c.num_outputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(splitter.Next(i, 1, shape));
  }
  splitter.Copy();
  return absl::OkStatus();
}

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() |
    TypeSet{DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT, DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
constexpr TypeSet kSplitTypes = kTypes | TypeSet{DT_QUINT8, DT_INT4, DT_UINT4};
KERNEL(Split, FunctionKernel<Split>, {"T", kSplitTypes});
KERNEL(SplitV, FunctionKernel<SplitV>, {"T", kSplitTypes});
KERNEL(Unpack, FunctionKernel<Unpack>, {"T", kTypes});

}  // namespace
}  // namespace sluice
