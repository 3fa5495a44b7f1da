// Converts between devices and TensorFlow's DeviceAttributes.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_DEVICE_ATTRIBUTES_H_
#define SLUICE_DISTRIBUTED_MESSAGE_DEVICE_ATTRIBUTES_H_

#include <vector>

#include "absl/status/status.h"
#include "executor/device/device_set.h"
#include "google/protobuf/repeated_field.h"
#include "graph/format/proto/device_attributes.pb.h"

namespace sluice {

using DeviceAttributesList = google::protobuf::RepeatedPtrField<pb::DeviceAttributes>;

// Both functions append. DevicesFromProto returns INVALID_ARGUMENT if a name is not a device's
// name.
void DevicesToProto(const std::vector<DeviceInfo>& devices, DeviceAttributesList* list);
absl::Status DevicesFromProto(const DeviceAttributesList& list, std::vector<DeviceInfo>* devices);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_DEVICE_ATTRIBUTES_H_
