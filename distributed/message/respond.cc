#include "distributed/message/respond.h"

#include <algorithm>

#include "distributed/message/bytes.h"
#include "graph/status.h"

namespace sluice {

std::shared_ptr<void> RespondWhenReleased(RpcCall& call) {
  return {&call, [](RpcCall* released) { released->Finish(BytesOf("")); }};
}

absl::StatusOr<grpc::ByteBuffer> EncodeFetches(const RpcCall& call,
                                               const google::protobuf::Message& rest,
                                               TensorField field,
                                               absl::Span<const NamedTensor> fetches) {
  absl::StatusOr<grpc::ByteBuffer> encoded = EncodeMessage(rest, field, fetches);
  if (!encoded.ok()) return encoded;
  const uint64_t most = call.max_response_bytes();
  if (encoded->Length() <= most || fetches.empty()) return encoded;
  const NamedTensor& largest = *std::max_element(
      fetches.begin(), fetches.end(),
      [](const NamedTensor& a, const NamedTensor& b) { return a.value.bytes() < b.value.bytes(); });
  encoded = absl::ResourceExhaustedError(
      StrCat("fetch '", largest.name, "' is ", DataTypeName(largest.value.dtype()), " ",
             largest.value.shape().ToString(), " of ", largest.value.bytes(),
             " bytes, and all fetches together take ", encoded->Length(), ": expected at most ",
             most, ", which is what a message to this client can have; fetch parts of it"));
  return encoded;
}

}  // namespace sluice
