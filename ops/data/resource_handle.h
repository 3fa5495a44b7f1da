// Handles of the resources that dataset ops make, such as iterators. A handle can own its resource,
// can be used to delete it, and can be converted to a string and back.
#ifndef SLUICE_OPS_DATA_RESOURCE_HANDLE_H_
#define SLUICE_OPS_DATA_RESOURCE_HANDLE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "graph/tensor/variant.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {

// The content of the second output of an op that makes a resource. Like the handle in the first
// output, it owns the resource.
class ResourceDeleter : public VariantObject {
 public:
  explicit ResourceDeleter(std::shared_ptr<void> resource) : resource_(std::move(resource)) {}
  std::string TypeName() const override { return "tensorflow::ResourceDeleter"; }

 private:
  const std::shared_ptr<void> resource_;
};

// Sets output 0 to a handle that owns `resource`. The resource is not in the resource manager, so
// no op can find it by a name. If the op has a second output, sets it to a ResourceDeleter, which
// also owns the resource.
template <typename R>
void SetOwnedHandle(KernelContext& c, std::shared_ptr<R> resource) {
  c.set_output(0, Tensor::Scalar(OwningHandle(c.name(), resource)));
  if (c.num_outputs() < 2) return;
  c.set_output(1, Tensor::Scalar(Variant(std::make_shared<ResourceDeleter>(std::move(resource)))));
}

// Removes the name that is in the handle in input 0 from the device's resources, if the name
// exists. Later lookups by the name fail. Handles and deleters may keep the resource alive.
template <typename R>
absl::Status DeleteNamed(KernelContext& c) {
  const Tensor& handle = c.input(0);
  if (handle.num_elements() != 1 || !handle.IsInitialized()) return WrongHandle(c, 0, R::kTypeName);
  const auto& name = *handle.data<ResourceHandle>();
  const absl::Status status = c.resources().Delete<R>(name.container, name.name);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

// Outputs a string that stands for the handle in input 0. It begins with `R::kStringPrefix`.
template <typename R>
absl::Status HandleToString(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(LookupNamed<R>(c, 0).status());
  const ResourceHandle& handle = c.input(0).scalar<ResourceHandle>();
  c.set_output(0, Tensor::Scalar(StrCat(R::kStringPrefix, handle.container, "\n", handle.name)));
  return absl::OkStatus();
}

// Outputs the handle for which input `string_handle` stands.
template <typename R>
absl::Status HandleFromString(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ScalarInput<std::string>(c, "string_handle"));
  const size_t prefix = std::string_view(R::kStringPrefix).size();
  const size_t end = text.find('\n', prefix);
  SLUICE_INVALID_IF(!text.starts_with(R::kStringPrefix) || end == std::string::npos,
                    "Could not parse string_handle as a valid ResourceHandle");
  ResourceHandle handle;
  handle.container = text.substr(prefix, end - prefix);
  handle.name = text.substr(end + 1);
  handle.type_name = R::kTypeName;
  SLUICE_ASSIGN_OR_RETURN(handle.object, c.resources().Lookup<R>(handle));
  c.set_output(0, Tensor::Scalar(std::move(handle)));
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_RESOURCE_HANDLE_H_
