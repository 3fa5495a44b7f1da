// Functions that make RPC methods (RpcMethod) from handlers that use protocol buffers, and that
// respond to calls.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_RESPOND_H_
#define SLUICE_DISTRIBUTED_MESSAGE_RESPOND_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distributed/message/rpc_call.h"
#include "distributed/message/tensor_message.h"
#include "executor/wait/out_of_memory.h"
#include "google/protobuf/message.h"
#include "graph/format/proto/error_codes.pb.h"
#include "graph/status.h"

namespace sluice {

// Makes a method that responds when `handle` returns: with the message that it filled, or with its
// error. If `blocks` is false, `handle` does not block, and peers may call the method without
// waiting for a response (RpcMethod::is_one_way). `service` must outlive the method.
template <typename Service, typename Request, typename Response>
RpcMethod UnaryMethod(std::string path, Service* service,
                      absl::Status (Service::*handle)(const Request&, Response*),
                      bool blocks = true) {
  const auto respond = [service, handle](RpcCall& call) {
    Request request;
    Response response;
    const absl::Status status = OrOutOfMemory([&]() -> absl::Status {
      SLUICE_RETURN_IF_ERROR(DecodeMessage(call.request(), &request));
      return (service->*handle)(request, &response);
    });
    if (!status.ok()) return call.Finish(status);
    call.Finish(OrOutOfMemory(
        [&]() -> absl::StatusOr<grpc::ByteBuffer> { return EncodeMessage(response); }));
  };
  return {std::move(path), respond, blocks, /*is_one_way=*/!blocks};
}

// Makes a method whose handler finishes the call itself, before or after the handler returns. If
// the request is not a valid message, the call ends with an error and the handler is not called.
template <typename Service, typename Request>
RpcMethod Method(std::string path, Service* service,
                 void (Service::*handle)(const Request&, RpcCall&), bool blocks = true) {
  const auto decode = [service, handle](RpcCall& call) {
    Request request;
    const absl::Status status =
        OrOutOfMemory([&] { return DecodeMessage(call.request(), &request); });
    if (!status.ok()) return call.Finish(status);
    (service->*handle)(request, call);
  };
  return {std::move(path), decode, blocks};
}

// Makes a method whose handler also decodes the request.
template <typename Service>
RpcMethod Method(std::string path, Service* service, void (Service::*handle)(RpcCall&),
                 bool blocks = true) {
  return {std::move(path), [service, handle](RpcCall& call) { (service->*handle)(call); }, blocks};
}

// Returns an object that sends an empty response when its last copy is destroyed.
std::shared_ptr<void> RespondWhenReleased(RpcCall& call);

// Encodes the response to a call that ran a step: the message `rest` with the fetches in its field
// `field`. RESOURCE_EXHAUSTED, with the name of the largest fetch, if the caller cannot receive a
// message of that size.
absl::StatusOr<grpc::ByteBuffer> EncodeFetches(const RpcCall& call,
                                               const google::protobuf::Message& rest,
                                               TensorField field,
                                               absl::Span<const NamedTensor> fetches);

// Responds to the call that ran a step, with the step's fetches or its error. An error goes into
// the body of the response if the request sets store_errors_in_response_body.
template <typename Request, typename Response>
void RespondToStep(RpcCall& call, const Request& request, const absl::Status& status,
                   const Response& response, TensorField field,
                   const std::vector<NamedTensor>& fetches) {
  const absl::StatusOr<grpc::ByteBuffer> encoded =
      status.ok() ? OrOutOfMemory([&] { return EncodeFetches(call, response, field, fetches); })
                  : absl::StatusOr<grpc::ByteBuffer>(status);
  if (encoded.ok() || !request.store_errors_in_response_body()) return call.Finish(encoded);
  Response failed;
  failed.set_status_code(static_cast<pb::error::Code>(encoded.status().code()));
  failed.set_status_error_message(std::string(encoded.status().message()));
  call.Finish(EncodeMessage(failed));
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_RESPOND_H_
