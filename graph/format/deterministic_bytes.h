// Serializes a message with sorted map entries, so that equal messages have equal bytes in every
// process of one build.
#ifndef SLUICE_GRAPH_FORMAT_DETERMINISTIC_BYTES_H_
#define SLUICE_GRAPH_FORMAT_DETERMINISTIC_BYTES_H_

#include <string>

namespace google::protobuf {
class MessageLite;
}

namespace sluice {

std::string DeterministicBytes(const google::protobuf::MessageLite& message);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_DETERMINISTIC_BYTES_H_
