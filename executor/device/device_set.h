// The devices that the sessions of a process run on, and the state that lives on each.
//
//   SessionOptions options = {.devices = DeviceSet::Cpus(2)};
//   Session trainer(g, options), evaluator(g, options);     // both see the same variables
//
// Sessions on one set share variables, queues and accumulators (in-process replicas). A session
// without a given set makes its own.
//
// Thread safety: a set is immutable once it is shared, and may be used by any thread.
// ResourceManager has its own lock.
// Ownership: sets are shared. The state on a set (variables, queues, …) can outlive sessions. The
// set that made the state removes it in its destructor. Sets that share the state do not. A
// resource may hold a set that Borrow returned, although that set also holds the resource. The
// destructor of the original set breaks this cycle.
// Errors: if a graph names a device that does not exist, the placer reports INVALID_ARGUMENT at the
// first Run.
// Reference: tensorflow::DeviceMgr.
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
#include "executor/device/memory_account.h"
#include "executor/device/resource_manager.h"
#include "graph/build/device_spec.h"

namespace sluice {

// One device and its state. Its address is stable as long as the set.
struct Device {
  // The full name: "/job:localhost/replica:0/task:0/device:CPU:0".
  std::string name;
  // `name`, parsed.
  DeviceSpec spec;
  // A random number, never 0, that distinguishes a restarted device from the old one.
  uint64_t incarnation = 0;
  std::shared_ptr<ResourceManager> resources = std::make_shared<ResourceManager>();
};

// Describes a device of any task to the placer and to clients, which do not need its state.
struct DeviceInfo {
  std::string name;
  DeviceSpec spec;
  uint64_t incarnation = 0;
};

// The state that the devices of a task share. Each device's resource manager holds it, so that
// kernels find it. Sets made by DeviceSet::WithOwnState share it too, although the variables of
// each such set are separate.
class TaskDevices final : public Resource {
 public:
  static constexpr const char* kTypeName = "sluice::TaskDevices";
  explicit TaskDevices(std::map<std::string, uint64_t> incarnations)
      : incarnations_(std::move(incarnations)) {}
  // NOT_FOUND for the manager of a device that belongs to no set.
  static absl::StatusOr<std::shared_ptr<TaskDevices>> Of(ResourceManager& device);

  // The incarnation of each device, by name.
  const std::map<std::string, uint64_t>& incarnations() const { return incarnations_; }
  ResourceManager& resources() { return resources_; }
  std::string DebugString() const override { return "devices of a task"; }

 private:
  const std::map<std::string, uint64_t> incarnations_;
  ResourceManager resources_;
};

// The devices of one task, in the order of their numbers. Made by the functions below and held by
// shared_ptr.
class DeviceSet : public std::enable_shared_from_this<DeviceSet> {
 public:
  DeviceSet() = default;
  ~DeviceSet();
  DeviceSet(const DeviceSet&) = delete;
  DeviceSet& operator=(const DeviceSet&) = delete;

  // Makes `cpus` devices CPU:0, CPU:1, … of a task, or one if `cpus` is below 1. A device is only a
  // name and a place for state: all devices of a process use the same cores and the same memory.
  static std::shared_ptr<DeviceSet> Cpus(int cpus,
                                         std::string_view task = "/job:localhost/replica:0/task:0");

  // Returns the same devices (names and incarnations) with separate state, for a session that
  // shares no variables with others.
  static std::shared_ptr<DeviceSet> WithOwnState(const DeviceSet& devices);

  // Returns the same devices with the same state. Their names have `task` instead of their own
  // task.
  static std::shared_ptr<DeviceSet> Renamed(const DeviceSet& devices, std::string_view task);

  // Returns the devices of the set that `resources` belongs to, with the same state. A kernel calls
  // it to open sessions of its own, for example to run dataset functions, and passes the resource
  // manager and the name of its device. This device becomes the first one. The others get names of
  // the task in `name`. NOT_FOUND if the device belongs to no set.
  static absl::StatusOr<std::shared_ptr<DeviceSet>> Borrow(ResourceManager& resources,
                                                           std::string_view name);

  // Sets the account that counts the memory of tensors computed by sessions on this set. Without an
  // account the memory is not counted. Must be called before the set is shared.
  void SetMemory(std::shared_ptr<MemoryAccount> account) { memory_ = std::move(account); }
  // Null if there is no account.
  const std::shared_ptr<MemoryAccount>& memory() const { return memory_; }

  int size() const { return static_cast<int>(devices_.size()); }
  // 0 <= i < size(). The reference is valid as long as the set.
  Device& device(int i) const { return *devices_[i]; }
  // The device of this full name. Null if there is none.
  Device* Find(std::string_view name) const;
  // Return the names, or the descriptions, of all devices in their order.
  std::vector<std::string> names() const;
  std::vector<DeviceInfo> Describe() const;
  // Removes the resources (variables, queues, …) of these containers from all devices. A container
  // is a named group of resources, as in tf.container. An empty list stands for all containers.
  void ClearContainers(const std::vector<std::string>& containers) const;

 private:
  // Stores the set in the resource managers of its devices, where kernels find it.
  static void Announce(const std::shared_ptr<DeviceSet>& set);

  std::vector<std::unique_ptr<Device>> devices_;
  bool owns_resources_ = true;
  std::shared_ptr<MemoryAccount> memory_;
};

// Removes all variables, queues, accumulators and tables of these containers (as in tf.container)
// from every device. An empty list stands for the default container. Open sessions keep the objects
// that they use.
//
// Thread safety: may be called from any thread. Reference: tf.Session.reset.
void ResetContainers(DeviceSet& devices, const std::vector<std::string>& containers = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_DEVICE_SET_H_
