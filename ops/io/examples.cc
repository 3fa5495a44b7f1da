#include "ops/io/examples.h"

#include "graph/format/proto/example.pb.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns the first bytes as printable text.
std::string Shown(const std::string& bytes) {
  std::string text;
  for (char c : bytes.substr(0, 64)) {
    text.push_back(c >= ' ' && c <= '~' ? c : '?');
  }
  return bytes.size() > 64 ? text + "..." : text;
}

}  // namespace

absl::Status Examples::Parse(absl::Span<const std::string> serialized) {
  features_.reserve(features_.size() + serialized.size());
  for (const std::string& bytes : serialized) {
    auto* example = google::protobuf::Arena::CreateMessage<pb::Example>(&arena_);
    SLUICE_INVALID_IF(!example->ParseFromString(bytes), "Could not parse example input, value: '",
                      Shown(bytes), "'");
    features_.push_back(&example->features());
  }
  return absl::OkStatus();
}

}  // namespace sluice
