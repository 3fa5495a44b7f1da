#include <algorithm>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/loops/int_tensor.h"
#include "ops/sparse/column.h"

namespace sluice {
namespace {

using cross::Column;
using cross::Columns;

constexpr char kOnlyMatrices[] = "tf.ragged.cross only supports inputs with rank=2.";

absl::StatusOr<Column> RaggedColumn(const Tensor& values, const Tensor& splits) {
  SLUICE_INVALID_IF(values.rank() != 1 || splits.rank() != 1, kOnlyMatrices);
  SLUICE_INVALID_IF(splits.num_elements() == 0,
                    "Invalid ragged splits: expected at least one element, got none");
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < splits.num_elements(); ++i) {
    const int64_t at = IntAt(splits, i);
    SLUICE_INVALID_IF(
        at < (i == 0 ? 0 : starts.back()) || at > values.num_elements() || (i == 0 && at != 0),
        "Invalid ragged splits: ragged splits must be monotonically increasing, but ragged_splits[",
        i, "]=", at, " is not from ", i == 0 ? 0 : starts.back(), " to ",
        i == 0 ? 0 : values.num_elements());
    starts.push_back(at);
  }
  SLUICE_INVALID_IF(starts.back() != values.num_elements(), "Invalid ragged splits: expected ",
                    values.num_elements(), " as the last one, got ", starts.back());
  return Column(values, std::move(starts));
}

absl::Status CheckSparse(const Tensor& indices, const Tensor& values, const Tensor& shape, int i) {
  SLUICE_INVALID_IF(indices.rank() != 2 || values.rank() != 1 || shape.rank() != 1 ||
                        indices.dim(0) != values.dim(0),
                    "Invalid SparseTensor ", i);
  SLUICE_INVALID_IF(shape.num_elements() != 2 || indices.dim(1) != 2, kOnlyMatrices);
  return absl::OkStatus();
}

class RaggedCrossKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    auto kernel = std::unique_ptr<RaggedCrossKernel>(new RaggedCrossKernel(init));
    const auto length = [](const std::pair<int, int>& range) { return range.second - range.first; };
    SLUICE_INVALID_IF(
        length(kernel->ragged_) + length(kernel->sparse_values_) + length(kernel->dense_) !=
            static_cast<int>(kernel->order_.size()),
        "Invalid length for input_order '", kernel->order_, "'");
    return kernel;
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(c));
    SLUICE_RETURN_IF_ERROR(CheckRoom(rows, sizeof(int64_t), "rows"));
    SLUICE_ASSIGN_OR_RETURN(const Columns columns, ColumnsOf(c, rows));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, cross::CrossStarts(columns, rows));
    SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(0, {starts.back()}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * splits, c.AllocateOutput(1, {rows + 1}));
    for (int64_t i = 0; i <= rows; ++i) SetIntAt(*splits, i, starts[static_cast<size_t>(i)]);
    cross::ForEachCross(c, columns, starts,
                        [&](int64_t i, int64_t, const std::vector<int64_t>& at) {
                          if (values->dtype() == DT_STRING) {
                            values->data<std::string>()[i] = cross::JoinText(columns, at, "_X_");
                          } else {
                            values->data<int64_t>()[i] =
                                cross::BucketOf(cross::JoinHash(columns, at, key_), buckets_);
                          }
                        });
    return absl::OkStatus();
  }

 private:
  explicit RaggedCrossKernel(KernelInit& init)
      : ragged_(init.InputRange("ragged_values")),
        splits_(init.InputRange("ragged_row_splits")),
        indices_(init.InputRange("sparse_indices")),
        sparse_values_(init.InputRange("sparse_values")),
        shapes_(init.InputRange("sparse_shape")),
        dense_(init.InputRange("dense_inputs")),
        order_(init.attr<std::string>("input_order")),
        buckets_(init.attr<int64_t>("num_buckets")),
        key_(static_cast<uint64_t>(init.attr<int64_t>("hash_key"))) {}

  // Returns the number of rows, which must be equal for all inputs.
  absl::StatusOr<int64_t> RowsOf(KernelContext& c) const {
    std::vector<int64_t> all;
    for (int i = splits_.first; i < splits_.second; ++i) {
      SLUICE_INVALID_IF(c.input(i).rank() != 1, kOnlyMatrices);
      all.push_back(c.input(i).num_elements() - 1);
    }
    for (int i = dense_.first; i < dense_.second; ++i) {
      SLUICE_INVALID_IF(c.input(i).rank() != 2, kOnlyMatrices);
      all.push_back(c.input(i).dim(0));
    }
    for (int i = 0; i < shapes_.second - shapes_.first; ++i) {
      const Tensor &indices = c.input(indices_.first + i), &shape = c.input(shapes_.first + i);
      const Tensor& values = c.input(sparse_values_.first + i);
      SLUICE_RETURN_IF_ERROR(CheckSparse(indices, values, shape, i));
      all.push_back(shape.data<int64_t>()[0]);
    }
    if (all.empty()) return 0;
    for (int64_t rows : all) {
      if (rows == all[0] && rows >= 0) continue;
      return InvalidArgument("inputs must all have the same batch dimension size.");
    }
    return all[0];
  }

  absl::Status MissingInput(char kind) const {
    const char* what = kind == 'R'   ? "ragged tensor"
                       : kind == 'S' ? "sparse tensor"
                       : kind == 'D' ? "dense tensor"
                                     : nullptr;
    SLUICE_INVALID_IF(what == nullptr, "Unexpected input_order value: '", std::string(1, kind),
                      "' in '", order_, "'");
    return InvalidArgument("input_order \"", order_, "\" specifies reading a ", what,
                           " value at index ", std::count(order_.begin(), order_.end(), kind) - 1,
                           " from a shorter list");
  }

  absl::StatusOr<Columns> ColumnsOf(KernelContext& c, int64_t rows) const {
    Columns columns;
    int ragged = ragged_.first, splits = splits_.first, sparse = 0, dense = dense_.first;
    for (char kind : order_) {
      if (kind == 'R' && ragged < ragged_.second) {
        SLUICE_ASSIGN_OR_RETURN(Column column, RaggedColumn(c.input(ragged++), c.input(splits++)));
        columns.push_back(std::move(column));
      } else if (kind == 'S' && sparse_values_.first + sparse < sparse_values_.second) {
        columns.push_back(SparseColumn(c, sparse++, rows));
      } else if (kind == 'D' && dense < dense_.second) {
        columns.push_back(Column::Dense(c.input(dense++)));
      } else {
        return MissingInput(kind);
      }
    }
    return columns;
  }

  Column SparseColumn(KernelContext& c, int i, int64_t rows) const {
    const Tensor& indices = c.input(indices_.first + i);
    std::vector<int64_t> starts(static_cast<size_t>(rows) + 1);
    int64_t at = 0;
    for (int64_t row = 0; row < rows; ++row) {
      while (at < indices.dim(0) && indices.data<int64_t>()[2 * at] <= row) ++at;
      starts[static_cast<size_t>(row) + 1] = at;
    }
    return Column(c.input(sparse_values_.first + i), std::move(starts));
  }

  const std::pair<int, int> ragged_, splits_, indices_, sparse_values_, shapes_, dense_;
  const std::string order_;
  const int64_t buckets_;
  const uint64_t key_;
};
KERNEL(RaggedCross, RaggedCrossKernel, {"out_row_splits_type", IndexTypes()});

}  // namespace
}  // namespace sluice
