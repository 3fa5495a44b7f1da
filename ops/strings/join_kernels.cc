// Kernels that join strings.
#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::Status StringJoin(KernelContext& c, const Attr<std::string, "separator">& separator) {
  TensorShape shape;
  bool has_shape = false;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const TensorShape& input = c.input(i).shape();
    if (input.IsScalar()) continue;
    SLUICE_INVALID_IF(has_shape && !(input == shape),
                      "Input shapes do not match: ", shape.ToString(), " vs. ", input.ToString());
    shape = input;
    has_shape = true;
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  for (int64_t at = 0; at < shape.num_elements(); ++at) {
    std::string& joined = out->data<std::string>()[at];
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Tensor& input = c.input(i);
      if (i > 0) joined += separator.value;
      joined += input.data<std::string>()[input.shape().IsScalar() ? 0 : at];
    }
  }
  return absl::OkStatus();
}

KERNEL(StringJoin, FunctionKernel<StringJoin>);

class ReduceJoinKernel : public Kernel {
 public:
  explicit ReduceJoinKernel(KernelInit& init)
      : keep_dims_(init.attr<bool>("keep_dims")), separator_(init.attr<std::string>("separator")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& input = c.input(0);
    const int rank = input.rank();
    std::vector<int> axes;
    std::vector<bool> joined(static_cast<size_t>(rank));
    for (int32_t axis : c.input(1).flat<int32_t>()) {
      if (axis < -rank || axis >= rank) {
        return absl::OutOfRangeError(StrCat("Invalid reduction dimension ", axis,
                                            " for input with ", rank, " dimension(s)"));
      }
      const int own = axis < 0 ? axis + rank : axis;
      SLUICE_INVALID_IF(joined[own], "Duplicate reduction dimension ", own);
      joined[own] = true;
      axes.push_back(own);
    }
    std::reverse(axes.begin(), axes.end());
    return Join(c, input, axes, joined);
  }

 private:
  // Joins along `axes`. The last of them, which was given first, varies fastest.
  absl::Status Join(KernelContext& c, const Tensor& input, const std::vector<int>& axes,
                    const std::vector<bool>& joined) const {
    const int rank = input.rank();
    std::vector<int64_t> sizes;
    std::vector<int> kept;
    for (int d = 0; d < rank; ++d) {
      if (!joined[d]) kept.push_back(d);
      if (!joined[d] || keep_dims_) sizes.push_back(joined[d] ? 1 : input.dim(d));
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(sizes));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (input.num_elements() == 0) return absl::OkStatus();  // its sizes may be huge
    const int64_t parts = input.num_elements() / out->num_elements();
    std::vector<int64_t> strides(static_cast<size_t>(rank), 1);
    for (int d = rank - 2; d >= 0; --d) strides[d] = strides[d + 1] * input.dim(d + 1);
    const auto offset = [&](int64_t i, const std::vector<int>& dims) {
      int64_t at = 0;
      for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
        at += i % input.dim(*d) * strides[*d];
        i /= input.dim(*d);
      }
      return at;
    };
    for (int64_t i = 0; i < out->num_elements(); ++i) {
      const int64_t start = offset(i, kept);
      std::string& text = out->data<std::string>()[i];
      for (int64_t k = 0; k < parts; ++k) {
        if (k > 0) text += separator_;
        text += input.data<std::string>()[start + offset(k, axes)];
      }
    }
    return absl::OkStatus();
  }

  const bool keep_dims_;
  const std::string separator_;
};
KERNEL(ReduceJoin, ReduceJoinKernel);

}  // namespace
}  // namespace sluice
