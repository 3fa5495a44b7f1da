#include "executor/device/reset.h"

namespace sluice {

void ResetContainers(DeviceSet& devices, const std::vector<std::string>& containers) {
  for (int i = 0; i < devices.size(); ++i) {
    if (containers.empty()) devices.device(i).resources.Clear("");
    for (const std::string& container : containers) devices.device(i).resources.Clear(container);
  }
}

}  // namespace sluice
