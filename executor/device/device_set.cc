#include "executor/device/device_set.h"

#include <algorithm>
#include <map>
#include <random>

#include "graph/status.h"

namespace sluice {
namespace {

constexpr const char* kContainer = "_task";
constexpr const char* kName = "devices";
constexpr const char* kDevice = "/device:";  // between a task and a device in a name

// Leads from a device to its set. Does not own the set, because the set owns the resource manager
// that holds this object.
struct SetOfDevice final : public Resource {
  static constexpr const char* kTypeName = "sluice::SetOfDevice";
  explicit SetOfDevice(std::weak_ptr<DeviceSet> s) : set(std::move(s)) {}
  std::string DebugString() const override { return "set of a device"; }

  const std::weak_ptr<DeviceSet> set;
};

// Adds a resource of the task, which no client can see or remove.
template <typename T>
void Put(Device& device, const std::shared_ptr<T>& resource) {
  device.resources->LookupOrCreate<T>(kContainer, kName, [&] { return resource; }).IgnoreError();
}

void SetName(Device& device, std::string name) {
  device.name = std::move(name);
  device.spec = DeviceSpec::Parse(device.name).value_or(DeviceSpec());
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
    SetName(*device, StrCat(task, kDevice, "CPU:", i));
    device->incarnation = (uint64_t{random()} << 32 | random()) | 1;
    set->devices_.push_back(std::move(device));
  }
  std::map<std::string, uint64_t> incarnations;
  for (const auto& device : set->devices_) incarnations[device->name] = device->incarnation;
  const auto all = std::make_shared<TaskDevices>(std::move(incarnations));
  for (const auto& device : set->devices_) Put(*device, all);
  Announce(set);
  return set;
}

std::shared_ptr<DeviceSet> DeviceSet::WithOwnState(const DeviceSet& devices) {
  auto set = std::make_shared<DeviceSet>();
  for (const auto& device : devices.devices_) {
    auto own = std::make_unique<Device>();
    own->name = device->name;
    own->spec = device->spec;
    own->incarnation = device->incarnation;
    if (const auto all = TaskDevices::Of(*device->resources); all.ok()) Put(*own, *all);
    set->devices_.push_back(std::move(own));
  }
  Announce(set);
  return set;
}

std::shared_ptr<DeviceSet> DeviceSet::Renamed(const DeviceSet& devices, std::string_view task) {
  auto set = std::make_shared<DeviceSet>();
  set->owns_resources_ = false;
  for (const auto& device : devices.devices_) {
    auto renamed = std::make_unique<Device>(*device);
    SetName(*renamed, StrCat(task, device->name.substr(device->name.rfind(kDevice))));
    set->devices_.push_back(std::move(renamed));
  }
  return set;
}

absl::StatusOr<std::shared_ptr<DeviceSet>> DeviceSet::Borrow(ResourceManager& resources,
                                                             std::string_view name) {
  SLUICE_ASSIGN_OR_RETURN(const auto found, resources.Lookup<SetOfDevice>(kContainer, kName));
  const std::shared_ptr<DeviceSet> lender = found->set.lock();
  if (lender == nullptr) return absl::NotFoundError("the devices of the session do not exist");
  std::shared_ptr<DeviceSet> set = Renamed(*lender, name.substr(0, name.rfind(kDevice)));
  std::stable_partition(
      set->devices_.begin(), set->devices_.end(),
      [&](const std::unique_ptr<Device>& device) { return device->resources.get() == &resources; });
  return set;
}

void DeviceSet::Announce(const std::shared_ptr<DeviceSet>& set) {
  const auto of_device = std::make_shared<SetOfDevice>(set);
  for (const auto& device : set->devices_) Put(*device, of_device);
}

// Breaks cycles: a resource may hold a borrowed set, and with it the manager that holds the
// resource.
DeviceSet::~DeviceSet() {
  if (owns_resources_) ClearContainers({});
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
    for (const std::string& container : containers) device->resources->Clear(container);
    if (containers.empty()) device->resources->ClearAll();
  }
}

void ResetContainers(DeviceSet& devices, const std::vector<std::string>& containers) {
  const std::vector<std::string> default_container = {ResourceManager::kDefaultContainer};
  devices.ClearContainers(containers.empty() ? default_container : containers);
}

}  // namespace sluice
