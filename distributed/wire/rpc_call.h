// A call as those who answer it see it, however it came.
#ifndef SLUICE_DISTRIBUTED_WIRE_RPC_CALL_H_
#define SLUICE_DISTRIBUTED_WIRE_RPC_CALL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "executor/wait/cancellation.h"
#include "grpcpp/support/byte_buffer.h"

namespace sluice {

// One call of a peer. It is there until it is finished; then nobody may touch it any more.
class RpcCall {
 public:
  virtual grpc::ByteBuffer& request() = 0;
  // Fires when the peer gave up, lost its connection or reached its deadline.
  virtual CancellationManager& cancellation() = 0;
  // A larger response would end with RESOURCE_EXHAUSTED: the peer knows no messages in pieces.
  virtual uint64_t max_response_bytes() const { return UINT64_MAX; }
  // Once; from any thread.
  virtual void Finish(const absl::Status& status, const grpc::ByteBuffer& response) = 0;

 protected:
  virtual ~RpcCall() = default;
};

// Answers the call, now or later. A handler by path: "/tensorflow.MasterService/RunStep".
struct RpcMethod {
  std::string path;
  std::function<void(RpcCall&)> handle;
  bool blocks = true;    // `handle` may take long, or wait
  bool at_once = false;  // the call is finished when `handle` returns
};

// Who stops has ended what its handlers wait for: their answers still go out.
inline constexpr auto kStopGrace = std::chrono::seconds(2);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_RPC_CALL_H_
