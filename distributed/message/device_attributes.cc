#include "distributed/message/device_attributes.h"

#include <cstdint>
#include <utility>

#include "graph/build/device_spec.h"
#include "graph/status.h"

namespace sluice {

void DevicesToProto(const std::vector<DeviceInfo>& devices, DeviceAttributesList* list) {
  for (const DeviceInfo& device : devices) {
    pb::DeviceAttributes* attributes = list->Add();
    attributes->set_name(device.name);
    attributes->set_device_type(device.spec.type.value_or("CPU"));
    attributes->set_memory_limit(int64_t{256} << 20);
    attributes->mutable_locality();
    attributes->set_incarnation(device.incarnation);
    attributes->set_xla_global_id(-1);
  }
}

absl::Status DevicesFromProto(const DeviceAttributesList& list, std::vector<DeviceInfo>* devices) {
  for (const pb::DeviceAttributes& device : list) {
    SLUICE_ASSIGN_OR_RETURN(DeviceSpec spec, DeviceSpec::Parse(device.name()));
    devices->push_back({device.name(), std::move(spec), device.incarnation()});
  }
  return absl::OkStatus();
}

}  // namespace sluice
