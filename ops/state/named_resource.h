// Kernels of ops that make a queue, an accumulator or another resource and output its name, and
// helpers for ops that find the resource by the name.
//
// A name has one of two forms: a resource handle, or (in old graphs) a reference to a vector of two
// strings, container and name.
#ifndef SLUICE_OPS_STATE_NAMED_RESOURCE_H_
#define SLUICE_OPS_STATE_NAMED_RESOURCE_H_

#include <functional>
#include <memory>
#include <string>

#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice {

// A kernel whose output 0 names a resource that the kernel made or found. A resource without a
// shared name lives as long as the kernel.
class NamedResourceKernel : public Kernel {
 public:
  // The destructor calls `remove`, which is empty if the resource outlives the kernel.
  NamedResourceKernel(const std::string& device, const ResourceName& name, const char* type_name,
                      bool by_reference, std::shared_ptr<void> object,
                      std::function<void()> remove);
  ~NamedResourceKernel() override;
  absl::Status Compute(KernelContext& c) override;
  bool IsExpensive() const override { return false; }

 private:
  // The lock of strings_. KernelContext::set_output_ref requires a lock, although strings_ is
  // constant.
  Claim claim_;
  Tensor strings_;  // container and name
  Tensor handle_;
  bool by_reference_;
  std::function<void()> remove_;
};

// Returns a function that removes the resource when its kernel is destroyed. Empty if the resource
// has a shared name, because other kernels may use it then.
template <typename R>
std::function<void()> RemovalOf(ResourceManager& resources, const ResourceName& name) {
  if (!name.is_private) return nullptr;
  return [&resources, name] { resources.Delete<R>(name.container, name.name).IgnoreError(); };
}

// Makes a NamedResourceKernel for a resource of class R. Calls `make` if no resource has the name
// yet. Then calls `check`, which returns an error if a resource that was found does not suit the
// node.
template <typename R>
absl::StatusOr<std::unique_ptr<Kernel>> MakeNamedResourceKernel(
    KernelInit& init,
    const std::function<absl::StatusOr<std::shared_ptr<R>>(const ResourceName&)>& make,
    const std::function<absl::Status(const R&)>& check = [](const R&) {
      return absl::OkStatus();
    }) {
  SLUICE_ASSIGN_OR_RETURN(const ResourceName name, ResourceNameOf(init, false));
  SLUICE_ASSIGN_OR_RETURN(
      std::shared_ptr<R> object,
      init.resources().LookupOrCreate<R>(name.container, name.name, [&] { return make(name); }));
  SLUICE_RETURN_IF_ERROR(check(*object));
  return std::unique_ptr<Kernel>(new NamedResourceKernel(
      init.device_name(), name, R::kTypeName, IsRefType(init.output_type(0)), std::move(object),
      RemovalOf<R>(init.resources(), name)));
}

// Returns a handle that shares the ownership of `resource`. No resource manager knows this
// resource, so `name` appears only in messages.
template <typename R>
ResourceHandle OwningHandle(std::string name, std::shared_ptr<R> resource) {
  ResourceHandle handle;
  handle.container = ResourceManager::kDefaultContainer;
  handle.name = std::move(name);
  handle.type_name = R::kTypeName;
  handle.object = std::move(resource);
  return handle;
}

// The container and the name in input `i`, a string tensor or a reference to one. INVALID_ARGUMENT
// if the tensor does not have two elements.
absl::StatusOr<std::pair<std::string, std::string>> NameInStrings(const KernelContext& c, int i);
// The error (INVALID_ARGUMENT) that input `i` is not a handle of a resource of `expected_type`.
absl::Status WrongHandle(const KernelContext& c, int i, const char* expected_type);

// The resource that input `i` names in either form. NOT_FOUND if it does not exist,
// INVALID_ARGUMENT if the input does not name a resource of class R.
template <typename R>
absl::StatusOr<std::shared_ptr<R>> LookupNamed(const KernelContext& c, int i) {
  if (c.input_is_ref(i) || c.input(i).dtype() == DT_STRING) {
    SLUICE_ASSIGN_OR_RETURN(const auto name, NameInStrings(c, i));
    return c.resources().template Lookup<R>(name.first, name.second);
  }
  const Tensor& t = c.input(i);
  if (t.dtype() != DT_RESOURCE || t.num_elements() != 1 || !t.IsInitialized()) {
    return WrongHandle(c, i, R::kTypeName);
  }
  const ResourceHandle& handle = t.scalar<ResourceHandle>();
  if (handle.object != nullptr && handle.type_name != R::kTypeName) {
    return WrongHandle(c, i, R::kTypeName);
  }
  return c.resources().template Lookup<R>(handle);
}

// Like LookupNamed, but if a NamedResourceKernel made the handle, the returned pointer does not own
// the resource, which saves an atomic operation. It is valid as long as the input: in an
// asynchronous kernel, until ComputeAsync returns.
template <typename R>
absl::StatusOr<std::shared_ptr<R>> BorrowNamed(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (!c.input_is_ref(i) && t.dtype() == DT_RESOURCE && t.num_elements() == 1 &&
      t.IsInitialized()) {
    const ResourceHandle& handle = t.scalar<ResourceHandle>();
    if (handle.object != nullptr && handle.type == R::kTypeName) {
      return std::shared_ptr<R>(std::shared_ptr<R>(), static_cast<R*>(handle.object.get()));
    }
  }
  return LookupNamed<R>(c, i);
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_NAMED_RESOURCE_H_
