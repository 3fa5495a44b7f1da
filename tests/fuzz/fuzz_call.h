// FuzzCall is a call of a service's method. Its request is a fuzzer's bytes, and it keeps the
// response.
#ifndef SLUICE_TESTS_FUZZ_FUZZ_CALL_H_
#define SLUICE_TESTS_FUZZ_FUZZ_CALL_H_

#include <cstdlib>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "distributed/message/bytes.h"
#include "distributed/message/rpc_call.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"

namespace sluice {

// Thread safety: all methods may be called from any thread. Aborts if the call is finished twice.
class FuzzCall final : public RpcCall {
 public:
  explicit FuzzCall(std::string_view bytes) : request_(BytesOf(bytes)) {}
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  void Finish(const absl::StatusOr<grpc::ByteBuffer>& response) override {
    ScopedLock lock(&mutex_);
    if (response_) std::abort();  // finished twice
    response_ = response;
  }
  std::optional<absl::StatusOr<grpc::ByteBuffer>> response() {
    ScopedLock lock(&mutex_);
    return response_;
  }

 private:
  grpc::ByteBuffer request_;
  CancellationManager cancellation_;
  Mutex mutex_;
  std::optional<absl::StatusOr<grpc::ByteBuffer>> response_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TESTS_FUZZ_FUZZ_CALL_H_
