// Reads and writes single fields in Protobuf's wire format.
//
// Thread safety: a reader belongs to one thread.
// Reference: https://protobuf.dev/programming-guides/encoding.
#ifndef SLUICE_OPS_STRINGS_PROTO_WIRE_H_
#define SLUICE_OPS_STRINGS_PROTO_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "google/protobuf/descriptor.h"

namespace sluice {

enum class WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};
WireType WireTypeOf(const google::protobuf::FieldDescriptor& field);

// Reads bytes from the front. Read functions and Skip return false if the bytes are not valid.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }
  bool ReadTag(uint32_t* number, WireType* type);
  bool ReadVarint(uint64_t* value);
  bool ReadFixed(int bytes, uint64_t* value);
  bool ReadBytes(std::string_view* bytes);
  // Reads the fields of a group, whose start tag has been read.
  bool ReadGroup(uint32_t number, std::string_view* bytes);
  // Skips a value whose tag has been read.
  bool Skip(uint32_t number, WireType type) { return SkipAtDepth(number, type, 0); }

 private:
  bool SkipAtDepth(uint32_t number, WireType type, int depth);
  std::string_view rest_;
};

void AppendVarint(uint64_t value, std::string* to);
void AppendTag(int number, WireType type, std::string* to);
// Appends the lowest `bytes` bytes of `value`.
void AppendFixed(uint64_t value, int bytes, std::string* to);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_PROTO_WIRE_H_
