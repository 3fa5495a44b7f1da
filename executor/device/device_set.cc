#include "executor/device/device_set.h"

#include <algorithm>
#include <random>

#include "graph/status.h"

namespace sluice {

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
  return set;
}

std::shared_ptr<DeviceSet> DeviceSet::WithOwnState(const DeviceSet& devices) {
  auto set = std::make_shared<DeviceSet>();
  for (const auto& device : devices.devices_) {
    auto own = std::make_unique<Device>();
    own->name = device->name;
    own->spec = device->spec;
    own->incarnation = device->incarnation;
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

}  // namespace sluice
