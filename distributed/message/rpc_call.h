// Interface of a call from another process, as the handler of the called method sees it. Calls over
// gRPC and over lanes (lane/lane_socket.h) look the same.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_RPC_CALL_H_
#define SLUICE_DISTRIBUTED_MESSAGE_RPC_CALL_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "executor/wait/cancellation.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

// A call of a peer. Lifetime: until Finish. Nothing may touch the call afterwards.
class RpcCall {
 public:
  virtual grpc::ByteBuffer& request() = 0;
  // Cancelled when the peer gives up, disconnects or reaches its deadline.
  virtual CancellationManager& cancellation() = 0;
  // The size of the largest response that the peer can receive, in bytes. Not limited if the peer
  // takes chunked messages. A larger response ends the call with RESOURCE_EXHAUSTED.
  virtual uint64_t max_response_bytes() const { return UINT64_MAX; }
  // Sends the response or error. Called once, from any thread.
  virtual void Finish(const absl::StatusOr<grpc::ByteBuffer>& response) = 0;
  // The connection of the call, such as "ipv4:10.0.0.7:41200". "" if it came from this process.
  virtual std::string client() const { return ""; }

 protected:
  virtual ~RpcCall() = default;
};

// A method of a server. `handle` finishes the call before or after it returns.
struct RpcMethod {
  std::string path;  // "/tensorflow.MasterService/RunStep"
  std::function<void(RpcCall&)> handle;
  bool blocks = true;       // `handle` may wait or take long
  bool is_one_way = false;  // peers need no response; `handle` finishes the call before it returns
  bool needs_token = true;  // if the cluster has a token, calls must carry it
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_RPC_CALL_H_
