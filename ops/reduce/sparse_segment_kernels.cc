#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

enum class Kind { kSum, kMean, kSqrtN };

// Returns the factor of a sum of n rows.
template <typename A>
A Scale(Kind kind, int64_t n) {
  if (kind == Kind::kMean) return static_cast<A>(1.0 / static_cast<double>(n));
  if (kind == Kind::kSqrtN) return static_cast<A>(1.0 / std::sqrt(static_cast<double>(n)));
  return A(1);
}

// Pairs of a row and a segment: row indices[i] of the table belongs to segment ids[i].
struct Pairs {
  std::vector<int64_t> indices;
  std::vector<int64_t> ids;
  int64_t size() const { return static_cast<int64_t>(ids.size()); }
};

absl::StatusOr<Pairs> ReadPairs(KernelContext& c) {
  const Tensor& indices = c.input(1);
  const Tensor& ids = c.input(2);
  SLUICE_INVALID_IF(c.input(0).rank() < 1, "input must be at least rank 1");
  SLUICE_INVALID_IF(indices.rank() != 1, "indices should be a vector.");
  SLUICE_INVALID_IF(ids.rank() != 1, "segment_ids should be a vector.");
  SLUICE_INVALID_IF(indices.dim(0) != ids.dim(0), "segment_ids and indices should have same size.");
  Pairs pairs;
  for (int64_t i = 0; i < ids.dim(0); ++i) {
    pairs.indices.push_back(IntAt(indices, i));
    pairs.ids.push_back(IntAt(ids, i));
  }
  return pairs;
}

absl::StatusOr<int64_t> ReadScalar(const Tensor& t, const char* name) {
  SLUICE_INVALID_IF(!t.shape().IsScalar(), name, " should be a scalar, not shape ",
                    t.shape().ToString());
  SLUICE_INVALID_IF(IntAt(t, 0) < 0, name, " must be >= 0, got ", IntAt(t, 0));
  return IntAt(t, 0);
}

absl::Status CheckForward(const Pairs& p, int64_t table_rows, int64_t segments) {
  for (int64_t i = 0; i < p.size(); ++i) {
    SLUICE_INVALID_IF(p.ids[i] < 0, "Segment id ", p.ids[i],
                      " is out of range, possibly because 'segment_ids' input is not sorted: "
                      "segment ids must be >= 0");
    SLUICE_INVALID_IF(i > 0 && p.ids[i] < p.ids[i - 1], "segment ids are not increasing");
    SLUICE_INVALID_IF(p.ids[i] >= segments, "segment ids must be < num_segments: ", p.ids[i],
                      " vs. ", segments);
    SLUICE_INVALID_IF(p.indices[i] < 0 || p.indices[i] >= table_rows, "Bad: indices[", i,
                      "] == ", p.indices[i], " out of range [0, ", table_rows, ")");
  }
  return absl::OkStatus();
}

template <typename T>
void SumSegments(Kind kind, const Pairs& p, const T* table, int64_t width, T* out) {
  using A = Wide<T>;
  std::vector<A> sum(width);
  for (int64_t i = 0; i < p.size();) {
    const int64_t first = i, id = p.ids[i];
    std::fill(sum.begin(), sum.end(), A(0));
    for (; i < p.size() && p.ids[i] == id; ++i) {
      const T* row = table + p.indices[i] * width;
      for (int64_t k = 0; k < width; ++k) sum[k] = WrappingAdd(sum[k], static_cast<A>(row[k]));
    }
    const A scale = Scale<A>(kind, i - first);
    for (int64_t k = 0; k < width; ++k) out[id * width + k] = static_cast<T>(sum[k] * scale);
  }
}

template <Kind kKind, bool kNumSegments>
struct Forward {
  template <typename T>
  static absl::Status Run(KernelContext& c) {
    const Tensor& data = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(const Pairs pairs, ReadPairs(c));
    int64_t segments = 0;
    for (int64_t id : pairs.ids) segments = std::max(segments, SaturatedSum(id, 1));
    if constexpr (kNumSegments) {
      SLUICE_ASSIGN_OR_RETURN(segments, ReadScalar(c.input(3), "num_segments"));
    }
    SLUICE_RETURN_IF_ERROR(CheckForward(pairs, data.dim(0), segments));
    absl::InlinedVector<int64_t, 8> dims(data.shape().dims().begin(), data.shape().dims().end());
    dims[0] = segments;
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    std::fill_n(out->data<T>(), shape.num_elements(), T(0));
    if (out->num_elements() == 0 || pairs.size() == 0) return absl::OkStatus();
    SumSegments(kKind, pairs, data.data<T>(), data.num_elements() / data.dim(0), out->data<T>());
    return absl::OkStatus();
  }
};

// Returns the sizes of the segments, or nothing if the gradient has no elements.
absl::StatusOr<std::vector<int64_t>> SegmentSizes(const Pairs& p, const Tensor& grad) {
  const int64_t segments = grad.dim(0);
  std::vector<int64_t> sizes(grad.num_elements() == 0 ? 0 : segments, 0);
  for (int64_t id : p.ids) {
    SLUICE_INVALID_IF(id < 0 || id >= segments, "Invalid number of segments: Segment id ", id,
                      " out of range [0, ", segments, ")");
    if (!sizes.empty()) ++sizes[id];
  }
  return sizes;
}

