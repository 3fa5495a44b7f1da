// A device name: /job:<j>/replica:<r>/task:<t>/device:<TYPE>:<id>. Any part may be missing or `*`.
//
// Thread safety: a value.
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
  std::optional<std::string> type;  // "CPU"; legacy names in lower case are converted
  std::optional<int> id;

  // "" and "/" are the empty spec. INVALID_ARGUMENT "Malformed device specification '<text>'".
  static absl::StatusOr<DeviceSpec> Parse(std::string_view text);
  // A type without id prints as "/device:CPU:*".
  std::string ToString() const;
  // Fields that are set here take precedence over those of `outer`, as in nested device scopes.
  DeviceSpec Over(const DeviceSpec& outer) const;
  // Whether every field that is set here is equal in `full`.
  bool Matches(const DeviceSpec& full) const;
  bool operator==(const DeviceSpec&) const = default;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_BUILD_DEVICE_SPEC_H_
