#include "ops/loops/scatter_rows.h"

#include "executor/kernel/scratch.h"
#include "graph/ir/graph.h"
#include "ops/loops/elements.h"
#include "ops/loops/row_index.h"
#include "ops/loops/row_shares.h"

namespace sluice {
namespace {

constexpr double kElementCost = 0.5;

bool IsPrefix(const TensorShape& prefix, const TensorShape& of) {
  if (prefix.rank() > of.rank()) return false;
  for (int d = 0; d < prefix.rank(); ++d) {
    if (prefix.dim(d) != of.dim(d)) return false;
  }
  return true;
}

// Updates the rows that start at `offsets` (numbers of elements), in this order. Skips negative
// offsets.
absl::Status UpdateRows(KernelContext& c, ArithmeticOp op, Tensor* params, int64_t row_size,
                        absl::Span<const int64_t> offsets, const Tensor& updates) {
  const bool same_for_all = updates.shape().IsScalar();
  const ArithmeticRow row = same_for_all ? FindArithmeticWithScalar(op, params->dtype())
                                         : FindArithmetic(op, params->dtype());
  if (row == nullptr) {
    return absl::UnimplementedError(
        StrCat(c.node().Describe(), ": no such operation on ", DataTypeName(params->dtype())));
  }
  SLUICE_INVALID_IF(op == ArithmeticOp::kDiv &&
                        HasIntegerZero(updates.dtype(), updates.raw(), updates.num_elements()),
                    "Integer division by zero");
  const auto size = static_cast<int64_t>(ElementStride(params->dtype()));
  char* to = static_cast<char*>(params->raw());
  const char* from = static_cast<const char*>(updates.raw());
  const RowWork work{static_cast<int64_t>(offsets.size()), row_size, size, kElementCost};
  ForRowShares(
      c, work, [&](int64_t i) { return offsets[i]; },
      [&](absl::Span<const int64_t> positions, int64_t begin, int64_t end) {
        for (int64_t i : positions) {
          const char* source = same_for_all ? from : from + (i * row_size + begin) * size;
          row(to + (offsets[i] + begin) * size, source, end - begin);
        }
      });
  return absl::OkStatus();
}

// ScatterNd's indices, seen as `count` positions of `depth` coordinates each.
struct NdLayout {
  int batch_rank;
  int64_t depth;
  int64_t count = 1;

