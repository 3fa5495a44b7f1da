// Adds up sparse gradients for conditional accumulators (gradient_sum.h).
#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/status.h"
#include "ops/dataflow/gradient_sum.h"
#include "ops/dataflow/scale.h"
#include "ops/loops/arithmetic.h"

namespace sluice {
namespace {

constexpr double kElementCost = 0.4;
constexpr double kRowCost = 5;

// The row of the sum and the row of a gradient that are added to get a row of the merged gradient.
// -1 means that there is none.
struct RowSource {
  int64_t of_sum = -1;
  int64_t of_gradient = -1;
};

// Merges two ascending lists of indices. Lists that do not ascend are merged in their order, and
// indices may be repeated, as in TensorFlow's SparseConditionalAccumulator.
std::vector<RowSource> MergeRows(absl::Span<const int64_t> sum,
                                 absl::Span<const int64_t> gradient) {
  std::vector<RowSource> rows;
  rows.reserve(sum.size() + gradient.size());
  size_t i = 0;
  size_t j = 0;
  while (i < sum.size() || j < gradient.size()) {
    RowSource row;
    const bool take_sum = j == gradient.size() || (i < sum.size() && sum[i] <= gradient[j]);
    const bool take_gradient = i == sum.size() || (j < gradient.size() && gradient[j] <= sum[i]);
    if (take_sum) row.of_sum = static_cast<int64_t>(i++);
    if (take_gradient) row.of_gradient = static_cast<int64_t>(j++);
    rows.push_back(row);
  }
  return rows;
}

class SparseSum : public GradientSum {
 public:
  SparseSum(DataType dtype, PartialShape shape) : dtype_(dtype), shape_(std::move(shape)) {}

  absl::Status Check(GivenGradient gradient, bool has_known_shape) const override {
    const Tensor& indices = *gradient[0];
    const Tensor& values = *gradient[1];
    SLUICE_INVALID_IF(values.dtype() != dtype_, "expected gradients of type ", DataTypeName(dtype_),
                      ", got ", DataTypeName(values.dtype()));
    SLUICE_RETURN_IF_ERROR(
        ExpectRank(indices, 1, "Input indices should be vector but received shape: "));
    SLUICE_INVALID_IF(values.rank() < 1, "Values cannot be 0-dimensional.");
    SLUICE_INVALID_IF(values.dim(0) != indices.dim(0), "Expected ", indices.dim(0),
                      " non-empty input values, got ", values.dim(0));
    if (has_known_shape) SLUICE_RETURN_IF_ERROR(CheckDenseShape(*gradient[2]));
    SLUICE_RETURN_IF_ERROR(CheckLimits(indices));
    return CheckValues(values);
  }

  absl::Status Add(GivenGradient gradient, Allocator& allocator,
                   const Parallel& parallel) override {
    if (!values_.IsInitialized()) {
      counts_.assign(gradient[0]->num_elements(), 1);
      indices_ = gradient[0].Take();
      values_ = gradient[1].Take();
      return absl::OkStatus();
    }
    const std::vector<RowSource> rows =
        MergeRows(indices_.flat<int64_t>(), gradient[0]->flat<int64_t>());
    const int64_t count = static_cast<int64_t>(rows.size());
    SLUICE_ASSIGN_OR_RETURN(Tensor indices, Tensor::Allocate(allocator, DT_INT64, {count}));
    TensorShape shape = gradient[1]->shape();
    shape.set_dim(0, count);
    SLUICE_ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(allocator, dtype_, shape));

    std::vector<int32_t> counts(rows.size());
    for (size_t r = 0; r < rows.size(); ++r) {
      const RowSource& row = rows[r];
      indices.data<int64_t>()[r] = row.of_sum >= 0 ? indices_.data<int64_t>()[row.of_sum]
                                                   : gradient[0]->data<int64_t>()[row.of_gradient];
      counts[r] = (row.of_sum >= 0 ? counts_[row.of_sum] : 0) + (row.of_gradient >= 0 ? 1 : 0);
    }
    AddRows(rows, *gradient[1], parallel, &values);
    indices_ = std::move(indices);
    values_ = std::move(values);
    counts_ = std::move(counts);
    return absl::OkStatus();
  }

  void Take(int64_t count, Taken* taken) override {
    taken->count = count;
    taken->sum.clear();
    taken->sum.push_back(std::move(indices_));
    taken->sum.push_back(std::move(values_));
    indices_.Clear();
    values_.Clear();
    taken->row_counts = std::exchange(counts_, {});
  }

