#include "graph/build/device_spec.h"

#include <algorithm>

#include "graph/status.h"

namespace sluice {
namespace {

bool IsName(std::string_view s) {
  auto alnum = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (s.empty() || !std::isalpha(static_cast<unsigned char>(s[0]))) return false;
  return std::all_of(s.begin(), s.end(), [&](char c) { return alnum(c) || c == '_' || c == '-'; });
}

std::optional<int> Number(std::string_view s) {
  if (s.empty() || s.size() > 9) return std::nullopt;
  int n = 0;
  for (char c : s) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  return n;
}

// `text` follows the colon. `*` leaves the field unset.
bool SetNumber(std::string_view text, std::optional<int>& field) {
  if (text == "*") return true;
  field = Number(text);
  return field.has_value();
}

// Programs of TensorFlow may write "cpu" and "gpu" for the types CPU and GPU.
std::string DeviceType(std::string_view text) {
  return text == "cpu" ? "CPU" : text == "gpu" ? "GPU" : std::string(text);
}

bool SetDevice(std::string_view text, DeviceSpec& spec) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  if (type != "*") {
    if (!IsName(type)) return false;
    spec.type = DeviceType(type);
  }
  return colon == text.npos || SetNumber(text.substr(colon + 1), spec.id);
}

bool SetPart(std::string_view part, DeviceSpec& spec) {
  const size_t colon = part.find(':');
  if (colon == part.npos) return false;
  const std::string_view key = part.substr(0, colon);
  const std::string_view value = part.substr(colon + 1);
  if (key == "job") {
    if (value == "*") return true;
    spec.job = std::string(value);
    return IsName(value);
  }
  if (key == "replica") return SetNumber(value, spec.replica);
  if (key == "task") return SetNumber(value, spec.task);
  if (key == "device") return SetDevice(value, spec);
  for (const char* legacy : {"cpu", "gpu", "CPU", "GPU"}) {
    if (key != legacy) continue;
    spec.type = DeviceType(key);
    return SetNumber(value, spec.id);
  }
  return false;
}

template <typename T>
bool FieldMatches(const std::optional<T>& required, const std::optional<T>& given) {
  return !required || required == given;
}

}  // namespace

absl::StatusOr<DeviceSpec> DeviceSpec::Parse(std::string_view text) {
  DeviceSpec spec;
  std::string_view rest = text;
  while (!rest.empty() && rest != "/") {
    const bool slash = rest.starts_with('/');
    if (slash) rest.remove_prefix(1);
    const size_t end = std::min(rest.find('/'), rest.size());
    SLUICE_INVALID_IF(!slash || !SetPart(rest.substr(0, end), spec),
                      "Malformed device specification '", text, "'");
    rest.remove_prefix(end);
  }
  return spec;
}

std::string DeviceSpec::ToString() const {
  std::string text;
  if (job) StrAppend(&text, "/job:", *job);
  if (replica) StrAppend(&text, "/replica:", *replica);
  if (task) StrAppend(&text, "/task:", *task);
  if (type || id) {
    StrAppend(&text, "/device:", type ? *type : "*", ":", id ? StrCat(*id) : std::string("*"));
  }
  return text;
}

DeviceSpec DeviceSpec::Over(const DeviceSpec& outer) const {
  DeviceSpec merged = *this;
  if (!merged.job) merged.job = outer.job;
  if (!merged.replica) merged.replica = outer.replica;
  if (!merged.task) merged.task = outer.task;
  if (!merged.type) merged.type = outer.type;
  if (!merged.id) merged.id = outer.id;
  return merged;
}

bool DeviceSpec::Matches(const DeviceSpec& full) const {
  return FieldMatches(job, full.job) && FieldMatches(replica, full.replica) &&
         FieldMatches(task, full.task) && FieldMatches(type, full.type) &&
         FieldMatches(id, full.id);
}

}  // namespace sluice
