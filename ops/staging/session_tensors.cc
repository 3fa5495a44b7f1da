#include "ops/staging/session_tensors.h"

#include <utility>

#include "graph/status.h"

namespace sluice {

absl::StatusOr<std::shared_ptr<SessionTensors>> SessionTensors::Of(ResourceManager& resources) {
  // The tensors have a separate container, so that a reset of the default container keeps the
  // handles.
  return resources.LookupOrCreate<SessionTensors>(
      "__session_tensors", "all", []() -> absl::StatusOr<std::shared_ptr<SessionTensors>> {
        return std::make_shared<SessionTensors>();
      });
}

std::string SessionTensors::DebugString() const {
  ScopedLock lock(&mutex_);
  return StrCat("session tensors: ", by_handle_.size());
}

std::string SessionTensors::Add(std::string_view node, std::string_view device, Tensor value) {
  ScopedLock lock(&mutex_);
  std::string handle = StrCat(node, ";", next_++, ";", device);
  by_handle_.emplace(handle, std::move(value));
  return handle;
}

absl::StatusOr<Tensor> SessionTensors::Get(const std::string& handle) const {
  ScopedLock lock(&mutex_);
  const auto found = by_handle_.find(handle);
  if (found != by_handle_.end()) return found->second;
  return InvalidArgument("The tensor with handle '", handle, "' is not in the session store.");
}

absl::Status SessionTensors::Delete(const std::string& handle) {
  ScopedLock lock(&mutex_);
  if (by_handle_.erase(handle) == 1) return absl::OkStatus();
  return InvalidArgument("Failed to delete a tensor with handle '", handle,
                         "' in the session store.");
}

}  // namespace sluice
