// Parses and prints messages in protobuf's text format.
//
// The messages are in package sluice.pb, TensorFlow's in package tensorflow. The format names
// packages only in `Any` fields, which are read and written with TensorFlow's package
// ("type.googleapis.com/tensorflow.X"). Thread safety: pure functions.
#ifndef SLUICE_GRAPH_FORMAT_TEXT_H_
#define SLUICE_GRAPH_FORMAT_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}

namespace sluice {

// INVALID_ARGUMENT if the text is malformed. The error has the line and column of the first
// mistake.
absl::Status ParseText(std::string_view text, google::protobuf::Message* message);
std::string PrintText(const google::protobuf::Message& message);

// Parses `bytes` as binary, or as text if that fails. INVALID_ARGUMENT if both fail; the error
// names the message `what` ("GraphDef").
absl::Status ParseBinaryOrText(std::string_view bytes, std::string_view what,
                               google::protobuf::Message* message);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_TEXT_H_