  explicit NdLayout(const TensorShape& indices)
      : batch_rank(indices.rank() > 1 ? indices.rank() - 1 : 1),
        depth(indices.rank() > 1 ? indices.dim(indices.rank() - 1) : 1) {
    for (int d = 0; d < batch_rank; ++d) count *= indices.dim(d);
  }
};

}  // namespace

absl::Status CheckScatter(const TensorShape& params, const Tensor& indices, const Tensor& updates) {
  const TensorShape& given = updates.shape();
  if (given.IsScalar()) return absl::OkStatus();
  bool fits = IsPrefix(indices.shape(), given) && params.rank() > 0 &&
              given.rank() == indices.rank() + params.rank() - 1;
  for (int d = 1; fits && d < params.rank(); ++d) {
    fits = params.dim(d) == given.dim(indices.rank() + d - 1);
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument(
      "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
      "updates.shape ",
      given.ToString(), ", indices.shape ", indices.shape().ToString(), ", params.shape ",
      params.ToString(), ". The shape of indices must be a prefix of the shape of updates");
}

absl::Status ScatterRows(KernelContext& c, ArithmeticOp op, Tensor* params, const Tensor& indices,
                         const Tensor& updates) {
  const RowIndex rows(indices);
  const int64_t limit = params->dim(0);
  SLUICE_RETURN_IF_ERROR(CheckRowsInside(indices, limit));
  if (rows.size() == 0) return absl::OkStatus();
  const int64_t row_size = params->num_elements() / limit;
  auto offsets = Scratch<int64_t>(c, rows.size());
  for (int64_t i = 0; i < rows.size(); ++i) offsets[i] = rows[i] * row_size;
  return UpdateRows(c, op, params, row_size, offsets, updates);
}

namespace {

// Returns whether the slices of the updates have the sizes of the slices of `params`.
bool SlicesFit(const TensorShape& params, const TensorShape& given, const NdLayout& layout) {
  bool fits = layout.depth <= params.rank() &&
              params.rank() - layout.depth == given.rank() - layout.batch_rank;
  for (int d = layout.batch_rank; fits && d < given.rank(); ++d) {
    fits = given.dim(d) == params.dim(static_cast<int>(layout.depth) + d - layout.batch_rank);
  }
  return fits;
}

absl::Status CheckBatch(const Tensor& indices, const TensorShape& given, const NdLayout& layout) {
  for (int d = 0; d < layout.batch_rank; ++d) {
    if (d < given.rank() && given.dim(d) == indices.dim(d)) continue;
    return InvalidArgument(
        "Dimensions [0,", layout.batch_rank, ") of indices[shape=", indices.shape().ToString(),
        "] = ", indices.dim(d), " must match dimensions [0,", layout.batch_rank,
        ") of updates[shape=", given.ToString(), "] = ", d < given.rank() ? given.dim(d) : 0);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckScatterNd(const TensorShape& params, const Tensor& indices,
                            const Tensor& updates) {
  SLUICE_INVALID_IF(params.rank() < 1,
                    "Output must be at least 1-D, got shape: ", params.ToString());
  SLUICE_INVALID_IF(
      params.num_elements() == 0 && (indices.num_elements() > 0 || updates.num_elements() > 0),
      "Indices and updates specified for empty output.  indices shape: ",
      indices.shape().ToString());
  SLUICE_INVALID_IF(indices.rank() < 1, "Indices shape must have rank at least one. Found:",
                    indices.shape().ToString());
  const NdLayout layout(indices.shape());
  const TensorShape& given = updates.shape();
  SLUICE_RETURN_IF_ERROR(CheckBatch(indices, given, layout));
  if (SlicesFit(params, given, layout)) return absl::OkStatus();
  return InvalidArgument(
      "Dimensions [", layout.depth, ",", params.rank(), ") of input[shape=", params.ToString(),
      "] must match dimensions [", layout.batch_rank, ",", given.rank(),
      ") of updates[shape=", given.ToString(), "]: The inner ", params.rank() - layout.depth,
      " dimensions of output.shape=", params.ToString(), " must match the inner ",
      given.rank() - layout.batch_rank, " dimensions of updates.shape=", given.ToString());
}

absl::Status ScatterSlices(KernelContext& c, ArithmeticOp op, BadIndices bad, Tensor* params,
                           const Tensor& indices, const Tensor& updates) {
  // Returns before it stores offsets: there may be very many positions of empty slices.
  if (updates.num_elements() == 0 && indices.num_elements() == 0) return absl::OkStatus();
  const NdLayout layout(indices.shape());
  const RowIndex index(indices);
  int64_t slice = 1;
  for (int d = static_cast<int>(layout.depth); d < params->rank(); ++d) slice *= params->dim(d);
  auto offsets = Scratch<int64_t>(c, layout.count);
  for (int64_t i = 0; i < layout.count; ++i) {
    int64_t position = 0;
    bool inside = true;
    for (int64_t d = 0; d < layout.depth; ++d) {
      const int64_t at = index[i * layout.depth + d];
      inside = inside && at >= 0 && at < params->dim(static_cast<int>(d));
      position = inside ? position * params->dim(static_cast<int>(d)) + at : 0;
    }
    offsets[i] = inside ? position * slice : -1;
    if (inside || bad == BadIndices::kIgnore) continue;
    std::string at;
    for (int64_t d = 0; d < layout.depth; ++d) {
      StrAppend(&at, d > 0 ? ", " : "", index[i * layout.depth + d]);
    }
    const TensorShape batch(indices.shape().dims().subspan(0, layout.batch_rank));
    return InvalidArgument("indices[", PositionText(batch, i), "] = [", at,
                           "] does not index into shape ", params->shape().ToString());
  }
  return UpdateRows(c, op, params, slice, offsets, updates);
}

}  // namespace sluice
