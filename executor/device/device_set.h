// The devices that sessions of this process run on, and the state that lives on each.
//
// Shared: several sessions on one set see the same variables, queues and accumulators (in-process
// replicas); a session that is given none makes its own.
// Thread safety: immutable after construction; ResourceManager locks itself.
#ifndef SLUICE_EXECUTOR_DEVICE_DEVICE_SET_H_
#define SLUICE_EXECUTOR_DEVICE_DEVICE_SET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/device/resource_manager.h"
#include "graph/build/device_spec.h"

namespace sluice {

struct Device {
  std::string name;          // "/job:localhost/replica:0/task:0/device:CPU:0"
  DeviceSpec spec;           // of `name`
  uint64_t incarnation = 0;  // random, never 0: tells a restarted device from the one before
  ResourceManager resources;
};

// A device of whatever task, as the placer and clients see it.
struct DeviceInfo {
  std::string name;
  DeviceSpec spec;
  uint64_t incarnation = 0;
};

class DeviceSet {
 public:
  // `cpus` devices CPU:0, CPU:1, … of a task; at least one.
  static std::shared_ptr<DeviceSet> Cpus(int cpus,
                                         std::string_view task = "/job:localhost/replica:0/task:0");

  // The same devices with state of their own: what a session that shares nothing runs on.
  static std::shared_ptr<DeviceSet> WithOwnState(const DeviceSet& devices);

  int size() const { return static_cast<int>(devices_.size()); }
  Device& device(int i) const { return *devices_[i]; }
  Device* Find(std::string_view name) const;  // null if there is none
  std::vector<std::string> names() const;
  std::vector<DeviceInfo> Describe() const;
  // Forgets the resources of these containers on all devices; of all containers where none is
  // named.
  void ClearContainers(const std::vector<std::string>& containers) const;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_DEVICE_SET_H_
