// The devices that the sessions of a process run on, and the state that lives on each.
//
// Sessions on one set share variables, queues and accumulators (in-process replicas). A session
// without a given set makes its own.
// Thread safety: immutable after construction. ResourceManager has its own lock.
#ifndef SLUICE_EXECUTOR_DEVICE_DEVICE_SET_H_
#define SLUICE_EXECUTOR_DEVICE_DEVICE_SET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/build/device_spec.h"

namespace sluice {

struct Device {
  std::string name;          // "/job:localhost/replica:0/task:0/device:CPU:0"
  DeviceSpec spec;           // of `name`
  uint64_t incarnation = 0;  // random, never 0: distinguishes a restarted device from the old one
  ResourceManager resources;
};

// A device of any task, as the placer and clients see it.
struct DeviceInfo {
  std::string name;
  DeviceSpec spec;
  uint64_t incarnation = 0;
};

// The state that the devices of a task share. Each device's resource manager holds it, so that
// kernels find it. Sets made by DeviceSet::WithOwnState share it too.
class TaskDevices final : public Resource {
 public:
  static constexpr const char* kTypeName = "sluice::TaskDevices";
  explicit TaskDevices(std::map<std::string, uint64_t> incarnations)
      : incarnations_(std::move(incarnations)) {}
  // NOT_FOUND for the manager of a device that belongs to no set.
  static absl::StatusOr<std::shared_ptr<TaskDevices>> Of(ResourceManager& device);

  const std::map<std::string, uint64_t>& incarnations() const { return incarnations_; }  // by name
  ResourceManager& resources() { return resources_; }
  std::string DebugString() const override { return "devices of a task"; }

 private:
  const std::map<std::string, uint64_t> incarnations_;
  ResourceManager resources_;
};

class DeviceSet {
 public:
  // `cpus` devices CPU:0, CPU:1, … of a task, at least one.
  static std::shared_ptr<DeviceSet> Cpus(int cpus,
                                         std::string_view task = "/job:localhost/replica:0/task:0");

  // The same devices with separate state, for a session that shares nothing.
  static std::shared_ptr<DeviceSet> WithOwnState(const DeviceSet& devices);

  int size() const { return static_cast<int>(devices_.size()); }
  Device& device(int i) const { return *devices_[i]; }
  Device* Find(std::string_view name) const;  // null if there is none
  std::vector<std::string> names() const;
  std::vector<DeviceInfo> Describe() const;
  // Removes the resources of these containers from all devices. Empty: those of all containers.
  void ClearContainers(const std::vector<std::string>& containers) const;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

// Removes all variables, queues, accumulators and tables of these containers from every device.
// Empty: those of the default container. Open sessions keep the objects that they use. Thread
// safety: may be called from any thread. Reference: tf.Session.reset.
void ResetContainers(DeviceSet& devices, const std::vector<std::string>& containers = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_DEVICE_SET_H_
