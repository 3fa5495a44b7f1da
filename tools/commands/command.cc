#include "tools/commands/command.h"

namespace sluice {
namespace {

constexpr char kUsage[] = "usage";  // the payload of usage errors

}  // namespace

absl::Status UsageError(const std::string& message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsage, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) { return status.GetPayload(kUsage).has_value(); }

}  // namespace sluice
