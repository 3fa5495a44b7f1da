// Calls whose messages are plain protocol buffers.
#ifndef SLUICE_DISTRIBUTED_WIRE_ANSWER_H_
#define SLUICE_DISTRIBUTED_WIRE_ANSWER_H_

#include "distributed/wire/rpc_server.h"
#include "distributed/wire/tensor_message.h"

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

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_ANSWER_H_
