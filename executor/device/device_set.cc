#include "executor/device/device_set.h"

#include <algorithm>
#include <map>
#include <random>

#include "graph/status.h"

namespace sluice {
namespace {

constexpr const char* kContainer = "_task";
constexpr const char* kName = "devices";

void SetTaskDevices(Device& device, const std::shared_ptr<TaskDevices>& all) {
  device.resources.LookupOrCreate<TaskDevices>(kContainer, kName, [&] { return all; })
      .IgnoreError();
}

}  // namespace

absl::StatusOr<std::shared_ptr<TaskDevices>> TaskDevices::Of(ResourceManager& device) {
  return device.Lookup<TaskDevices>(kContainer, kName);
}

std::shared_ptr<DeviceSet> DeviceSet::Cpus(int cpus, std::string_view task) {
  auto set = std::make_shared<DeviceSet>();
  std::random_device random;
  for (int i = 0; i < std::max(cpus, 1); ++i) {
    auto device = std::make_unique<Device>();
    device->name = StrCat(task, "/device:CPU:", i);
    if (absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(device->name); spec.ok()) {
      device->spec = *spec;
    }
    device->incarnation = (uint64_t{random()} << 32 | random()) | 1;
    set->devices_.push_back(std::move(device));
  }
  std::map<std::string, uint64_t> incarnations;
  for (const auto& device : set->devices_) incarnations[device->name] = device->incarnation;
  const auto all = std::make_shared<TaskDevices>(std::move(incarnations));
  for (const auto& device : set->devices_) SetTaskDevices(*device, all);
  return set;
}

std::shared_ptr<DeviceSet> DeviceSet::WithOwnState(const DeviceSet& devices) {
  auto set = std::make_shared<DeviceSet>();
  for (const auto& device : devices.devices_) {
    auto own = std::make_unique<Device>();
    own->name = device->name;
    own->spec = device->spec;
    own->incarnation = device->incarnation;
    if (const auto all = TaskDevices::Of(device->resources); all.ok()) SetTaskDevices(*own, *all);
    set->devices_.push_back(std::move(own));
  }
  return set;
}

Device* DeviceSet::Find(std::string_view name) const {
  for (const auto& device : devices_) {
    if (device->name == name) return device.get();
  }
  return nullptr;
}

std::vector<std::string> DeviceSet::names() const {
  std::vector<std::string> names;
  for (const auto& device : devices_) names.push_back(device->name);
  return names;
}

std::vector<DeviceInfo> DeviceSet::Describe() const {
  std::vector<DeviceInfo> infos;
  for (const auto& device : devices_) {
    infos.push_back({device->name, device->spec, device->incarnation});
  }
  return infos;
}

void DeviceSet::ClearContainers(const std::vector<std::string>& containers) const {
  for (const auto& device : devices_) {
    for (const std::string& container : containers) device->resources.Clear(container);
    if (containers.empty()) device->resources.ClearAll();
  }
}

void ResetContainers(DeviceSet& devices, const std::vector<std::string>& containers) {
  const std::vector<std::string> default_container = {ResourceManager::kDefaultContainer};
  devices.ClearContainers(containers.empty() ? default_container : containers);
}

}  // namespace sluice
