#include <cmath>
#include <limits>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/elements.h"
#include "ops/loops/strided_copy.h"
#include "ops/loops/wrapping.h"
#include "ops/ragged/splits.h"

namespace sluice {
namespace {

// The result of a gather, as splits and as ranges of values.
struct Gathered {
  std::vector<Splits> splits;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  int64_t num_values = 0;
};

// Sets the splits of all dimensions of the indices except the last one.
absl::Status AddEvenSplits(const Tensor& indices, Gathered* out) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < indices.rank(); ++d) {
    rows = SaturatedProduct(rows, indices.dim(d));
    SLUICE_RETURN_IF_ERROR(CheckRoom(rows, sizeof(int64_t), "splits"));
    out->splits[d] = EvenSplits(rows, indices.dim(d + 1));
  }
  return absl::OkStatus();
}

// Checks the memory for the splits of the result. An index may occur any number of times, so that
// few bytes of input yield many splits.
absl::Status CheckSplits(KernelContext& c, const Tensor& indices,
                         const std::vector<Splits>& params) {
  const auto rows = static_cast<int64_t>(params[0].size()) - 1;
  int64_t count = 0;
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t row = IntAt(indices, i);
    SLUICE_INVALID_IF(row < 0 || row >= rows, "indices[", i, "] = ", row, " is not in [0, ", rows,
                      ")");
    int64_t begin = row, end = row + 1;
    for (const Splits& splits : params) {
      count = SaturatedSum(count, end - begin);
      begin = splits[begin];
      end = splits[end];
    }
  }
  return c.AllocateTemp(DT_INT64, {count}).status();
}

// The indices are in range.
absl::StatusOr<Gathered> Gather(const Tensor& indices, const std::vector<Splits>& params) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const int before = indices.rank() - 1;  // -1 for a scalar, because it removes a dimension
  Gathered out;
  out.splits.assign(static_cast<size_t>(before) + params.size(), {0});
  SLUICE_RETURN_IF_ERROR(AddEvenSplits(indices, &out));
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t row = IntAt(indices, i);
    int64_t begin = row, end = row + 1;
    for (size_t d = 0; d < params.size(); ++d) {
      const int to = static_cast<int>(d) + before;
      if (to >= 0) {
        Splits& splits = out.splits[static_cast<size_t>(to)];
        SLUICE_INVALID_IF(SaturatedSum(splits.back(), params[d][end] - params[d][begin]) == kMax,
                          "expected at most ", kMax, " values, got more up to index ", i);
        const int64_t shift = splits.back() - params[d][begin];
        for (int64_t j = begin; j < end; ++j) splits.push_back(params[d][j + 1] + shift);
      }
      begin = params[d][begin];
      end = params[d][end];
    }
    if (begin == end) continue;
    out.ranges.emplace_back(begin, end);
    out.num_values += end - begin;
  }
  return out;
}

class RaggedGatherKernel : public Kernel {
 public:
  explicit RaggedGatherKernel(KernelInit& init)
      : num_params_(init.InputRange("params_nested_splits").second) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &values = c.input(num_params_), &indices = c.input(num_params_ + 1);
    SLUICE_INVALID_IF(values.rank() == 0, "params.rank must be nonzero");
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Splits> params,
                            NestedSplitsOf(c, num_params_, values.dim(0)));
    SLUICE_INVALID_IF(indices.rank() - 1 + num_params_ != c.num_outputs() - 1,
                      "expected OUTPUT_RAGGED_RANK to be ", indices.rank() - 1 + num_params_,
                      ", got ", c.num_outputs() - 1);
    SLUICE_RETURN_IF_ERROR(CheckSplits(c, indices, params));
    SLUICE_ASSIGN_OR_RETURN(const Gathered gathered, Gather(indices, params));
    for (size_t k = 0; k < gathered.splits.size(); ++k) {
      const auto length = static_cast<int64_t>(gathered.splits[k].size());
      SLUICE_ASSIGN_OR_RETURN(Tensor * splits, c.AllocateOutput(static_cast<int>(k), {length}));
      for (int64_t i = 0; i < length; ++i) SetIntAt(*splits, i, gathered.splits[k][i]);
    }
    return CopyValues(c, values, gathered);
  }

 private:
  static absl::Status CopyValues(KernelContext& c, const Tensor& values, const Gathered& gathered) {
    std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
    dims[0] = gathered.num_values;
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(c.num_outputs() - 1, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    const int64_t length = values.num_elements() / values.dim(0);
    const size_t size = ElementStride(values.dtype());
    int64_t to = 0;
    for (const auto& [begin, end] : gathered.ranges) {
      CopyElements(c, values.dtype(), ElementAt(values.raw(), begin * length, size),
                   ElementAt(out->raw(), to * length, size), (end - begin) * length);
      to += end - begin;
    }
    return absl::OkStatus();
  }

  const int num_params_;
};
KERNEL(RaggedGather, RaggedGatherKernel);

