#include "graph/format/text.h"

#include <climits>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "graph/status.h"

namespace sluice {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::Message;
using google::protobuf::TextFormat;

constexpr int kMaxDepth = 100;

// Finds the messages of package tensorflow in package sluice.pb.
class AnyFinder : public TextFormat::Finder {
 public:
  const Descriptor* FindAnyType(const Message& message, const std::string& prefix,
                                const std::string& name) const override {
    constexpr std::string_view kTheirs = "tensorflow.";
    const std::string ours =
        name.starts_with(kTheirs) ? StrCat("sluice.pb.", name.substr(kTheirs.size())) : name;
    const Descriptor* found = DescriptorPool::generated_pool()->FindMessageTypeByName(ours);
    return found ? found : TextFormat::Finder::FindAnyType(message, prefix, name);
  }
};

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (text_.empty()) text_ = StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

bool ParseBinary(std::string_view bytes, Message* message) {
  if (bytes.size() > INT_MAX) return false;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetRecursionLimit(kMaxDepth);
  return message->ParseFromCodedStream(&in) && in.ConsumedEntireMessage();
}

bool IsControl(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
}

// Text begins with a field's name or a comment, and has no control characters.
bool LooksLikeText(std::string_view bytes) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == bytes.npos) return false;
  const char c = bytes[start];
  if (c != '#' && c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) return false;
  const std::string_view beginning = bytes.substr(start, 512);
  return std::none_of(beginning.begin(), beginning.end(), IsControl);
}

}  // namespace

absl::Status ParseText(std::string_view text, Message* message) {
  SLUICE_INVALID_IF(text.size() > INT_MAX, "text of more than 2 GiB");
  static const AnyFinder* finder = new AnyFinder;
  FirstError errors;
  TextFormat::Parser parser;
  parser.SetFinder(finder);
  parser.SetRecursionLimit(kMaxDepth);
  parser.RecordErrorsTo(&errors);
  google::protobuf::io::ArrayInputStream in(text.data(), static_cast<int>(text.size()));
  if (parser.Parse(&in, message)) return absl::OkStatus();
  return InvalidArgument(errors.text());
}

std::string PrintText(const Message& message) {
  static const AnyFinder* finder = new AnyFinder;
  TextFormat::Printer printer;
  printer.SetFinder(finder);
  printer.SetExpandAny(true);
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

absl::Status ParseBinaryOrText(std::string_view bytes, std::string_view what, Message* message) {
  if (ParseBinary(bytes, message)) return absl::OkStatus();
  SLUICE_INVALID_IF(bytes.size() > INT_MAX, what, " of ", bytes.size(),
                    " bytes: at most 2 GiB can be read");
  message->Clear();
  SLUICE_INVALID_IF(!LooksLikeText(bytes), what, ": ", bytes.size(),
                    " bytes that are neither binary nor text");
  return Annotate(ParseText(bytes, message), StrCat(what, ": "));
}

}  // namespace sluice
