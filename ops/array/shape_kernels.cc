#include <algorithm>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/int_tensor.h"

namespace sluice {
namespace {

absl::Status CheckFits(DataType type, int64_t value, const std::string& what) {
  if (type == DT_INT64 || value <= std::numeric_limits<int32_t>::max()) return absl::OkStatus();
  return InvalidArgument("Number of elements was larger than representable by 32-bit output type: ",
                         what, " is ", value);
}

absl::Status Shape(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorShape& shape = c.input(i).shape();
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, {shape.rank()}));
    for (int d = 0; d < shape.rank(); ++d) {
      SLUICE_RETURN_IF_ERROR(CheckFits(out->dtype(), shape.dim(d), StrCat("dim ", d)));
      SetIntAt(*out, d, shape.dim(d));
    }
  }
  return absl::OkStatus();
}

absl::Status Size(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {}));
  SLUICE_RETURN_IF_ERROR(CheckFits(out->dtype(), c.input(0).num_elements(), "size"));
  SetIntAt(*out, 0, c.input(0).num_elements());
  return absl::OkStatus();
}

absl::Status Rank(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {}));
  SetIntAt(*out, 0, c.input(0).rank());
  return absl::OkStatus();
}

absl::Status EmitInts(KernelContext& c, int i, absl::Span<const int64_t> values) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, {static_cast<int64_t>(values.size())}));
  for (size_t k = 0; k < values.size(); ++k) SetIntAt(*out, static_cast<int64_t>(k), values[k]);
  return absl::OkStatus();
}

// Two shapes that broadcast, extended to equal ranks by leading sizes of 1.
class TwoShapes {
 public:
  static absl::StatusOr<TwoShapes> Of(KernelContext& c) {
    TwoShapes s;
    for (int i = 0; i < 2; ++i) {
      SLUICE_INVALID_IF(c.input(i).rank() != 1, "In[", i, "] must be a vector.",
                        c.input(i).shape().ToString());
      s.shapes_[i] = IntsOf(c.input(i));
    }
    s.rank_ = static_cast<int>(std::max(s.shapes_[0].size(), s.shapes_[1].size()));
    for (int d = 0; d < s.rank_; ++d) {
      SLUICE_INVALID_IF(s.At(0, d) != s.At(1, d) && s.At(0, d) != 1 && s.At(1, d) != 1,
                        "Incompatible shapes: ", s.Text(0), " vs. ", s.Text(1));
    }
    return s;
  }
  int rank() const { return rank_; }
  bool equal() const { return shapes_[0] == shapes_[1]; }
  // Returns the size of shape i in dimension d of the broadcast shape.
  int64_t At(int i, int d) const {
    const int at = d - rank_ + static_cast<int>(shapes_[i].size());
    return at < 0 ? 1 : shapes_[i][at];
  }

 private:
  std::string Text(int i) const {
    std::string text = "[";
    for (size_t k = 0; k < shapes_[i].size(); ++k) {
      StrAppend(&text, k > 0 ? "," : "", shapes_[i][k]);
    }
    return text + "]";
  }
  Ints shapes_[2];
  int rank_ = 0;
};

absl::Status BroadcastArgs(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TwoShapes shapes, TwoShapes::Of(c));
  Ints out;
  for (int d = 0; d < shapes.rank(); ++d) {
    out.push_back(shapes.At(0, d) == 1 ? shapes.At(1, d) : shapes.At(0, d));
  }
  return EmitInts(c, 0, out);
}

// Outputs, for each of two shapes, the dimensions over which the gradient must be summed: those in
// which the shape has size 1. As in TensorFlow, this includes dimensions in which both have size 1,
// unless the shapes are equal.
absl::Status BroadcastGradientArgs(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const TwoShapes shapes, TwoShapes::Of(c));
  for (int i = 0; i < 2; ++i) {
    Ints axes;
    for (int d = 0; d < shapes.rank() && !shapes.equal(); ++d) {
      if (shapes.At(i, d) == 1) axes.push_back(d);
    }
    SLUICE_RETURN_IF_ERROR(EmitInts(c, i, axes));
  }
  return absl::OkStatus();
}