// Returns the number of elements of start, start + delta, … up to and excluding limit.
template <typename T>
absl::StatusOr<int64_t> LengthOf(T start, T limit, T delta) {
  SLUICE_INVALID_IF(delta == T(0), "Requires delta != 0");
  if ((delta > T(0) && limit < start) || (delta < T(0) && limit > start)) return 0;
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U distance = delta > 0 ? U(limit) - U(start) : U(start) - U(limit);
    const U step = delta > 0 ? U(delta) : U(0) - U(delta);
    return static_cast<int64_t>(distance / step + (distance % step != 0 ? 1 : 0));
  } else {
    const T length = std::ceil(std::abs((limit - start) / delta));
    SLUICE_INVALID_IF(
        !(length <= static_cast<T>(std::numeric_limits<int64_t>::max() / 2)),
        "Requires ((limit - start) / delta) <= ", std::numeric_limits<int64_t>::max());
    return static_cast<int64_t>(length);
  }
}

// Returns the number of ranges.
absl::StatusOr<int64_t> NumRanges(const KernelContext& c) {
  static constexpr const char* kNames[] = {"starts", "limits", "deltas"};
  int64_t rows = -1;
  for (int i = 0; i < 3; ++i) {
    const Tensor& t = c.input(i);
    SLUICE_INVALID_IF(t.rank() > 1, kNames[i], " must be a scalar or vector");
    if (t.rank() == 0) continue;
    SLUICE_INVALID_IF(rows >= 0 && rows != t.dim(0),
                      "starts, limits, and deltas must have the same shape");
    rows = t.dim(0);
  }
  return rows < 0 ? 1 : rows;
}

template <typename T>
absl::Status RaggedRange(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const int64_t rows, NumRanges(c));
  const auto at = [&](int i, int64_t row) {
    return c.input(i).data<T>()[c.input(i).rank() == 0 ? 0 : row];
  };
  SLUICE_ASSIGN_OR_RETURN(Tensor * splits, c.AllocateOutput(0, {rows + 1}));
  const int64_t most = splits->dtype() == DT_INT32 ? std::numeric_limits<int32_t>::max()
                                                   : std::numeric_limits<int64_t>::max();
  SetIntAt(*splits, 0, 0);
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t length, LengthOf<T>(at(0, row), at(1, row), at(2, row)));
    SLUICE_INVALID_IF(length < 0 || length > most - total, "expected at most ", most,
                      " elements, got more up to row ", row);
    total += length;
    SetIntAt(*splits, row + 1, total);
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, {total}));
  T* out = values->data<T>();
  for (int64_t row = 0; row < rows; ++row) {
    T value = at(0, row);
    for (int64_t i = IntAt(*splits, row); i < IntAt(*splits, row + 1); ++i) {
      out[i] = value;
      value = WrappingAdd(value, at(2, row));  // after the last value, it may wrap around
    }
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(RaggedRange, "T", RaggedRange, TypeList<int32_t, int64_t, float, double>);

}  // namespace
}  // namespace sluice
