#include "ops/indexing/slice_spec.h"

#include <algorithm>

#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr int kNewAxis = -1;
constexpr int kRemoved = -2;

// The specification of a slice after its ellipsis was expanded: it has one entry per dimension of
// the input.
struct Dense {
  struct Entry {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t stride = 1;
    bool begin_masked = true;
    bool end_masked = true;
    bool removed = false;
  };
  absl::InlinedVector<Entry, 4> entries;
  absl::InlinedVector<int, 4> result;  // number of an input dimension, kNewAxis or kRemoved
};

class Expander {
 public:
  Expander(int rank, std::optional<absl::Span<const int64_t>> begin,
           std::optional<absl::Span<const int64_t>> end, absl::Span<const int64_t> strides,
           const SliceMasks& masks)
      : rank_(rank), begin_(begin), end_(end), strides_(strides), masks_(masks) {}

  absl::StatusOr<Dense> Expand() {
    SLUICE_RETURN_IF_ERROR(FindEllipsis());
    const int count = static_cast<int>(strides_.size());
    for (int i = 0; i < count; ++i) {
      if (i == ellipsis_) {
        FillFromEllipsis(i);
      } else if (Bit(masks_.new_axis, i)) {
        dense_.result.push_back(kNewAxis);
      } else {
        SLUICE_RETURN_IF_ERROR(Take(i));
      }
    }
    if (ellipsis_ == count) FillFromEllipsis(count);
    return std::move(dense_);
  }

 private:
  static bool Bit(int64_t mask, int i) { return ((mask >> i) & 1) != 0; }

  absl::Status FindEllipsis() {
    const int count = static_cast<int>(strides_.size());
    ellipsis_ = count;  // if there is no ellipsis, one is assumed at the end
    for (int i = 0; i < count; ++i) {
      if (ellipsis_ < count && Bit(masks_.new_axis, i)) ++new_axes_after_ellipsis_;
      if (!Bit(masks_.ellipsis, i)) continue;
      SLUICE_INVALID_IF(ellipsis_ < count, "Multiple ellipses in slice spec not allowed");
      ellipsis_ = i;
    }
    return absl::OkStatus();
  }

  // Adds the dimensions that the ellipsis covers: those that no entry after it uses.
  void FillFromEllipsis(int i) {
    const int after = std::max(0, static_cast<int>(strides_.size()) - i - 1);
    const int next = std::min(rank_ - after + new_axes_after_ellipsis_, rank_);
    while (Filled() < next) {
      dense_.result.push_back(Filled());
      dense_.entries.push_back({});
    }
  }

  absl::Status Take(int i) {
    const int d = Filled();
    SLUICE_INVALID_IF(d == rank_, "Index out of range using input dim ", d, "; input has only ",
                      rank_, " dims");
    Dense::Entry e;
    if (begin_) e.begin = (*begin_)[i];
    if (end_) e.end = (*end_)[i];
    e.stride = strides_[i];
    e.begin_masked = Bit(masks_.begin, i);
    e.end_masked = Bit(masks_.end, i);
    e.removed = Bit(masks_.shrink_axis, i);
    dense_.result.push_back(e.removed ? kRemoved : d);
    dense_.entries.push_back(e);
    return absl::OkStatus();
  }

  int Filled() const { return static_cast<int>(dense_.entries.size()); }

  int rank_;
  const std::optional<absl::Span<const int64_t>> begin_;
  const std::optional<absl::Span<const int64_t>> end_;
  absl::Span<const int64_t> strides_;
  const SliceMasks& masks_;
  int ellipsis_ = 0;
  int new_axes_after_ellipsis_ = 0;
  Dense dense_;
};

int64_t Clamp(int64_t x, bool masked, bool at_end, int64_t dim, int64_t stride) {
  const int64_t lowest = stride > 0 ? 0 : -1;
  const int64_t highest = stride > 0 ? dim : dim - 1;
  if (masked) return (stride > 0) == at_end ? highest : lowest;
  if (x < 0) x += dim;
  return std::clamp(x, lowest, highest);
}

int64_t Count(int64_t interval, int64_t stride) {
  if (interval == 0 || (interval < 0) != (stride < 0)) return 0;
  return interval / stride + (interval % stride != 0 ? 1 : 0);
}

absl::StatusOr<SliceSpec::Dim> ResolveRemoved(const Dense::Entry& e, int i, int64_t dim,
                                              bool known) {
  SLUICE_INVALID_IF(e.stride <= 0, "only stride 1 allowed on non-range indexing.");
  SliceSpec::Dim out{0, e.stride, 1};
  if (!known || dim < 0) return out;
  out.begin = e.begin < 0 ? e.begin + dim : e.begin;
  SLUICE_INVALID_IF(out.begin < 0 || out.begin >= dim, "slice index ", e.begin, " of dimension ", i,
                    " out of bounds.");
  return out;
}

// Returns the part of dimension `i` that entry `e` selects. `known` is true if begin and end are
// known.
absl::StatusOr<SliceSpec::Dim> ResolveDim(const Dense::Entry& e, int i, int64_t dim, bool known) {
  SLUICE_INVALID_IF(e.stride == 0, "strides[", i, "] must be non-zero");
  if (e.removed) return ResolveRemoved(e, i, dim, known);
  SliceSpec::Dim out{0, e.stride, -1};
  // As in TensorFlow, the size is unknown even if begin and end are counted from the same side.
  if (dim < 0) return out;
  if (!known && !(e.begin_masked && e.end_masked)) return out;
  out.begin = Clamp(e.begin, e.begin_masked, false, dim, e.stride);
  const int64_t end = Clamp(e.end, e.end_masked, true, dim, e.stride);
  out.size = Count(end - out.begin, e.stride);
  return out;
}

}  // namespace

void SliceMaskAttrs(OpDefBuilder& op) {
  for (const char* mask :
       {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    op.Attr(mask, IntAttr(0));
  }
}

absl::StatusOr<SliceSpec> ResolveSlice(const PartialShape& input,
                                       std::optional<absl::Span<const int64_t>> begin,
                                       std::optional<absl::Span<const int64_t>> end,
                                       absl::Span<const int64_t> strides, const SliceMasks& masks) {
  SLUICE_INVALID_IF(strides.size() > 32, "at most 32 dimensions can be sliced, got ",
                    strides.size());
  SLUICE_ASSIGN_OR_RETURN(const Dense dense,
                          Expander(input.rank(), begin, end, strides, masks).Expand());
  SliceSpec spec;
  for (int i = 0; i < input.rank(); ++i) {
    const Dense::Entry& e = dense.entries[i];
    SLUICE_ASSIGN_OR_RETURN(SliceSpec::Dim d,
                            ResolveDim(e, i, input.dim(i), begin.has_value() && end.has_value()));
    spec.is_identity &= d.stride == 1 && d.begin == 0 && d.size == input.dim(i);
    spec.dims.push_back(d);
  }
  spec.result = PartialShape::Scalar();
  spec.result_dims.assign(input.rank(), -1);
  for (int d : dense.result) {
    if (d == kNewAxis) spec.result.AddDim(1);
    if (d >= 0) {
      spec.result_dims[d] = spec.result.rank();
      spec.result.AddDim(spec.dims[d].size);
    }
  }
  return spec;
}

}  // namespace sluice
