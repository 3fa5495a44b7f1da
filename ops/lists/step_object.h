// Helpers for resources that live as long as a step (TensorArrays and stacks), and for the handles
// that name them.
#ifndef SLUICE_OPS_LISTS_STEP_OBJECT_H_
#define SLUICE_OPS_LISTS_STEP_OBJECT_H_

#include <atomic>
#include <memory>
#include <string>

#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/state/named_resource.h"

namespace sluice {

// Returns a unique name `<base>_<n>`: n differs at each call in this process. An empty base stands
// for the node's name.
inline std::string StepObjectName(const KernelContext& c, const std::string& base) {
  static std::atomic<int64_t> next{0};
  return StrCat(base.empty() ? c.name() : base, "_", next.fetch_add(1, std::memory_order_relaxed));
}

template <typename T>
Tensor StepHandle(const KernelContext& c, const std::string& name, std::shared_ptr<T> object) {
  ResourceHandle handle = OwningHandle(name, std::move(object));
  handle.container = StrCat("__per_step_", c.step().step_id);
  return Tensor::Scalar(std::move(handle));
}

// The object that input 0 names: by a handle that owns it or, in old graphs, by two strings,
// container and name.
template <typename T>
absl::StatusOr<std::shared_ptr<T>> StepObject(const KernelContext& c) {
  if (!c.input_is_ref(0) && c.input(0).dtype() == DT_RESOURCE) {
    const Tensor& t = c.input(0);
    if (t.num_elements() != 1 || !t.IsInitialized()) return WrongHandle(c, 0, T::kTypeName);
    const ResourceHandle& handle = t.scalar<ResourceHandle>();
    if (handle.object == nullptr || handle.type_name != T::kTypeName) {
      return WrongHandle(c, 0, T::kTypeName);
    }
    return std::static_pointer_cast<T>(handle.object);
  }
  SLUICE_ASSIGN_OR_RETURN(const auto name, NameInStrings(c, 0));
  return c.step().step_resources->Lookup<T>(name.first, name.second);
}

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_STEP_OBJECT_H_