absl::Status CheckIndices(const Pairs& p, int64_t rows) {
  for (int64_t at : p.indices) {
    SLUICE_INVALID_IF(at < 0 || at >= rows, "Index ", at, " out of range [0, ", rows, ")");
  }
  return absl::OkStatus();
}

// For each pair i, adds the scaled row of its segment to row rows[i] of the output.
template <typename T>
absl::Status SpreadSegments(KernelContext& c, Kind kind, const Pairs& p,
                            const std::vector<int64_t>& sizes, const std::vector<int64_t>& rows,
                            int64_t result_rows) {
  using A = Wide<T>;
  const Tensor& grad = c.input(0);
  absl::InlinedVector<int64_t, 8> dims(grad.shape().dims().begin(), grad.shape().dims().end());
  dims[0] = result_rows;
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (grad.num_elements() == 0 || shape.num_elements() == 0) {
    std::fill_n(out->data<T>(), shape.num_elements(), T(0));
    return absl::OkStatus();
  }
  Tensor sum = *out;
  if constexpr (!std::is_same_v<A, T>) {
    SLUICE_ASSIGN_OR_RETURN(sum, c.AllocateTemp(kDataTypeOf<A>, shape));
  }
  std::fill_n(sum.data<A>(), shape.num_elements(), A(0));
  const int64_t width = shape.num_elements() / result_rows;
  for (int64_t i = 0; i < p.size(); ++i) {
    const A scale = Scale<A>(kind, sizes[p.ids[i]]);
    const T* from = grad.data<T>() + p.ids[i] * width;
    A* to = sum.data<A>() + rows[i] * width;
    for (int64_t k = 0; k < width; ++k) to[k] += static_cast<A>(from[k]) * scale;
  }
  if constexpr (!std::is_same_v<A, T>) {
    std::transform(sum.data<A>(), sum.data<A>() + shape.num_elements(), out->data<T>(),
                   [](A v) { return static_cast<T>(v); });
  }
  return absl::OkStatus();
}

template <Kind kKind>
struct Gradient {
  template <typename T>
  static absl::Status Run(KernelContext& c) {
    SLUICE_ASSIGN_OR_RETURN(const Pairs pairs, ReadPairs(c));
    SLUICE_ASSIGN_OR_RETURN(const int64_t rows, ReadScalar(c.input(3), "output_dim0"));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, SegmentSizes(pairs, c.input(0)));
    SLUICE_RETURN_IF_ERROR(CheckIndices(pairs, rows));
    return SpreadSegments<T>(c, kKind, pairs, sizes, pairs.indices, rows);
  }
};

template <Kind kKind>
struct GradientV2 {
  template <typename T>
  static absl::Status Run(KernelContext& c) {
    SLUICE_ASSIGN_OR_RETURN(const Pairs pairs, ReadPairs(c));
    SLUICE_ASSIGN_OR_RETURN(const int64_t dense, ReadScalar(c.input(3), "dense_output_dim0"));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, SegmentSizes(pairs, c.input(0)));
    SLUICE_RETURN_IF_ERROR(CheckIndices(pairs, dense));
    std::vector<int64_t> used = pairs.indices;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::vector<int64_t> rows;
    for (int64_t at : pairs.indices) {
      rows.push_back(std::lower_bound(used.begin(), used.end(), at) - used.begin());
    }
    const int64_t count = static_cast<int64_t>(used.size());
    SLUICE_ASSIGN_OR_RETURN(Tensor * unique, c.AllocateOutput(1, {count}));
    for (int64_t i = 0; i < count; ++i) SetIntAt(*unique, i, used[i]);
    return SpreadSegments<T>(c, kKind, pairs, sizes, rows, count);
  }
};

// Registers the static member template Run of a class for each type in a list.
#define SLUICE_SPARSE_SEGMENT_KERNELS(op, types, ...)      \
  template <typename T>                                    \
  using op##Kernel = FunctionKernel<&__VA_ARGS__::Run<T>>; \
  KERNELS(op, "T", op##Kernel, types)
#define SLUICE_SPARSE_SEGMENT_FAMILY(kind, types)                                               \
  SLUICE_SPARSE_SEGMENT_KERNELS(SparseSegment##kind, types, Forward<Kind::k##kind, false>);     \
  SLUICE_SPARSE_SEGMENT_KERNELS(SparseSegment##kind##WithNumSegments, types,                    \
                                Forward<Kind::k##kind, true>);                                  \
  SLUICE_SPARSE_SEGMENT_KERNELS(SparseSegment##kind##Grad, FloatList, Gradient<Kind::k##kind>); \
  SLUICE_SPARSE_SEGMENT_KERNELS(SparseSegment##kind##GradV2, FloatList, GradientV2<Kind::k##kind>)
SLUICE_SPARSE_SEGMENT_FAMILY(Sum, RealList);
SLUICE_SPARSE_SEGMENT_FAMILY(Mean, FloatList);
SLUICE_SPARSE_SEGMENT_FAMILY(SqrtN, FloatList);
#undef SLUICE_SPARSE_SEGMENT_FAMILY
#undef SLUICE_SPARSE_SEGMENT_KERNELS

}  // namespace
}  // namespace sluice
