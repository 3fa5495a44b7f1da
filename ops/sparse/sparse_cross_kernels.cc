#include <algorithm>
#include <string_view>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/room.h"
#include "ops/sparse/column.h"
#include "ops/strings/hash.h"

namespace sluice {
namespace {

using cross::Column;
using cross::Columns;

// The range of input numbers that belongs to each list argument.
struct InputRanges {
  explicit InputRanges(const KernelInit& init)
      : indices(init.InputRange("indices")),
        values(init.InputRange("values")),
        shapes(init.InputRange("shapes")),
        dense(init.InputRange("dense_inputs")) {}
  int num_sparse() const { return indices.second - indices.first; }
  int num_dense() const { return dense.second - dense.first; }

  std::pair<int, int> indices, values, shapes, dense;
};

absl::Status CheckSparse(KernelContext& c, const InputRanges& ranges, int i) {
  const Tensor& indices = c.input(ranges.indices.first + i);
  const Tensor& values = c.input(ranges.values.first + i);
  const Tensor& shape = c.input(ranges.shapes.first + i);
  SLUICE_INVALID_IF(indices.rank() != 2, "Input indices should be a matrix but received shape ",
                    indices.shape().ToString(), " at position ", i);
  SLUICE_INVALID_IF(indices.dim(1) != 2, "Expected D2 of index to be 2 got ", indices.dim(1),
                    " at position ", i);
  SLUICE_INVALID_IF(values.rank() != 1, "Input values should be a vector but received shape ",
                    values.shape().ToString(), " at position ", i);
  SLUICE_INVALID_IF(indices.dim(0) != values.dim(0), "Expected size of values to be ",
                    indices.dim(0), " got ", values.dim(0), " at position ", i);
  SLUICE_INVALID_IF(shape.rank() != 1, "Input shapes should be a vector but received shape ",
                    shape.shape().ToString(), " at position ", i);
  SLUICE_INVALID_IF(shape.dim(0) != 2, "shape should imply a 2D tensor, but got ",
                    shape.shape().ToString(), " at position ", i);
  return absl::OkStatus();
}

// Checks the inputs, which must all have the same number of rows.
absl::Status CheckInputs(KernelContext& c, const InputRanges& ranges) {
  const int num_values = ranges.values.second - ranges.values.first;
  SLUICE_INVALID_IF(num_values != ranges.num_sparse(), "Expected ", ranges.num_sparse(),
                    " input values, got ", num_values);
  for (int i = 0; i < ranges.num_sparse(); ++i) {
    SLUICE_RETURN_IF_ERROR(CheckSparse(c, ranges, i));
  }
  for (int i = 0; i < ranges.num_dense(); ++i) {
    const Tensor& dense = c.input(ranges.dense.first + i);
    if (dense.rank() == 2) continue;
    return InvalidArgument("Dense inputs should be a matrix but received shape ",
                           dense.shape().ToString(), " at position ", i);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RowsOf(KernelContext& c, const InputRanges& ranges) {
  SLUICE_RETURN_IF_ERROR(CheckInputs(c, ranges));
  const auto sparse_rows = [&](int i) {
    return c.input(ranges.shapes.first + i).data<int64_t>()[0];
  };
  const auto dense_rows = [&](int i) { return c.input(ranges.dense.first + i).dim(0); };
  const int64_t rows = ranges.num_sparse() > 0  ? sparse_rows(0)
                       : ranges.num_dense() > 0 ? dense_rows(0)
                                                : 0;
  SLUICE_INVALID_IF(rows < 0, "Expected batch size of at least 0, got ", rows);
  for (int i = 0; i < ranges.num_sparse(); ++i) {
    if (sparse_rows(i) == rows) continue;
    return InvalidArgument("Expected batch size ", rows, " got ", sparse_rows(i), " at position ",
                           i);
  }
  for (int i = 0; i < ranges.num_dense(); ++i) {
    if (dense_rows(i) == rows) continue;
    return InvalidArgument("Expected batch size ", rows, " got ", dense_rows(i),
                           " at dense tensor ", i);
  }
  return rows;
}

// Returns the position of the first entry of each row. As in TensorFlow, ignores the entries after
// the first one that is out of order.
std::vector<int64_t> StartsOf(const Tensor& indices, int64_t rows) {
  std::vector<int64_t> starts(static_cast<size_t>(rows) + 1);
  int64_t i = 0;
  for (int64_t row = 0; row < rows; ++row) {
    while (i < indices.dim(0) && indices.data<int64_t>()[2 * i] == row) ++i;
    starts[static_cast<size_t>(row) + 1] = i;
  }
  return starts;
}

absl::StatusOr<Columns> ColumnsOf(KernelContext& c, const InputRanges& ranges, int64_t rows) {
  // Checks the shape first, so that a hostile one does not exhaust the memory.
  SLUICE_RETURN_IF_ERROR(CheckRoom(rows, sizeof(int64_t), "rows"));
  Columns columns;
  for (int i = 0; i < ranges.num_sparse(); ++i) {
    columns.emplace_back(c.input(ranges.values.first + i),
                         StartsOf(c.input(ranges.indices.first + i), rows));
  }
  for (int i = 0; i < ranges.num_dense(); ++i) {
    columns.push_back(Column::Dense(c.input(ranges.dense.first + i)));
  }
  return columns;
}

// Sets all outputs. `value(indices)` computes a cross from the index of a value in each column.
template <typename T, typename F>
absl::Status WriteCrosses(KernelContext& c, const Columns& columns, int64_t rows, const F& value) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, cross::CrossStarts(columns, rows));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape pairs, TensorShape::Make({starts.back(), 2}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, pairs));
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {starts.back()}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * shape, c.AllocateOutput(2, {2}));
  int64_t most = 0;
  for (size_t row = 0; row + 1 < starts.size(); ++row) {
    most = std::max(most, starts[row + 1] - starts[row]);
  }
  shape->data<int64_t>()[0] = rows;
  shape->data<int64_t>()[1] = most;
  cross::ForEachCross(c, columns, starts,
                      [&](int64_t i, int64_t row, const std::vector<int64_t>& at) {
                        indices->data<int64_t>()[2 * i] = row;
                        indices->data<int64_t>()[2 * i + 1] = i - starts[static_cast<size_t>(row)];
                        values->data<T>()[i] = value(at);
                      });
  return absl::OkStatus();
}

