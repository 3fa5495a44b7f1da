#include "executor/kernel/context.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

class StringJoinKernel final : public Kernel {
 public:
  explicit StringJoinKernel(KernelInit& init) : separator_(init.attr<std::string>("separator")) {}

  absl::Status Compute(KernelContext& c) override {
    TensorShape shape;
    bool has_shape = false;
    for (int i = 0; i < c.num_inputs(); ++i) {
      const TensorShape& input = c.input(i).shape();
      if (input.IsScalar()) continue;
      if (has_shape && !(input == shape)) {
        return InvalidArgument("Input shapes do not match: ", shape.ToString(), " vs. ",
                               input.ToString());
      }
      shape = input;
      has_shape = true;
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    for (int64_t at = 0; at < shape.num_elements(); ++at) {
      std::string& joined = out->data<std::string>()[at];
      for (int i = 0; i < c.num_inputs(); ++i) {
        const Tensor& input = c.input(i);
        if (i > 0) joined += separator_;
        joined += input.data<std::string>()[input.shape().IsScalar() ? 0 : at];
      }
    }
    return absl::OkStatus();
  }

 private:
  const std::string separator_;
};

KERNEL(StringJoin, StringJoinKernel);

}  // namespace
}  // namespace sluice
