// A DeviceSpec is a parsed device name: "/job:worker/replica:0/task:1/device:CPU:0". Any part may
// be missing or `*`, which both mean that the part is not set, so any job, task or device will do.
//
// Thread safety: a DeviceSpec is a value.
#ifndef SLUICE_GRAPH_BUILD_DEVICE_SPEC_H_
#define SLUICE_GRAPH_BUILD_DEVICE_SPEC_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sluice {

struct DeviceSpec {
  std::optional<std::string> job;
  std::optional<int> replica;
  std::optional<int> task;
  std::optional<std::string> type;  // "CPU"; read also from "/cpu:0" and "/device:cpu:0"
  std::optional<int> id;

  // Parses a device name. "" and "/" give a spec in which no field is set. INVALID_ARGUMENT
  // "Malformed device specification '<text>'" if `text` is no device name.
  static absl::StatusOr<DeviceSpec> Parse(std::string_view text);
  // Returns the device name, without the parts that are not set. If `type` is set and `id` is not,
  // the last part is "/device:CPU:*".
  std::string ToString() const;
  // Returns this spec with the fields of `outer` for those that are not set here, as in nested
  // device scopes.
  DeviceSpec Over(const DeviceSpec& outer) const;
  // Whether every field that is set here has the same value in `full`.
  bool Matches(const DeviceSpec& full) const;
  bool operator==(const DeviceSpec&) const = default;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_DEVICE_SPEC_H_
