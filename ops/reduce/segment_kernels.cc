#include <limits>
#include <vector>

#include "executor/kernel/scratch.h"
#include "graph/ir/graph.h"
#include "ops/loops/arithmetic.h"
#include "ops/loops/cast_loops.h"
#include "ops/loops/constant_element.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/row_index.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

// Returns the value of a segment without rows, which is the identity of the operation.
Tensor IdentityElement(DataType dtype, ArithmeticOp op, Allocator& memory) {
  if (op == ArithmeticOp::kMul) return OneElement(dtype, memory);
  Tensor t = ZeroElement(dtype, memory);
  if (op == ArithmeticOp::kAdd) return t;
  WithType(dtype, RealList(), [&]<typename T>(ElementTag<T>) {
    using Limits = std::numeric_limits<T>;
    t.scalar<T>() = T(op == ArithmeticOp::kMin ? Limits::max() : Limits::lowest());
  });
  return t;
}

// Combines row i of `data` into row row_of[i] of `out`, one row after the other. Drops rows whose
// row_of is -1. Each thread processes some columns, so the order of the operations on an element
// does not change.
void CombineRows(KernelContext& c, ArithmeticOp op, const Tensor& data,
                 absl::Span<const int64_t> row_of, int64_t width, Tensor* out) {
  const ArithmeticRow combine = FindArithmetic(op, data.dtype());
  const size_t size = ElementStride(data.dtype());
  const int64_t rows = static_cast<int64_t>(row_of.size());
  const auto columns = [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < rows; ++i) {
      if (row_of[i] < 0) continue;
      combine(ElementAt(out->raw(), row_of[i] * width + begin, size),
              ElementAt(data.raw(), i * width + begin, size), end - begin);
    }
  };
  if (width < 256) {
    columns(0, width);
  } else {
    c.ParallelFor(width, 0.4 * static_cast<double>(rows), columns);
  }
}

absl::Status CheckSegments(const KernelContext& c) {
  const Tensor &data = c.input(0), &ids = c.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(2), 0, "num_segments should be a scalar, not shape "));
  bool fits = ids.rank() <= data.rank();
  for (int d = 0; fits && d < ids.rank(); ++d) fits = ids.dim(d) == data.dim(d);
  SLUICE_INVALID_IF(!fits, "data.shape = ", data.shape().ToString(),
                    " does not start with segment_ids.shape = ", ids.shape().ToString());
  return absl::OkStatus();
}

template <ArithmeticOp kOp>
absl::Status UnsortedSegment(KernelContext& c) {
  const Tensor& data = c.input(0);
  const Tensor& ids = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckSegments(c));
  const int64_t segments = IntAt(c.input(2), 0);
  SLUICE_INVALID_IF(segments < 0, "Input num_segments == ", segments, " must not be negative.");
  absl::InlinedVector<int64_t, 8> dims = {segments};
  dims.insert(dims.end(), data.shape().dims().begin() + ids.rank(), data.shape().dims().end());
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  const int64_t rows = ids.num_elements();
  auto row_of = Scratch<int64_t>(c, rows);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t id = IntAt(ids, i);
    if (id >= segments) {
      const std::string at = PositionText(ids.shape(), i);
      return InvalidArgument("segment_ids", at.empty() ? "" : "[", at, at.empty() ? "" : "]", " = ",
                             id, " is out of range [0, ", segments, ")");
    }
    row_of[i] = id < 0 ? -1 : id;
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const Tensor empty = IdentityElement(data.dtype(), kOp, *c.step().allocator);
  FillElements(c, data.dtype(), empty.raw(), out->raw(), shape.num_elements());
  if (data.num_elements() == 0) return absl::OkStatus();
  CombineRows(c, kOp, data, row_of, data.num_elements() / rows, out);
  return absl::OkStatus();
}

// Reads ascending segment numbers. Sets `count` to the last number plus 1.
absl::StatusOr<std::vector<int64_t>> ReadSorted(const Tensor& data, const Tensor& ids,
                                                int64_t* count) {
  SLUICE_INVALID_IF(data.rank() < 1, "input must be at least rank 1");
  SLUICE_INVALID_IF(ids.rank() != 1, "segment_ids should be a vector.");
  SLUICE_INVALID_IF(ids.dim(0) != data.dim(0),
                    "segment_ids should be the same size as dimension 0 of input.");
  std::vector<int64_t> rows(ids.dim(0));
  for (int64_t i = 0; i < ids.dim(0); ++i) {
    rows[i] = IntAt(ids, i);
    SLUICE_INVALID_IF(rows[i] < 0, "Segment id ", rows[i],
                      " is out of range, possibly because 'segment_ids' input is not sorted: "
                      "segment ids must be >= 0");
    SLUICE_INVALID_IF(i > 0 && rows[i] < rows[i - 1], "segment ids are not increasing");
  }
  SLUICE_INVALID_IF(!rows.empty() && rows.back() == std::numeric_limits<int64_t>::max(),
                    "segment ids must be < ", rows.back(), ", got ", rows.back());
  *count = rows.empty() ? 0 : rows.back() + 1;
  return rows;
}

