// A call that a test makes to a handler, without a transport.
#ifndef SLUICE_DISTRIBUTED_TESTING_FAKE_CALL_H_
#define SLUICE_DISTRIBUTED_TESTING_FAKE_CALL_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "distributed/message/rpc_call.h"
#include "graph/mutex.h"
#include "gtest/gtest.h"

namespace sluice {

// Thread safety: all methods may be called from any thread.
class FakeCall final : public RpcCall {
 public:
  explicit FakeCall(grpc::ByteBuffer request, uint64_t max_response_bytes = UINT64_MAX)
      : request_(std::move(request)), max_response_bytes_(max_response_bytes) {}
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  uint64_t max_response_bytes() const override { return max_response_bytes_; }
  void Finish(const absl::StatusOr<grpc::ByteBuffer>& response) override {
    ScopedLock lock(&mutex_);
    EXPECT_FALSE(response_.has_value()) << "finished twice";
    response_ = response;
    finished_.NotifyAll();
  }

  bool is_finished() {
    ScopedLock lock(&mutex_);
    return response_.has_value();
  }
  // Waits until the handler has finished the call.
  absl::StatusOr<grpc::ByteBuffer> Await() {
    ScopedLock lock(&mutex_);
    while (!response_) finished_.Wait(&mutex_);
    return *response_;
  }

 private:
  grpc::ByteBuffer request_;
  const uint64_t max_response_bytes_;
  CancellationManager cancellation_;
  Mutex mutex_;
  CondVar finished_;
  std::optional<absl::StatusOr<grpc::ByteBuffer>> response_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_TESTING_FAKE_CALL_H_
