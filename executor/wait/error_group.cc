#include "executor/wait/error_group.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr char kDerivedPayload[] = "sluice/derived_error";
// TensorFlow's limit. gRPC limits the size of an error's message.
constexpr size_t kMaxMessageBytes = 8 * 1024;

std::string TextOf(const absl::Status& status) {
  return StrCat(absl::StatusCodeToString(status.code()), ": ", ToStd(status.message()));
}

}  // namespace

absl::Status DerivedError(absl::Status status) {
  if (!status.ok()) status.SetPayload(kDerivedPayload, absl::Cord());
  return status;
}

bool IsDerived(const absl::Status& status) {
  return status.GetPayload(kDerivedPayload).has_value();
}

void ErrorGroup::Add(absl::Status status) {
  if (status.ok()) return;
  if (IsDerived(status)) return derived_.push_back(std::move(status));
  const std::string text = TextOf(status);
  const auto at = std::find_if(roots_.begin(), roots_.end(),
                               [&](const absl::Status& root) { return TextOf(root) <= text; });
  if (at == roots_.end() || TextOf(*at) != text) roots_.insert(at, std::move(status));
}

absl::Status ErrorGroup::Summary() const {
  if (ok()) return absl::OkStatus();
  if (const absl::Status* single = Single(); single != nullptr) return *single;
  absl::StatusCode code = absl::StatusCode::kCancelled;
  std::string message = StrCat(roots_.size(), " root error(s) found.");
  for (size_t i = 0; i < roots_.size(); ++i) {
    if (code == absl::StatusCode::kCancelled) code = roots_[i].code();
    StrAppend(&message, "\n  (", i, ") ", TextOf(roots_[i]));
  }
  StrAppend(&message, "\n", derived_.size(), " derived errors ignored.");
  return Grouped(code, std::move(message));
}

absl::Status ErrorGroup::Concatenation() const {
  if (ok()) return absl::OkStatus();
  if (const absl::Status* single = Single(); single != nullptr) {
    absl::Status status = *single;
    status.ErasePayload(kDerivedPayload);
    return status;
  }
  std::string message = "\n=====================";
  for (const absl::Status& root : roots_) StrAppend(&message, "\n", TextOf(root));
  message += "\n=====================\n";
  return Grouped(roots_[0].code(), std::move(message));
}

const absl::Status* ErrorGroup::Single() const {
  if (roots_.size() > 1) return nullptr;
  if (roots_.size() == 1) return &roots_[0];
  const auto at = std::find_if(derived_.begin(), derived_.end(),
                               [](const absl::Status& s) { return !absl::IsCancelled(s); });
  return at == derived_.end() ? &derived_[0] : &*at;
}

absl::Status ErrorGroup::Grouped(absl::StatusCode code, std::string message) const {
  message.resize(std::min(message.size(), kMaxMessageBytes));
  absl::Status status(code, message);
  for (const absl::Status& root : roots_) {
    root.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
      if (!status.GetPayload(url)) status.SetPayload(url, payload);
    });
  }
  return status;
}

}  // namespace sluice
