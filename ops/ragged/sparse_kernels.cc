#include <algorithm>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/ragged/splits.h"

namespace sluice {
namespace {

class RaggedTensorToSparseKernel : public Kernel {
 public:
  explicit RaggedTensorToSparseKernel(KernelInit& init)
      : ragged_rank_(init.InputRange("rt_nested_splits").second) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& values = c.input(ragged_rank_);
    SLUICE_ASSIGN_OR_RETURN(const std::vector<Splits> splits, Read(c, values));
    const int rank = ragged_rank_ + values.rank();
    SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, {values.num_elements(), rank}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * shape, c.AllocateOutput(2, {rank}));
    c.set_output(1, values.Reshaped(TensorShape({values.num_elements()})));
    WriteIndices(splits, values, rank, indices->data<int64_t>());
    int64_t* sizes = shape->data<int64_t>();
    sizes[0] = static_cast<int64_t>(splits[0].size()) - 1;
    for (size_t d = 0; d < splits.size(); ++d) {
      int64_t longest = 0;
      for (size_t i = 1; i < splits[d].size(); ++i) {
        longest = std::max(longest, splits[d][i] - splits[d][i - 1]);
      }
      sizes[d + 1] = longest;
    }
    for (int d = 1; d < values.rank(); ++d) sizes[ragged_rank_ + d] = values.dim(d);
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<std::vector<Splits>> Read(KernelContext& c, const Tensor& values) const {
    SLUICE_INVALID_IF(values.rank() == 0, "rt_dense_values must have rank >= 1");
    SLUICE_ASSIGN_OR_RETURN(std::vector<Splits> all,
                            NestedSplitsOf(c, ragged_rank_, values.dim(0)));
    int64_t count = values.dim(0);
    for (int i = ragged_rank_ - 1; i >= 0; --i) {
      const Splits& splits = all[static_cast<size_t>(i)];
      SLUICE_INVALID_IF(splits.front() != 0, "First value of ragged splits must be 0, got ",
                        splits.front());
      SLUICE_INVALID_IF(splits.back() != count,
                        "Final value of ragged splits must match the length the corresponding "
                        "ragged values, got ",
                        splits.back(), " for ", count);
      count = static_cast<int64_t>(splits.size()) - 1;
    }
    return all;
  }

  // Writes the index of each value: the row in each ragged dimension, the position in the last
  // ragged dimension, and the position inside the value.
  static void WriteIndices(const std::vector<Splits>& splits, const Tensor& values, int rank,
                           int64_t* out) {
    // Returns early if there are no values, because there may be very many empty rows.
    if (values.num_elements() == 0) return;
    const int64_t length = values.num_elements() / values.dim(0);
    std::vector<size_t> at(splits.size(), 0);  // the current row of each dimension
    for (int64_t i = 0; i < values.dim(0); ++i) {
      int64_t inside = i;
      for (size_t d = splits.size(); d-- > 0;) {
        while (splits[d][at[d] + 1] <= inside) ++at[d];
        inside = static_cast<int64_t>(at[d]);
      }
      for (int64_t k = 0; k < length; ++k, out += rank) {
        out[0] = static_cast<int64_t>(at[0]);
        for (size_t d = 0; d < splits.size(); ++d) {
          const int64_t child = d + 1 < splits.size() ? static_cast<int64_t>(at[d + 1]) : i;
          out[d + 1] = child - splits[d][at[d]];
        }
        int64_t rest = k;
        for (int d = values.rank() - 1; d > 0; --d) {
          out[splits.size() + static_cast<size_t>(d)] = rest % values.dim(d);
          rest /= values.dim(d);
        }
      }
    }
  }

  const int ragged_rank_;
};
KERNEL(RaggedTensorToSparse, RaggedTensorToSparseKernel);

}  // namespace
}  // namespace sluice
