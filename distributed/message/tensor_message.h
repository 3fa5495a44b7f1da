// Encodes and decodes messages with tensors. The bytes of a tensor go from its memory to the wire,
// and from the wire into a tensor's memory, without passing through a protocol buffer.
//
// In a message like
//   message RunStepRequest { ...; repeated NamedTensorProto feed = 2; ... }
// these functions handle field 2; the other fields are an ordinary protocol buffer. The encoding is
// TensorFlow's.
//
// Thread safety: all functions may be called from any thread.
// Ownership: an encoded message shares the tensors' buffers until gRPC has sent it.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_TENSOR_MESSAGE_H_
#define SLUICE_DISTRIBUTED_MESSAGE_TENSOR_MESSAGE_H_

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

// The field of a message that holds tensors. Each tensor is a TensorProto (kBare) or a
// NamedTensorProto (kNamed).
struct TensorField {
  enum Form { kBare, kNamed };
  int number;
  Form form;
};

// Encodes `rest`, with the tensors in its field `field`. Tensors of numbers may have any size.
// UNIMPLEMENTED if a variant has no encoding. INVALID_ARGUMENT if a tensor of strings or
// variants has more than 2 GB.
absl::StatusOr<grpc::ByteBuffer> EncodeMessage(const google::protobuf::Message& rest,
                                               TensorField field,
                                               absl::Span<const NamedTensor> tensors);
grpc::ByteBuffer EncodeMessage(const google::protobuf::Message& message);

// INVALID_ARGUMENT if the bytes are not such a message, or if a tensor exceeds the limits of
// graph/format/limits.h.
absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, TensorField field,
                           google::protobuf::Message* rest, std::vector<NamedTensor>* tensors);
absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, google::protobuf::Message* message);
// Like DecodeMessage, but leaves `bytes` empty: it frees the bytes while it reads them, so that
// memory holds little more than one copy of a large tensor.
absl::Status TakeMessage(grpc::ByteBuffer* bytes, TensorField field,
                         google::protobuf::Message* rest, std::vector<NamedTensor>* tensors);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_TENSOR_MESSAGE_H_
