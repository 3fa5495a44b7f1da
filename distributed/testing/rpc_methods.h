// Methods for the servers of tests.
#ifndef SLUICE_DISTRIBUTED_TESTING_RPC_METHODS_H_
#define SLUICE_DISTRIBUTED_TESTING_RPC_METHODS_H_

#include <functional>

#include "distributed/message/rpc_call.h"

namespace sluice {

// /a.B/Echo: responds with its request.
inline RpcMethod Echo() {
  return {"/a.B/Echo", [](RpcCall& c) { c.Finish(c.request()); }};
}

// /a.B/Fail: fails with OUT_OF_RANGE "no more".
inline RpcMethod Fails() {
  return {"/a.B/Fail", [](RpcCall& c) { c.Finish(absl::OutOfRangeError("no more")); }};
}

// /a.B/Wait: calls `begun` and waits until it is cancelled.
inline RpcMethod Waits(std::function<void()> begun) {
  return {"/a.B/Wait", [begun](RpcCall& c) {
            const auto token = c.cancellation().NewToken();
            const auto give_up = [&c] { c.Finish(absl::CancelledError("gave up")); };
            if (!c.cancellation().Register(token, give_up)) return give_up();
            begun();
          }};
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_TESTING_RPC_METHODS_H_
