// Messages in protobuf's text format, and the distinction between text and binary.
//
// TensorFlow's text names packages only in `Any` fields ("type.googleapis.com/tensorflow.X"). They
// are read and written in the same way. Thread safety: pure functions.
#ifndef SLUICE_GRAPH_FORMAT_TEXT_H_
#define SLUICE_GRAPH_FORMAT_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}

namespace sluice {

// INVALID_ARGUMENT with line and column of the first error.
absl::Status ParseText(std::string_view text, google::protobuf::Message* message);
std::string PrintText(const google::protobuf::Message& message);

// Parses `bytes` as binary, or as text if that fails. INVALID_ARGUMENT if both fail; the error
// names the message `what` ("GraphDef").
absl::Status ParseBinaryOrText(std::string_view bytes, std::string_view what,
                               google::protobuf::Message* message);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_TEXT_H_
