#include "ops/strings/proto_type.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/match.h"
#include "executor/files/files.h"
#include "google/protobuf/descriptor.pb.h"
#include "graph/format/text.h"
#include "graph/status.h"

namespace sluice {
namespace {

namespace protobuf = google::protobuf;

// Keeps the first error, instead of logging all errors.
class FirstError : public protobuf::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const protobuf::Message*,
                ErrorLocation, const std::string& message) override {
    if (text_.empty()) text_ = StrCat(file, ": ", element, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::StatusOr<std::string> DescriptorBytes(const std::string& source) {
  constexpr std::string_view kBytes = "bytes://";
  if (FileExists(source)) return ReadWholeFile(source);
  if (source.starts_with(kBytes)) return source.substr(kBytes.size());
  return InvalidArgument("Source does not represent serialized file descriptor set proto: ",
                         source.substr(0, 200));
}

absl::StatusOr<std::unique_ptr<protobuf::DescriptorPool>> PoolOf(const std::string& source) {
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, DescriptorBytes(source));
  protobuf::FileDescriptorSet set;
  SLUICE_INVALID_IF(!set.ParseFromString(bytes),
                    "Source does not represent serialized file descriptor set proto.");
  auto pool = std::make_unique<protobuf::DescriptorPool>();
  for (const protobuf::FileDescriptorProto& file : set.file()) {
    FirstError error;
    SLUICE_INVALID_IF(pool->BuildFileCollectingErrors(file, &error) == nullptr,
                      "Failed to load FileDescriptorProto: ", error.text());
  }
  return pool;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ProtoType>> ProtoType::Make(
    const std::string& source, const std::string& name,
    const std::vector<std::string>& field_names) {
  auto made = std::make_shared<ProtoType>();
  made->pool_ = protobuf::DescriptorPool::generated_pool();
  if (source == "local://" || source.empty()) {
    made->descriptor_ = made->pool_->FindMessageTypeByName(name);
    constexpr std::string_view kTheirs = "tensorflow.";
    if (made->descriptor_ == nullptr && name.starts_with(kTheirs)) {
      made->descriptor_ =
          made->pool_->FindMessageTypeByName(StrCat("sluice.pb.", name.substr(kTheirs.size())));
    }
  } else {
    SLUICE_ASSIGN_OR_RETURN(made->own_, PoolOf(source));
    made->pool_ = made->own_.get();
    made->descriptor_ = made->pool_->FindMessageTypeByName(name);
  }
  SLUICE_INVALID_IF(made->descriptor_ == nullptr, "No descriptor found for message type ", name);
  SLUICE_RETURN_IF_ERROR(made->SetFields(field_names));
  return made;
}

absl::Status ProtoType::SetFields(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Field* field = descriptor_->FindFieldByName(name);
    if (field == nullptr) {
      field = pool_->FindExtensionByName(name);
      if (field != nullptr && field->containing_type() != descriptor_) field = nullptr;
    }
    SLUICE_INVALID_IF(field == nullptr, "Unknown field: ", name, " in message type ",
                      descriptor_->full_name());
    fields_.push_back(field);
  }
  order_.resize(fields_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int a, int b) { return fields_[a]->number() < fields_[b]->number(); });
  return absl::OkStatus();
}

absl::StatusOr<std::string> ProtoType::Reserialize(const std::string& message, bool is_text) const {
  const protobuf::Message* prototype = factory_.GetPrototype(descriptor_);
  std::unique_ptr<protobuf::Message> made(prototype->New());
  if (is_text) {
    if (const absl::Status parsed = ParseText(message, made.get()); !parsed.ok()) {
      return absl::DataLossError(
          StrCat("Unable to parse text protobuf: ", ToStd(parsed.message())));
    }
  } else if (!made->ParsePartialFromString(message) || !made->IsInitialized()) {
    return absl::DataLossError("Unable to parse binary protobuf");
  }
  std::string bytes;
  if (made->SerializeToString(&bytes)) return bytes;
  return absl::DataLossError("Unable to reserialize text proto as binary");
}

bool HoldsField(DataType dtype, const google::protobuf::FieldDescriptor& field) {
  switch (field.type()) {
    case ProtoType::Field::TYPE_DOUBLE:
      return dtype == DT_DOUBLE;
    case ProtoType::Field::TYPE_FLOAT:
      return dtype == DT_FLOAT || dtype == DT_DOUBLE;
    case ProtoType::Field::TYPE_INT64:
    case ProtoType::Field::TYPE_SFIXED64:
    case ProtoType::Field::TYPE_SINT64:
      return dtype == DT_INT64;
    case ProtoType::Field::TYPE_UINT64:
    case ProtoType::Field::TYPE_FIXED64:
      return dtype == DT_UINT64;
    case ProtoType::Field::TYPE_INT32:
    case ProtoType::Field::TYPE_SFIXED32:
    case ProtoType::Field::TYPE_SINT32:
      return dtype == DT_INT32 || dtype == DT_INT64;
    case ProtoType::Field::TYPE_UINT32:
    case ProtoType::Field::TYPE_FIXED32:
      return dtype == DT_UINT32 || dtype == DT_UINT64;
    case ProtoType::Field::TYPE_BOOL:
      return dtype == DT_BOOL;
    case ProtoType::Field::TYPE_ENUM:
      return dtype == DT_INT32;
    default:
      return dtype == DT_STRING;
  }
}

}  // namespace sluice
