#include "ops/strings/proto_wire.h"

namespace sluice {
namespace {

// The greatest depth to which groups inside groups are skipped.
constexpr int kDepthMax = 100;

}  // namespace

WireType WireTypeOf(const google::protobuf::FieldDescriptor& field) {
  using Field = google::protobuf::FieldDescriptor;
  switch (field.type()) {
    case Field::TYPE_DOUBLE:
    case Field::TYPE_FIXED64:
    case Field::TYPE_SFIXED64:
      return WireType::kFixed64;
    case Field::TYPE_FLOAT:
    case Field::TYPE_FIXED32:
    case Field::TYPE_SFIXED32:
      return WireType::kFixed32;
    case Field::TYPE_STRING:
    case Field::TYPE_BYTES:
    case Field::TYPE_MESSAGE:
      return WireType::kBytes;
    case Field::TYPE_GROUP:
      return WireType::kStartGroup;
    default:
      return WireType::kVarint;
  }
}

bool WireReader::ReadTag(uint32_t* number, WireType* type) {
  uint64_t tag;
  if (!ReadVarint(&tag) || tag > UINT32_MAX || (tag & 7) > 5) return false;
  *number = static_cast<uint32_t>(tag >> 3);
  *type = static_cast<WireType>(tag & 7);
  return *number > 0;
}

bool WireReader::ReadVarint(uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest_.remove_prefix(i + 1);
    return true;
  }
  return false;
}

bool WireReader::ReadFixed(int bytes, uint64_t* value) {
  const auto n = static_cast<size_t>(bytes);
  if (rest_.size() < n) return false;
  *value = 0;
  for (size_t i = 0; i < n; ++i) {
    *value |= static_cast<uint64_t>(static_cast<uint8_t>(rest_[i])) << (8 * i);
  }
  rest_.remove_prefix(n);
  return true;
}

bool WireReader::ReadBytes(std::string_view* bytes) {
  uint64_t n;
  if (!ReadVarint(&n) || n > rest_.size()) return false;
  *bytes = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return true;
}

bool WireReader::ReadGroup(uint32_t number, std::string_view* bytes) {
  const std::string_view from = rest_;
  while (!rest_.empty()) {
    const size_t read = from.size() - rest_.size();
    uint32_t inner;
    WireType type;
    if (!ReadTag(&inner, &type)) return false;
    if (type == WireType::kEndGroup) {
      *bytes = from.substr(0, read);
      return inner == number;
    }
    if (!SkipAtDepth(inner, type, 1)) return false;
  }
  return false;
}

bool WireReader::SkipAtDepth(uint32_t number, WireType type, int depth) {
  uint64_t unused;
  std::string_view bytes;
  switch (type) {
    case WireType::kVarint:
      return ReadVarint(&unused);
    case WireType::kFixed64:
      return ReadFixed(8, &unused);
    case WireType::kFixed32:
      return ReadFixed(4, &unused);
    case WireType::kBytes:
      return ReadBytes(&bytes);
    case WireType::kEndGroup:
      return false;
    case WireType::kStartGroup:
      break;
  }
  if (depth >= kDepthMax) return false;
  while (!rest_.empty()) {
    uint32_t inner;
    WireType inner_type;
    if (!ReadTag(&inner, &inner_type)) return false;
    if (inner_type == WireType::kEndGroup) return inner == number;
    if (!SkipAtDepth(inner, inner_type, depth + 1)) return false;
  }
  return false;
}

void AppendVarint(uint64_t value, std::string* to) {
  for (; value >= 0x80; value >>= 7) to->push_back(static_cast<char>(value | 0x80));
  to->push_back(static_cast<char>(value));
}

void AppendTag(int number, WireType type, std::string* to) {
  AppendVarint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type), to);
}

void AppendFixed(uint64_t value, int bytes, std::string* to) {
  for (int i = 0; i < bytes; ++i) to->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace sluice
