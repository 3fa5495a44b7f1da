// Methods of servers that tests call, and the bytes of their calls.
#ifndef SLUICE_DISTRIBUTED_TESTING_RPC_METHODS_H_
#define SLUICE_DISTRIBUTED_TESTING_RPC_METHODS_H_

#include <functional>
#include <string>
#include <vector>

#include "distributed/wire/rpc_server.h"
#include "executor/wait/cancellation.h"
#include "gtest/gtest.h"

namespace sluice {

inline grpc::ByteBuffer Bytes(const std::string& text) {
  grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

inline std::string Text(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

// /a.B/Wait: tells that it has begun, and waits until it is cancelled.
inline RpcMethod Waits(std::function<void()> begun) {
  return {"/a.B/Wait", [begun](RpcCall& c) {
            const auto token = c.cancellation().NewToken();
            const auto give_up = [&c] {
              c.Finish(absl::CancelledError("gave up"), grpc::ByteBuffer());
            };
            if (!c.cancellation().Register(token, give_up)) return give_up();
            begun();
          }};
}

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_TESTING_RPC_METHODS_H_
