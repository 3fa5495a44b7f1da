#include "ops/state/named_resource.h"

#include "graph/ir/graph.h"

namespace sluice {

NamedResourceKernel::NamedResourceKernel(const std::string& device, const ResourceName& name,
                                         const char* type_name, bool by_reference,
                                         std::shared_ptr<void> object, std::function<void()> remove)
    : strings_(Tensor::Vector<std::string>({name.container, name.name})),
      by_reference_(by_reference),
      remove_(std::move(remove)) {
  ResourceHandle handle;
  handle.device = device;
  handle.container = name.container;
  handle.name = name.name;
  handle.type_name = handle.type = type_name;
  handle.object = std::move(object);
  handle_ = Tensor::Scalar(std::move(handle));
}

NamedResourceKernel::~NamedResourceKernel() {
  if (remove_) remove_();
}

absl::Status NamedResourceKernel::Compute(KernelContext& c) {
  if (by_reference_) {
    c.set_output_ref(0, &claim_, &strings_);
  } else {
    c.set_output(0, handle_);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<std::string, std::string>> NameInStrings(const KernelContext& c, int i) {
  Tensor strings;
  if (c.input_is_ref(i)) {
    const RefInput ref = c.ref_input(i);
    std::lock_guard lock(*ref.claim);
    strings = *ref.tensor;
  } else {
    strings = c.input(i);
  }
  SLUICE_INVALID_IF(
      strings.dtype() != DT_STRING || strings.num_elements() != 2 || !strings.IsInitialized(),
      "Resource handle must have 2 elements, but had shape: ", strings.shape().ToString());
  return std::pair(strings.data<std::string>()[0], strings.data<std::string>()[1]);
}

absl::Status WrongHandle(const KernelContext& c, int i, const char* expected_type) {
  const Tensor& t = c.input(i);
  SLUICE_INVALID_IF(t.dtype() != DT_RESOURCE || t.num_elements() != 1 || !t.IsInitialized(),
                    c.node().Describe(), ": expected one resource handle as input ", i, ", got ",
                    DataTypeName(t.dtype()), t.shape().ToString());
  const ResourceHandle& handle = t.scalar<ResourceHandle>();
  return InvalidArgument(
      "Trying to access a handle's resource using the wrong type. The handle points to a resource "
      "(name '",
      handle.name, "') of type '", handle.type_name,
      "' but you are trying to access the resource as type '", expected_type, "'");
}

}  // namespace sluice
