// Drops what jobs left behind on devices that outlive them.
#ifndef SLUICE_EXECUTOR_DEVICE_RESET_H_
#define SLUICE_EXECUTOR_DEVICE_RESET_H_

#include <string>
#include <vector>

#include "executor/device/device_set.h"

namespace sluice {

// All variables, queues, accumulators and tables of these containers, on every device; of the
// default one where none is named. Sessions that are open keep what they use. From any thread.
// Reference behaviour: tf.Session.reset.
void ResetContainers(DeviceSet& devices, const std::vector<std::string>& containers = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_RESET_H_