  absl::StatusOr<GradientTensors> Finish(Taken&& taken, Reduction reduction, Allocator& allocator,
                                         const Parallel& parallel) const override {
    Tensor& values = taken.sum[1];
    const std::vector<int32_t>& counts = taken.row_counts;
    const int64_t rows = static_cast<int64_t>(counts.size());
    const int64_t row_size = rows > 0 ? values.num_elements() / rows : 0;
    const bool divides = reduction == Reduction::kMean &&
                         std::any_of(counts.begin(), counts.end(), [](int32_t n) { return n > 1; });
    if (divides) {  // then rows were added, so the buffer belongs to the sum
      char* to = static_cast<char*>(values.raw());
      const int64_t bytes = row_size * static_cast<int64_t>(DataTypeSize(dtype_));
      parallel(rows, RowCost(row_size), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          if (counts[r] > 1) DivideBy(dtype_, to + r * bytes, row_size, counts[r]);
        }
      });
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor shape, Tensor::Allocate(allocator, DT_INT64, {values.rank()}));
    shape.data<int64_t>()[0] = shape_.rank() > 0 ? shape_.dim(0) : PartialShape::kUnknown;
    for (int d = 1; d < values.rank(); ++d) shape.data<int64_t>()[d] = values.dim(d);
    taken.sum.push_back(std::move(shape));
    return std::move(taken.sum);
  }

 private:
  static double RowCost(int64_t row_size) {
    return kRowCost + kElementCost * static_cast<double>(row_size);
  }

  absl::Status CheckDenseShape(const Tensor& given) const {
    SLUICE_INVALID_IF(shape_.rank() > given.num_elements(),
                      "Shape mismatch: expected shape rank at least ", shape_.rank(), ", got ",
                      given.num_elements());
    for (int d = 0; d < shape_.rank(); ++d) {
      const int64_t size = given.data<int64_t>()[d];
      if (shape_.dim(d) < 0 || shape_.dim(d) == size) continue;
      return InvalidArgument("Shape mismatch: expected shape dim ", d, " to be ", shape_.dim(d),
                             ", got ", size);
    }
    return absl::OkStatus();
  }

  absl::Status CheckLimits(const Tensor& indices) const {
    if (shape_.rank() < 1 || shape_.dim(0) < 0) return absl::OkStatus();
    const auto rows = indices.flat<int64_t>();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < shape_.dim(0)) continue;
      return InvalidArgument("Shape mismatch: index of slice ", i,
                             " exceeded limits of shape; index is ", rows[i], " exceeded ",
                             shape_.dim(0));
    }
    return absl::OkStatus();
  }

  // Checks the shape of the values against the rows of the sum or, if it has none, against the
  // declared shape.
  absl::Status CheckValues(const Tensor& values) const {
    const bool have_rows = values_.IsInitialized();
    SLUICE_INVALID_IF(have_rows && values_.rank() != values.rank(),
                      "Shape mismatch: expected values rank ", values_.rank(), ", got ",
                      values.rank());
    SLUICE_INVALID_IF(!have_rows && shape_.rank() > values.rank(),
                      "Shape mismatch: expected values rank at least ", shape_.rank(), ", got ",
                      values.rank());
    const int rank = have_rows ? values_.rank() : shape_.rank();
    for (int d = 1; d < rank; ++d) {
      const int64_t expected = have_rows ? values_.dim(d) : shape_.dim(d);
      if (expected < 0 || expected == values.dim(d)) continue;
      return InvalidArgument("Shape mismatch: expected values dim ", d, " to be ", expected,
                             ", got ", values.dim(d));
    }
    return absl::OkStatus();
  }

  void AddRows(const std::vector<RowSource>& rows, const Tensor& gradient, const Parallel& parallel,
               Tensor* out) const {
    if (rows.empty()) return;
    const ArithmeticRow add = FindArithmetic(ArithmeticOp::kAdd, dtype_);
    const int64_t row_size = out->num_elements() / static_cast<int64_t>(rows.size());
    const int64_t bytes = row_size * static_cast<int64_t>(DataTypeSize(dtype_));
    if (bytes == 0) return;
    char* to = static_cast<char*>(out->raw());
    const char* sum = static_cast<const char*>(values_.raw());
    const char* from = static_cast<const char*>(gradient.raw());
    parallel(static_cast<int64_t>(rows.size()), RowCost(row_size), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const RowSource& row = rows[r];
        const bool is_new = row.of_sum < 0;
        std::memcpy(to + r * bytes,
                    is_new ? from + row.of_gradient * bytes : sum + row.of_sum * bytes, bytes);
        if (!is_new && row.of_gradient >= 0) {
          add(to + r * bytes, from + row.of_gradient * bytes, row_size);
        }
      }
    });
  }

  const DataType dtype_;
  const PartialShape shape_;
  Tensor indices_;
  Tensor values_;                // uninitialised if empty
  std::vector<int32_t> counts_;  // gradients per row
};

}  // namespace

std::unique_ptr<GradientSum> MakeSparseSum(DataType dtype, PartialShape shape) {
  return std::make_unique<SparseSum>(dtype, std::move(shape));
}

}  // namespace sluice