// The reductions. The reduction of a segment starts with its first row instead of an identity
// element, so segments without rows may have any value.
enum class Kind { kSum, kMean, kProd, kMax, kMin };

absl::Status DivideBySizes(const std::vector<int64_t>& rows, int64_t width, Tensor* out) {
  const ArithmeticRow divide = FindArithmeticWithScalar(ArithmeticOp::kDiv, out->dtype());
  // TensorFlow casts counts to the element type, where narrow integers wrap around.
  const CastLoop narrow = FindCastLoop(DT_INT64, out->dtype(), false);
  const size_t size = ElementStride(out->dtype());
  Tensor count = ZeroElement(out->dtype());
  for (size_t i = 0; i < rows.size();) {
    const size_t first = i;
    const int64_t row = rows[i];
    while (i < rows.size() && rows[i] == row) ++i;
    const auto n = static_cast<int64_t>(i - first);
    narrow(&n, count.raw(), 1);
    SLUICE_INVALID_IF(HasIntegerZero(out->dtype(), count.raw(), 1),
                      "expected a segment whose size is not 0 as ", DataTypeName(out->dtype()),
                      ", got one of ", n, " rows");
    divide(ElementAt(out->raw(), row * width, size), count.raw(), width);
  }
  return absl::OkStatus();
}

template <Kind kKind>
absl::Status SortedSegment(KernelContext& c) {
  const Tensor& data = c.input(0);
  int64_t count = 0;
  SLUICE_ASSIGN_OR_RETURN(std::vector<int64_t> rows, ReadSorted(data, c.input(1), &count));
  absl::InlinedVector<int64_t, 8> dims(data.shape().dims().begin(), data.shape().dims().end());
  dims[0] = count;
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  // As in TensorFlow, empty segments are 1 for products and 0 for all others, even for extremes.
  const Tensor empty = kKind == Kind::kProd ? OneElement(data.dtype(), *c.step().allocator)
                                            : ZeroElement(data.dtype(), *c.step().allocator);
  FillElements(c, data.dtype(), empty.raw(), out->raw(), shape.num_elements());
  if (data.num_elements() == 0) return absl::OkStatus();
  const int64_t width = data.num_elements() / data.dim(0);
  constexpr ArithmeticOp kOp = kKind == Kind::kProd  ? ArithmeticOp::kMul
                               : kKind == Kind::kMax ? ArithmeticOp::kMax
                               : kKind == Kind::kMin ? ArithmeticOp::kMin
                                                     : ArithmeticOp::kAdd;
  std::vector<int64_t> firsts = rows;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i] == rows[i - 1]) firsts[i] = -1;
  }
  CombineRows(c, ArithmeticOp::kAssign, data, firsts, width, out);
  std::vector<int64_t> others = rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (firsts[i] >= 0) others[i] = -1;
  }
  CombineRows(c, kOp, data, others, width, out);
  return kKind == Kind::kMean ? DivideBySizes(rows, width, out) : absl::OkStatus();
}

constexpr TypeSet kNumbers = RealTypes() | ComplexTypes();
KERNEL(SegmentSum, FunctionKernel<SortedSegment<Kind::kSum>>, {"T", kNumbers});
KERNEL(SegmentMean, FunctionKernel<SortedSegment<Kind::kMean>>, {"T", kNumbers});
KERNEL(SegmentProd, FunctionKernel<SortedSegment<Kind::kProd>>, {"T", kNumbers});
KERNEL(SegmentMax, FunctionKernel<SortedSegment<Kind::kMax>>, {"T", RealTypes()});
KERNEL(SegmentMin, FunctionKernel<SortedSegment<Kind::kMin>>, {"T", RealTypes()});
KERNEL(UnsortedSegmentSum, FunctionKernel<UnsortedSegment<ArithmeticOp::kAdd>>, {"T", kNumbers});
KERNEL(UnsortedSegmentProd, FunctionKernel<UnsortedSegment<ArithmeticOp::kMul>>, {"T", kNumbers});
KERNEL(UnsortedSegmentMax, FunctionKernel<UnsortedSegment<ArithmeticOp::kMax>>, {"T", RealTypes()});
KERNEL(UnsortedSegmentMin, FunctionKernel<UnsortedSegment<ArithmeticOp::kMin>>, {"T", RealTypes()});

}  // namespace
}  // namespace sluice
