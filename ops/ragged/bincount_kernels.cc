#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/wrapping.h"
#include "ops/ragged/splits.h"

namespace sluice {
namespace {

// Counts the values of each row, or sums their weights, in bins.
template <typename T>
class Bins {
 public:
  // Makes bins for `rows` rows, or for all values if `rows` is -1.
  static absl::StatusOr<Bins> Make(KernelContext& c, const Tensor& size, const Tensor& weights,
                                   const Tensor& values, int64_t rows, bool is_binary) {
    SLUICE_INVALID_IF(size.rank() != 0, "Shape must be rank 0 but is rank ", size.rank());
    const int64_t bins = IntAt(size, 0);
    SLUICE_INVALID_IF(bins < 0, "size (", bins, ") must be non-negative");
    SLUICE_INVALID_IF(
        weights.num_elements() != 0 && weights.num_elements() != values.num_elements(),
        "expected as many weights as values or none, got ", weights.num_elements(), " and ",
        values.num_elements());
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            rows < 0 ? TensorShape::Make({bins}) : TensorShape::Make({rows, bins}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->bytes() > 0) std::memset(out->raw(), 0, out->bytes());
    return Bins(&values, weights.num_elements() == 0 ? nullptr : weights.data<T>(), bins, is_binary,
                out->data<T>());
  }

  // Counts value i in `row`. Returns false if the value is negative.
  bool Count(int64_t row, int64_t i) {
    const int64_t bin = IntAt(*values_, i);
    if (bin < 0) return false;
    if (bin >= bins_) return true;
    T& to = out_[row * bins_ + bin];
    if (is_binary_) {
      to = T(1);
    } else {
      to = WrappingAdd(to, weights_ == nullptr ? T(1) : weights_[i]);
    }
    return true;
  }

 private:
  Bins(const Tensor* values, const T* weights, int64_t bins, bool is_binary, T* out)
      : values_(values), weights_(weights), bins_(bins), is_binary_(is_binary), out_(out) {}
  const Tensor* values_;
  const T* weights_;
  int64_t bins_;
  bool is_binary_;
  T* out_;
};

constexpr char kNegative[] = "Input must be non-negative";
using CountedList = TypeList<int32_t, int64_t, float, double>;

template <typename T>
absl::Status RaggedBincount(KernelContext& c, Attr<bool, "binary_output"> is_binary) {
  const Tensor& values = c.input(1);
  const int64_t count = values.num_elements();
  SLUICE_ASSIGN_OR_RETURN(const Splits splits, SplitsOf(c.input(0), count));
  SLUICE_INVALID_IF(splits.front() != 0, "Splits must start with 0, not with ", splits.front());
  SLUICE_INVALID_IF(splits.back() != count, "Splits must end with the number of values, got ",
                    splits.back(), " instead of ", count);
  const auto rows = static_cast<int64_t>(splits.size()) - 1;
  SLUICE_ASSIGN_OR_RETURN(Bins<T> bins,
                          Bins<T>::Make(c, c.input(2), c.input(3), values, rows, is_binary));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = splits[row]; i < splits[row + 1]; ++i) {
      SLUICE_INVALID_IF(!bins.Count(row, i), kNegative);
    }
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(RaggedBincount, "T", RaggedBincount, CountedList);

template <typename T>
absl::Status SparseBincount(KernelContext& c, Attr<bool, "binary_output"> is_binary) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  SLUICE_INVALID_IF(values.rank() != 1 || indices.rank() != 2 || indices.dim(0) != values.dim(0),
                    "Number of elements in indices (", indices.rank() > 0 ? indices.dim(0) : 1,
                    ") and values (", values.num_elements(),
                    ") do not match: expected a matrix and a vector, got shapes ",
                    indices.shape().ToString(), " and ", values.shape().ToString());
  SLUICE_INVALID_IF(shape.rank() != 1 || shape.num_elements() != indices.dim(1) ||
                        shape.num_elements() < 1 || shape.num_elements() > 2,
                    "expected dense_shape of 1 or 2 elements, as many as indices have "
                    "columns, got shapes ",
                    shape.shape().ToString(), " and ", indices.shape().ToString());
  const bool is_one_row = shape.num_elements() == 1;
  const int64_t rows = is_one_row ? -1 : shape.data<int64_t>()[0];
  SLUICE_INVALID_IF(!is_one_row && rows < 0, "Dimension ", rows, " must be >= 0");
  SLUICE_ASSIGN_OR_RETURN(Bins<T> bins,
                          Bins<T>::Make(c, c.input(3), c.input(4), values, rows, is_binary));
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const int64_t row = is_one_row ? 0 : indices.data<int64_t>()[2 * i];
    SLUICE_INVALID_IF(!is_one_row && (row < 0 || row >= rows), "Sparse index tuple indices[", i,
                      ", :] = [", row, ", ...] is out of bounds: expected less than ", rows);
    SLUICE_INVALID_IF(!bins.Count(row, i), kNegative);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(SparseBincount, "T", SparseBincount, CountedList);

}  // namespace
}  // namespace sluice
