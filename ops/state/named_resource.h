// Ops that make a queue, an accumulator, … and hand out its name; and ops that find it by the name.
//
// A name travels in one of two forms: a resource handle, or (old graphs) a reference to a vector of
// two strings, container and name.
#ifndef SLUICE_OPS_STATE_NAMED_RESOURCE_H_
#define SLUICE_OPS_STATE_NAMED_RESOURCE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice {

// A kernel whose output 0 names a resource that it made or found; a resource without a shared name
// lives as long as the kernel.
class NamedResourceKernel : public Kernel {
 public:
  // The name in both forms; which one is given out, the type of output 0 says.
  NamedResourceKernel(KernelInit& init, const ResourceName& name, const char* type_name,
                      std::shared_ptr<void> object, std::function<void()> remove);
  ~NamedResourceKernel() override;
  absl::Status Compute(KernelContext& c) override;
  bool IsExpensive() const override { return false; }

 private:
  Claim claim_;
  Tensor strings_;  // never changed once made; the claim goes with references to it
  Tensor handle_;
  bool by_reference_;
  std::function<void()> remove_;  // empty where the resource outlives the kernel
};

// `make` is called when there is no resource of the name; `check` when there is one.
template <typename R>
absl::StatusOr<std::unique_ptr<Kernel>> MakeNamedResourceKernel(
    KernelInit& init,
    const std::function<absl::StatusOr<std::shared_ptr<R>>(const ResourceName&)>& make,
    const std::function<absl::Status(const R&)>& check) {
  SLUICE_ASSIGN_OR_RETURN(const ResourceName name, ResourceNameOf(init, false));
  SLUICE_ASSIGN_OR_RETURN(
      std::shared_ptr<R> object,
      init.resources().LookupOrCreate<R>(name.container, name.name, [&] { return make(name); }));
  SLUICE_RETURN_IF_ERROR(check(*object));
  std::function<void()> remove;
  if (name.is_private) {
    remove = [resources = &init.resources(), name] {
      resources->Delete<R>(name.container, name.name).IgnoreError();
    };
  }
  return std::unique_ptr<Kernel>(
      new NamedResourceKernel(init, name, R::kTypeName, std::move(object), std::move(remove)));
}

// Container and name in input `i`, a reference to two strings. INVALID_ARGUMENT on anything else.
absl::StatusOr<std::pair<std::string, std::string>> NameInStrings(const KernelContext& c, int i);
absl::Status WrongHandle(const KernelContext& c, int i, const char* expected_type);

// The resource that input `i` names, in either form. NOT_FOUND, INVALID_ARGUMENT.
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

// The same without a share in it, where the handle has one: valid as long as the input is, which
// an asynchronous kernel's is until ComputeAsync returns.
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
