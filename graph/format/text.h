// Messages as text (protobuf's text format), and telling text from binary.
//
// Text that TensorFlow wrote names its packages in `Any` fields only ("type.googleapis.com/
// tensorflow.X"); these are read and written as TensorFlow does.
#ifndef SLUICE_GRAPH_FORMAT_TEXT_H_
#define SLUICE_GRAPH_FORMAT_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}

namespace sluice {

// INVALID_ARGUMENT with line and column of the first mistake.
absl::Status ParseText(std::string_view text, google::protobuf::Message* message);
std::string PrintText(const google::protobuf::Message& message);

// `bytes` as binary, else as text. INVALID_ARGUMENT when it is neither; `what` names it in messages
// ("GraphDef").
absl::Status ParseBinaryOrText(std::string_view bytes, std::string_view what,
                               google::protobuf::Message* message);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_TEXT_H_
