// Runs servers and their clients within one process, without sockets: a call runs its handler in
// the calling thread.
#ifndef SLUICE_DISTRIBUTED_TESTING_LOOPBACK_H_
#define SLUICE_DISTRIBUTED_TESTING_LOOPBACK_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distributed/message/rpc_call.h"
#include "distributed/rpc/rpc_client.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"

namespace sluice {

// Thread safety: all methods may be called from any thread. A handler must finish its calls before
// this object is destroyed.
class Loopback final : public RpcClient {
 public:
  // Starts a server, and runs the calls that wait for it.
  void Serve(const std::string& address, std::vector<RpcMethod> methods) {
    std::vector<std::pair<Call, Done>> waiting;
    {
      ScopedLock lock(&mutex_);
      std::map<std::string, RpcMethod>& server = servers_[address];
      for (RpcMethod& method : methods) server[method.path] = std::move(method);
      std::swap(waiting, waiting_);
    }
    for (auto& [call, done] : waiting) Start(std::move(call), std::move(done));
  }
  // Makes later calls fail with UNAVAILABLE. Open calls are left to their handlers.
  void Stop(const std::string& address) {
    ScopedLock lock(&mutex_);
    servers_.erase(address);
  }

  void Start(Call call, Done done) override {
    RpcMethod method;
    {
      ScopedLock lock(&mutex_);
      const auto server = servers_.find(call.address);
      if (server == servers_.end() && call.wait_for_ready) {
        waiting_.emplace_back(std::move(call), std::move(done));
        return;
      }
      if (server != servers_.end()) method = server->second[call.path];
    }
    if (method.handle == nullptr) {
      absl::StatusOr<grpc::ByteBuffer> failed = absl::UnavailableError("no server");
      return done(failed);
    }
    auto opened = std::make_unique<LoopbackCall>(std::move(call), std::move(done));
    LoopbackCall& open = *opened;
    {
      ScopedLock lock(&mutex_);
      calls_.push_back(std::move(opened));
    }
    if (open.LinkCancellation()) method.handle(open);
  }

 private:
  class LoopbackCall final : public RpcCall {
   public:
    LoopbackCall(Call call, Done done) : call_(std::move(call)), done_(std::move(done)) {}
    grpc::ByteBuffer& request() override { return call_.request; }
    CancellationManager& cancellation() override { return cancellation_; }
    void Finish(const absl::StatusOr<grpc::ByteBuffer>& response) override {
      // Finish may run in the callback of this token. So it uses TryDeregister, which does not wait
      // until the callback ends.
      if (call_.cancellation != nullptr) call_.cancellation->TryDeregister(token_);
      absl::StatusOr<grpc::ByteBuffer> own = response;
      std::exchange(done_, nullptr)(own);
    }

    // Cancels the call when its caller cancels. If the caller has cancelled already, fails the call
    // and returns false.
    bool LinkCancellation() {
      if (call_.cancellation == nullptr) return true;
      token_ = call_.cancellation->NewToken();
      if (call_.cancellation->Register(token_, [this] { cancellation_.StartCancel(); })) {
        return true;
      }
      Finish(absl::CancelledError("CANCELLED"));
      return false;
    }

   private:
    Call call_;
    Done done_;
    CancellationManager::Token token_ = 0;
    CancellationManager cancellation_;
  };

  Mutex mutex_;
  std::map<std::string, std::map<std::string, RpcMethod>> servers_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<Call, Done>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<LoopbackCall>> calls_ ABSL_GUARDED_BY(mutex_);  // also finished ones
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_TESTING_LOOPBACK_H_
