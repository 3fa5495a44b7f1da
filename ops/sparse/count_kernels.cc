// Kernels of DenseCountSparseOutput, SparseCountSparseOutput and RaggedCountSparseOutput.
#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

// Sums the weights of equal values in each row.
class Counts {
 public:
  explicit Counts(const KernelInit& init)
      : least_(init.attr<int64_t>("minlength")),
        most_(init.attr<int64_t>("maxlength")),
        is_binary_(init.attr<bool>("binary_output")) {}

  // An accepted value, its row, and its index among all values, at which its weight is found.
  struct Entry {
    int64_t row, value, at;
  };
  bool Takes(int64_t value) const { return most_ <= 0 || value < most_; }

  // Outputs the sums as a sparse matrix, or as a sparse vector if `rows` is negative.
  template <typename W>
  absl::Status Output(KernelContext& c, std::vector<Entry> entries, int64_t rows,
                      const Tensor& weights) const {
    int64_t size = std::max<int64_t>(least_, 1);
    for (const Entry& e : entries) size = std::max(size, e.value + 1);
    if (most_ > 0) size = most_;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.row, a.value, a.at) < std::tie(b.row, b.value, b.at);
    });
    const auto is_next = [](const Entry& a, const Entry& b) {
      return a.row != b.row || a.value != b.value;
    };
    int64_t n = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      n += i == 0 || is_next(entries[i - 1], entries[i]) ? 1 : 0;
    }
    const int64_t rank = rows < 0 ? 1 : 2;
    SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {n, rank}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * sums, c.AllocateOutput(1, {n}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * shape, c.AllocateOutput(2, {rank}));
    int64_t* index = indices->data<int64_t>();
    W* sum = sums->data<W>() - 1;
    const W* weight = weights.num_elements() > 0 ? weights.data<W>() : nullptr;
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& e = entries[i];
      if (i == 0 || is_next(entries[i - 1], e)) {
        if (rank == 2) *index++ = e.row;
        *index++ = e.value;
        *++sum = 0;
      }
      *sum = is_binary_ ? W(1) : WrappingAdd(*sum, weight == nullptr ? W(1) : weight[e.at]);
    }
    if (rank == 2) shape->data<int64_t>()[0] = rows;
    shape->data<int64_t>()[rank - 1] = size;
    return absl::OkStatus();
  }

 private:
  const int64_t least_, most_;
  const bool is_binary_;
};

absl::Status CheckValues(const KernelContext& c, const Tensor& values) {
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    SLUICE_INVALID_IF(IntAt(values, i) < 0, c.node().op(), " node '", c.name(),
                      "': Input values must all be non-negative, got ", IntAt(values, i));
  }
  return absl::OkStatus();
}

absl::Status CheckWeights(const KernelContext& c, const Tensor& weights, const Tensor& values,
                          const char* what) {
  if (weights.num_elements() == 0 || weights.shape() == values.shape()) return absl::OkStatus();
  return InvalidArgument(c.node().op(), " node '", c.name(), "': Weights and ", what,
                         " must have the same shape. Weight shape: ", weights.shape().ToString(),
                         "; ", what, " shape: ", values.shape().ToString());
}

template <typename W>
absl::Status DenseCount(KernelContext& c, const Counts& counts) {
  const Tensor &data = c.input(0), &weights = c.input(1);
  SLUICE_INVALID_IF(data.rank() != 1 && data.rank() != 2, "DenseCountSparseOutput node '", c.name(),
                    "': Input must be a 1 or 2-dimensional tensor. Got: ", data.shape().ToString());
  SLUICE_RETURN_IF_ERROR(CheckWeights(c, weights, data, "data"));
  SLUICE_RETURN_IF_ERROR(CheckValues(c, data));
  const int64_t rows = data.rank() == 2 ? data.dim(0) : -1;
  SLUICE_INVALID_IF(rows == 0, "DenseCountSparseOutput node '", c.name(),
                    "': Invalid input: Shapes dimension cannot be 0.");
  const int64_t columns = data.dim(data.rank() - 1);
  std::vector<Counts::Entry> entries;
  for (int64_t i = 0; i < data.num_elements(); ++i) {
    const int64_t value = IntAt(data, i);
    if (counts.Takes(value)) entries.push_back({i / columns, value, i});
  }
  return counts.Output<W>(c, std::move(entries), rows, weights);
}

