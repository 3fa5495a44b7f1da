// Converts between gRPC's byte buffers and text.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_BYTES_H_
#define SLUICE_DISTRIBUTED_MESSAGE_BYTES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {

// Returns a buffer with a copy of the text. It also makes empty messages, because gRPC cannot send
// a default-constructed buffer.
inline grpc::ByteBuffer BytesOf(std::string_view text) {
  const grpc::Slice slice(text.data(), text.size());
  return grpc::ByteBuffer(&slice, 1);
}

// Returns slices that share the memory of the buffer. None if the buffer is invalid.
inline std::vector<grpc::Slice> SlicesOf(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (bytes.Valid() && !bytes.Dump(&slices).ok()) slices.clear();
  return slices;
}

// Moves the bytes out of a response. The response is empty afterwards, and shares no memory with
// the result.
inline absl::StatusOr<grpc::ByteBuffer> TakeBytes(absl::StatusOr<grpc::ByteBuffer>& response) {
  if (!response.ok()) return response.status();
  absl::StatusOr<grpc::ByteBuffer> taken(absl::in_place);
  taken->Swap(&*response);
  return taken;
}

inline std::string TextOf(const grpc::ByteBuffer& bytes) {
  std::string text;
  for (const grpc::Slice& slice : SlicesOf(bytes)) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_BYTES_H_