class SparseCrossKernel : public Kernel {
 public:
  explicit SparseCrossKernel(KernelInit& init)
      : ranges_(init),
        buckets_(init.attr<int64_t>("num_buckets")),
        key_(static_cast<uint64_t>(init.attr<int64_t>("hash_key"))),
        only_strings_(init.attr<DataType>("internal_type") == DT_STRING) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(c, ranges_));
    SLUICE_ASSIGN_OR_RETURN(const Columns columns, ColumnsOf(c, ranges_, rows));
    for (const Column& column : columns) {
      if (!only_strings_ || column.is_string()) continue;
      return InvalidArgument("Input values should be of internal type string but received int64");
    }
    if (c.output_dtype(1) == DT_STRING) {
      return WriteCrosses<std::string>(c, columns, rows, [&](const std::vector<int64_t>& at) {
        return cross::JoinText(columns, at, "_X_");
      });
    }
    return WriteCrosses<int64_t>(c, columns, rows, [&](const std::vector<int64_t>& at) {
      return cross::BucketOf(cross::JoinHash(columns, at, key_), buckets_);
    });
  }

 private:
  const InputRanges ranges_;
  const int64_t buckets_;
  const uint64_t key_;
  const bool only_strings_;
};
KERNEL(SparseCross, SparseCrossKernel);

absl::Status SparseCrossV2(KernelContext& c, const InputRanges& ranges) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(c, ranges));
  const Tensor& separator = c.input(ranges.dense.second);
  SLUICE_INVALID_IF(separator.rank() != 0,
                    "Input separator should be a scalar. Received: ", separator.ToString());
  SLUICE_ASSIGN_OR_RETURN(const Columns columns, ColumnsOf(c, ranges, rows));
  return WriteCrosses<std::string>(c, columns, rows, [&](const std::vector<int64_t>& at) {
    return cross::JoinText(columns, at, separator.scalar<std::string>());
  });
}
KERNEL(SparseCrossV2, FunctionKernel<SparseCrossV2>);

class SparseCrossHashedKernel : public Kernel {
 public:
  explicit SparseCrossHashedKernel(KernelInit& init) : ranges_(init) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(c, ranges_));
    const int next = ranges_.dense.second;
    const Tensor &buckets = c.input(next), &strong = c.input(next + 1), &salt = c.input(next + 2);
    SLUICE_INVALID_IF(buckets.rank() != 0 || strong.rank() != 0,
                      "num_buckets and strong_hash must be scalars, got shapes ",
                      buckets.shape().ToString(), " and ", strong.shape().ToString());
    SLUICE_INVALID_IF(salt.num_elements() != 2, "Input \"salt\" must have length 2 but has length ",
                      salt.num_elements());
    SLUICE_ASSIGN_OR_RETURN(const Columns columns, ColumnsOf(c, ranges_, rows));
    SLUICE_INVALID_IF(columns.empty() && rows > 0, "expected inputs to cross, got none");
    const Hasher hasher{strong.scalar<bool>(), static_cast<uint64_t>(salt.data<int64_t>()[0]),
                        static_cast<uint64_t>(salt.data<int64_t>()[1])};
    const int num_sparse = ranges_.num_sparse();
    return WriteCrosses<int64_t>(c, columns, rows, [&](const std::vector<int64_t>& at) {
      uint64_t hash = 0;
      for (size_t k = 0; k < columns.size(); ++k) {
        const uint64_t next_hash = hasher(columns[k], at[k], static_cast<int>(k) < num_sparse);
        hash = k == 0 ? next_hash : cross::JoinHashes(hash, next_hash);
      }
      return cross::BucketOf(hash, buckets.scalar<int64_t>());
    });
  }

 private:
  struct Hasher {
    uint64_t operator()(const Column& column, int64_t i, bool is_sparse) const {
      if (column.is_string()) {
        return is_strong ? KeyedHash64(key0, key1, column.String(i)) : column.Hash(i);
      }
      // As in TensorFlow, only the four low bytes of a number are hashed.
      const int64_t number = column.Number(i);
      const std::string_view bytes(reinterpret_cast<const char*>(&number), 4);
      if (is_strong) return KeyedHash64(key0, key1, bytes);
      return is_sparse ? Fingerprint64(bytes) : column.Hash(i);
    }
    bool is_strong;
    uint64_t key0, key1;
  };

  const InputRanges ranges_;
};
KERNEL(SparseCrossHashed, SparseCrossHashedKernel);

}  // namespace
}  // namespace sluice