// Checks that input i + 1 has the sizes of the first shape, except along `axis`.
absl::Status CheckJoins(const Ints& shape, const Ints& first, int64_t axis, int i) {
  const int64_t rank = static_cast<int64_t>(first.size());
  SLUICE_INVALID_IF(static_cast<int64_t>(shape.size()) != rank, "input ", i, " should contain ",
                    rank, " elements, but got ", shape.size());
  for (int64_t d = 0; d < rank; ++d) {
    if (d == axis || shape[d] == first[d]) continue;
    return InvalidArgument("All dimensions except ", axis, " must match. Input ", i, " has shape ",
                           PartialShape(shape).ToString(), " and doesn't match input 0 with shape ",
                           PartialShape(first).ToString(), ".");
  }
  return absl::OkStatus();
}

absl::Status ConcatOffset(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(0), 0, "Concat dim tensor should be a scalar integer, but got shape "));
  const Ints first = IntsOf(c.input(1));
  const int64_t rank = static_cast<int64_t>(first.size());
  int64_t axis = IntAt(c.input(0), 0);
  SLUICE_INVALID_IF(axis < -rank || axis >= rank, "Concat dim is out of range: ", axis, " vs. ",
                    rank);
  if (axis < 0) axis += rank;
  int64_t offset = 0;
  for (int i = 1; i < c.num_inputs(); ++i) {
    SLUICE_INVALID_IF(c.input(i).rank() != 1, "input ", i - 1,
                      " should be a vector, but got shape ", c.input(i).shape().ToString());
    const Ints shape = IntsOf(c.input(i));
    SLUICE_RETURN_IF_ERROR(CheckJoins(shape, first, axis, i - 1));
    Ints begin(rank, 0);
    begin[axis] = offset;
    SLUICE_RETURN_IF_ERROR(EmitInts(c, i - 1, begin));
    SLUICE_INVALID_IF(
        i + 1 < c.num_inputs() && __builtin_add_overflow(offset, shape[axis], &offset),
        "sizes along dimension ", axis, " must add up to less than 2^63, got more up to input ",
        i - 1);
  }
  return absl::OkStatus();
}

// Returns the number of elements of a shape without zeros.
absl::StatusOr<int64_t> ProductOf(const Ints& dims) {
  int64_t total = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = dims[i];
    SLUICE_INVALID_IF(
        d == 0, "Input dims cannot contain a dim of zero, but dims contains zero at index ", i);
    total = d < 0 ? -1 : MultiplyWithoutOverflow(total, d);
    SLUICE_INVALID_IF(total < 0, "Dimensions must be positive, and their product an int64");
  }
  return total;
}

absl::Status UnravelIndex(KernelContext& c) {
  const Tensor& indices = c.input(0);
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(1), 1, "dims must be a vector, but got shape "));
  SLUICE_INVALID_IF(indices.rank() > 1, "The indices can only be scalar or vector, got \"",
                    indices.shape().ToString(), "\"");
  SLUICE_INVALID_IF(indices.num_elements() == 0,
                    "received empty tensor indices: ", indices.shape().ToString());
  const Ints dims = IntsOf(c.input(1));
  SLUICE_ASSIGN_OR_RETURN(const int64_t total, ProductOf(dims));
  const int64_t n = indices.num_elements();
  const int64_t rank = static_cast<int64_t>(dims.size());
  SLUICE_ASSIGN_OR_RETURN(
      Tensor * out,
      c.AllocateOutput(0, indices.rank() == 0 ? TensorShape({rank}) : TensorShape({rank, n})));
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = IntAt(indices, i);
    SLUICE_INVALID_IF(at < 0 || at >= total, "index is out of bound as with dims");
    for (int64_t d = rank - 1; d >= 0; --d) {
      SetIntAt(*out, d * n + i, at % dims[d]);
      at /= dims[d];
    }
  }
  return absl::OkStatus();
}

KERNEL(Shape, CheapFunctionKernel<Shape>);
KERNEL(ShapeN, CheapFunctionKernel<Shape>);
KERNEL(Size, CheapFunctionKernel<Size>);
KERNEL(Rank, CheapFunctionKernel<Rank>);
KERNEL(BroadcastArgs, CheapFunctionKernel<BroadcastArgs>);
KERNEL(BroadcastGradientArgs, CheapFunctionKernel<BroadcastGradientArgs>);
KERNEL(ConcatOffset, CheapFunctionKernel<ConcatOffset>);
KERNEL(UnravelIndex, CheapFunctionKernel<UnravelIndex>);

}  // namespace
}  // namespace sluice
