// Kernels of the ops on tensors that stay in the session between steps (session_handle.cc).
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/staging/session_tensors.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

class GetSessionHandleKernel : public Kernel {
 public:
  explicit GetSessionHandleKernel(KernelInit& init)
      : device_(init.device_name()), is_resource_(init.output_type(0) == DT_RESOURCE) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const auto tensors, SessionTensors::Of(c.resources()));
    std::string handle = tensors->Add(c.name(), device_, c.input(0));
    if (!is_resource_) {
      c.set_output(0, Tensor::Scalar(std::move(handle)));
      return absl::OkStatus();
    }
    ResourceHandle resource;
    resource.device = device_;
    resource.container = ResourceManager::kDefaultContainer;
    resource.name = std::move(handle);
    resource.type_name = "TensorHandle";
    c.set_output(0, Tensor::Scalar(std::move(resource)));
    return absl::OkStatus();
  }

 private:
  const std::string device_;
  const bool is_resource_;
};

absl::StatusOr<std::string> HandleIn(KernelContext& c) {
  if (c.input(0).num_elements() == 1) return c.input(0).scalar<std::string>();
  return InvalidArgument("handle must be scalar, got shape ", c.input(0).shape().ToString());
}

absl::Status GetSessionTensor(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string handle, HandleIn(c));
  SLUICE_ASSIGN_OR_RETURN(const auto tensors, SessionTensors::Of(c.resources()));
  SLUICE_ASSIGN_OR_RETURN(Tensor value, tensors->Get(handle));
  SLUICE_INVALID_IF(value.dtype() != c.output_dtype(0), "expected a handle of a tensor of type ",
                    DataTypeName(c.output_dtype(0)), ", got one of type ",
                    DataTypeName(value.dtype()));
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status DeleteSessionTensor(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string handle, HandleIn(c));
  SLUICE_ASSIGN_OR_RETURN(const auto tensors, SessionTensors::Of(c.resources()));
  return tensors->Delete(handle);
}

KERNEL(DeleteSessionTensor, CheapFunctionKernel<DeleteSessionTensor>);
KERNEL(GetSessionHandle, GetSessionHandleKernel);
KERNEL(GetSessionHandleV2, GetSessionHandleKernel);
KERNEL(GetSessionTensor, CheapFunctionKernel<GetSessionTensor>);

}  // namespace
}  // namespace sluice