absl::Status CheckSparse(const KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  SLUICE_INVALID_IF(
      indices.rank() != 2, "SparseCountSparseOutput node '", c.name(),
      "': Input indices must be a 2-dimensional tensor. Got: ", indices.shape().ToString());
  SLUICE_INVALID_IF(values.rank() != 1, "SparseCountSparseOutput node '", c.name(),
                    "': Input values must be a vector. Got: ", values.shape().ToString());
  SLUICE_INVALID_IF(shape.rank() != 1, "SparseCountSparseOutput node '", c.name(),
                    "': Input shape must be a vector. Got: ", shape.shape().ToString());
  SLUICE_INVALID_IF(values.dim(0) != indices.dim(0), "SparseCountSparseOutput node '", c.name(),
                    "': Number of values must match first dimension of indices. Got ",
                    values.dim(0), " values, indices shape: ", indices.shape().ToString());
  SLUICE_INVALID_IF(shape.dim(0) != indices.dim(1), "SparseCountSparseOutput node '", c.name(),
                    "': Number of dimensions must match second dimension of indices. Got ",
                    shape.dim(0), " dimensions, indices shape: ", indices.shape().ToString());
  SLUICE_INVALID_IF(shape.num_elements() == 0, "SparseCountSparseOutput node '", c.name(),
                    "': The shape argument requires at least one element.");
  const int64_t *index = indices.data<int64_t>(), *size = shape.data<int64_t>();
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t d = i % shape.num_elements();
    SLUICE_INVALID_IF(index[i] < 0 || index[i] >= size[d], "SparseCountSparseOutput node '",
                      c.name(), "': Invalid index value at ", i / shape.num_elements(),
                      ": dimension ", d, " has value ", index[i], " which is not in [0, ", size[d],
                      ") (as given by dense shape)");
  }
  return absl::OkStatus();
}

template <typename W>
absl::Status SparseCount(KernelContext& c, const Counts& counts) {
  SLUICE_RETURN_IF_ERROR(CheckSparse(c));
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  SLUICE_RETURN_IF_ERROR(CheckWeights(c, c.input(3), values, "values"));
  SLUICE_RETURN_IF_ERROR(CheckValues(c, values));
  const int64_t rank = shape.num_elements();
  const int64_t rows = rank == 1 ? -1 : shape.data<int64_t>()[0];
  SLUICE_INVALID_IF(rank > 1 && (rows <= 0 || rows >= std::numeric_limits<int32_t>::max()),
                    "SparseCountSparseOutput node '", c.name(), "': Cannot allocate ", rows,
                    " batches, is the dense shape too wide?");
  std::vector<Counts::Entry> entries;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const int64_t value = IntAt(values, i);
    const int64_t row = rank == 1 ? 0 : indices.data<int64_t>()[i * rank];
    if (counts.Takes(value)) entries.push_back({row, value, i});
  }
  return counts.Output<W>(c, std::move(entries), rows, c.input(3));
}

template <typename W>
absl::Status RaggedCount(KernelContext& c, const Counts& counts) {
  const Tensor &splits = c.input(0), &values = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckWeights(c, c.input(2), values, "values"));
  SLUICE_RETURN_IF_ERROR(CheckValues(c, values));
  const int64_t rows = splits.num_elements() - 1, n = values.num_elements();
  const int64_t* split = splits.data<int64_t>();
  SLUICE_INVALID_IF(rows < 1, "RaggedCountSparseOutput node '", c.name(),
                    "': Must provide at least 2 elements for the splits argument");
  SLUICE_INVALID_IF(split[0] != 0, "RaggedCountSparseOutput node '", c.name(),
                    "': Splits must start with 0, not with ", split[0]);
  SLUICE_INVALID_IF(split[rows] != n, "RaggedCountSparseOutput node '", c.name(),
                    "': Splits must end with the number of values, got ", split[rows],
                    " instead of ", n);
  std::vector<Counts::Entry> entries;
  // As in TensorFlow, splits need not ascend. The inner loop ends, because the last split exceeds
  // i.
  int64_t next = 0;
  for (int64_t i = 0; i < n; ++i) {
    while (i >= split[next]) ++next;
    const int64_t value = IntAt(values, i);
    if (counts.Takes(value)) entries.push_back({next - 1, value, i});
  }
  return counts.Output<W>(c, std::move(entries), rows, c.input(2));
}

using CountTypes = TypeList<int32_t, int64_t, float, double>;
FUNCTION_KERNELS(DenseCountSparseOutput, "output_type", DenseCount, CountTypes);
FUNCTION_KERNELS(SparseCountSparseOutput, "output_type", SparseCount, CountTypes);
FUNCTION_KERNELS(RaggedCountSparseOutput, "output_type", RaggedCount, CountTypes);

}  // namespace
}  // namespace sluice
