// Calls whose messages are plain protocol buffers.
#ifndef SLUICE_DISTRIBUTED_WIRE_ANSWER_H_
#define SLUICE_DISTRIBUTED_WIRE_ANSWER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distributed/wire/rpc_server.h"
#include "distributed/wire/tensor_message.h"
#include "google/protobuf/message.h"
#include "graph/format/proto/error_codes.pb.h"

namespace sluice {

// Answers with what `answer(request, &response)` says.
template <typename Request, typename Response, typename F>
void Answer(RpcCall& call, F answer) {
  Request request;
  Response response;
  absl::Status status = DecodeMessage(call.request(), &request);
  if (status.ok()) status = answer(request, &response);
  call.Finish(status, EncodeMessage(response));
}

// Answers with an empty message once nobody holds the result any more.
std::shared_ptr<void> AnswerWhenFree(RpcCall& call);

// The message, if the caller can take it; else RESOURCE_EXHAUSTED, which names the largest fetch.
absl::StatusOr<grpc::ByteBuffer> EncodeAnswer(const RpcCall& call,
                                              const google::protobuf::Message& rest,
                                              TensorField field,
                                              absl::Span<const NamedTensor> fetches);

// Answers the call that ran a step with its fetches or its error, which stands in the body of the
// response where the request asks for that.
template <typename Request, typename Response>
void AnswerStep(RpcCall& call, const Request& request, absl::Status status,
                const Response& response, TensorField field,
                const std::vector<NamedTensor>& fetches) {
  if (status.ok()) {
    const absl::StatusOr<grpc::ByteBuffer> encoded = EncodeAnswer(call, response, field, fetches);
    if (encoded.ok()) return call.Finish(absl::OkStatus(), *encoded);
    status = encoded.status();
  }
  if (!request.store_errors_in_response_body()) return call.Finish(status, grpc::ByteBuffer());
  Response failed;
  failed.set_status_code(static_cast<pb::error::Code>(status.code()));
  failed.set_status_error_message(std::string(status.message()));
  call.Finish(absl::OkStatus(), EncodeMessage(failed));
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_ANSWER_H_
