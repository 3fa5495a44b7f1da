// Keeps tensors in a session between steps. A step stores a tensor and returns a handle, by which
// later steps find it.
//
// Thread safety: all methods may be called from any thread.
// Lifetime: a tensor lives until Delete, or as long as the devices of the session.
#ifndef SLUICE_OPS_STAGING_SESSION_TENSORS_H_
#define SLUICE_OPS_STAGING_SESSION_TENSORS_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class SessionTensors : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12SessionStateE";

  // Returns the object with the tensors on the device of `resources`, and makes it at the first
  // call.
  static absl::StatusOr<std::shared_ptr<SessionTensors>> Of(ResourceManager& resources);

  std::string DebugString() const override;

  // Returns the new handle: "<node>;<number>;<device>".
  std::string Add(std::string_view node, std::string_view device, Tensor value);
  // The tensor of a handle. Get and Delete return INVALID_ARGUMENT if there is no such handle.
  absl::StatusOr<Tensor> Get(const std::string& handle) const;
  absl::Status Delete(const std::string& handle);

 private:
  mutable Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Tensor> by_handle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_SESSION_TENSORS_H_
