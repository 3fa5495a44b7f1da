// Messages whose tensors travel beside them: bytes go from a tensor's memory to the wire and from
// the wire into a tensor's memory, without passing through a protocol buffer.
//
// Of a message like
//   message RunStepRequest { …; repeated NamedTensorProto feed = 2; … }
// field 2 is taken out, and read and written here; the rest is a protocol buffer as ever. The
// encoding is TensorFlow's.
//
// Thread safety: functions only. Ownership: an encoded message holds the tensors' buffers until
// gRPC has sent it.
#ifndef SLUICE_DISTRIBUTED_WIRE_TENSOR_MESSAGE_H_
#define SLUICE_DISTRIBUTED_WIRE_TENSOR_MESSAGE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "google/protobuf/message.h"
#include "graph/tensor/tensor.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

struct NamedTensor {
  std::string name;
  Tensor value;
};

// How the field holds a tensor: a TensorProto, or a NamedTensorProto.
struct TensorField {
  enum Form { kBare, kNamed };
  int number;
  Form form;
};

// Contents of plain bytes may have any size. UNIMPLEMENTED for variants of classes that have no
// encoding; INVALID_ARGUMENT for strings of more than 2 GB.
absl::StatusOr<grpc::ByteBuffer> EncodeMessage(const google::protobuf::Message& rest,
                                               TensorField field,
                                               absl::Span<const NamedTensor> tensors);
grpc::ByteBuffer EncodeMessage(const google::protobuf::Message& message);

// INVALID_ARGUMENT for bytes that are no such message, and for tensors that are larger than allowed
// (graph/format/limits.h).
absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, TensorField field,
                           google::protobuf::Message* rest, std::vector<NamedTensor>* tensors);
// The same, letting go of the bytes while they are read: `bytes` is empty afterwards. Of a large
// tensor then not much more than one copy is in memory.
absl::Status TakeMessage(grpc::ByteBuffer* bytes, TensorField field,
                         google::protobuf::Message* rest, std::vector<NamedTensor>* tensors);
absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, google::protobuf::Message* message);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_TENSOR_MESSAGE_H_
