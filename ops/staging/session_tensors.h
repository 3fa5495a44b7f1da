// Tensors that stay in a session between steps, by the handles that its steps gave out.
//
// Thread safety: all methods from any thread. A tensor lives until Delete, or as long as the
// session's devices.
#ifndef SLUICE_OPS_STAGING_SESSION_TENSORS_H_
#define SLUICE_OPS_STAGING_SESSION_TENSORS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class SessionTensors : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12SessionStateE";

  // Those of the device that `resources` belongs to.
  static absl::StatusOr<std::shared_ptr<SessionTensors>> Of(ResourceManager& resources);

  std::string DebugString() const override;

  // The new handle: "<node>;<number>;<device>".
  std::string Add(std::string_view node, std::string_view device, Tensor value);
  // INVALID_ARGUMENT when there is no such handle.
  absl::StatusOr<Tensor> Get(const std::string& handle) const;
  absl::Status Delete(const std::string& handle);

 private:
  mutable std::mutex mutex_;
  int64_t next_ = 0;                         // guarded by mutex_
  std::map<std::string, Tensor> by_handle_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_SESSION_TENSORS_H_
