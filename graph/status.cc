#include "graph/status.h"

namespace sluice {
namespace {

absl::Status WithMessage(const absl::Status& status, std::string message) {
  absl::Status changed(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { changed.SetPayload(url, payload); });
  return changed;
}

}  // namespace

absl::Status Annotate(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  return WithMessage(status, StrCat(prefix, status.message()));
}

absl::Status AnnotateAfter(const absl::Status& status, std::string_view suffix) {
  if (status.ok()) return status;
  return WithMessage(status, StrCat(status.message(), suffix));
}

std::string AtNode(std::string_view name) { return StrCat("\n\t [[{{node ", name, "}}]]"); }

}  // namespace sluice
