// A Protobuf message type that is known only at run time, and the fields that an op uses.
//
// Thread safety: immutable.
// Ownership: the object owns its descriptors, except for types that are linked into the program.
#ifndef SLUICE_OPS_STRINGS_PROTO_TYPE_H_
#define SLUICE_OPS_STRINGS_PROTO_TYPE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/dynamic_message.h"
#include "graph/tensor/dtype.h"

namespace sluice {

class ProtoType {
 public:
  using Field = google::protobuf::FieldDescriptor;

  // The message type `name`, which `source` defines. `source` is "bytes://" followed by a
  // serialized FileDescriptorSet, the path of a file that contains one, or "local://" or "" for the
  // types that are linked into the program. TensorFlow's types are linked in and have their usual
  // names ("tensorflow.Example"). INVALID_ARGUMENT if the source or a field is not valid.
  static absl::StatusOr<std::shared_ptr<const ProtoType>> Make(
      const std::string& source, const std::string& name,
      const std::vector<std::string>& field_names);

  const google::protobuf::Descriptor& descriptor() const { return *descriptor_; }
  // The fields, in the order of `field_names`.
  const std::vector<const Field*>& fields() const { return fields_; }
  // Positions in fields(), in ascending order of the fields' numbers.
  const std::vector<int>& order() const { return order_; }

  // Parses a message in text or binary format, and serializes it in binary format. DATA_LOSS if it
  // cannot be parsed.
  absl::StatusOr<std::string> Reserialize(const std::string& message, bool is_text) const;

 private:
  absl::Status SetFields(const std::vector<std::string>& names);

  std::unique_ptr<google::protobuf::DescriptorPool> own_;
  const google::protobuf::DescriptorPool* pool_ = nullptr;
  const google::protobuf::Descriptor* descriptor_ = nullptr;
  std::vector<const Field*> fields_;
  std::vector<int> order_;
  // Thread-safe.
  mutable google::protobuf::DynamicMessageFactory factory_;
};

// Whether tensors of this type hold values of the field.
bool HoldsField(DataType dtype, const google::protobuf::FieldDescriptor& field);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_PROTO_TYPE_H_
