#include "distributed/wire/rpc_client.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <utility>

#include "distributed/wire/grpc_library.h"
#include "distributed/wire/hand_over.h"
#include "distributed/wire/status.h"
#include "graph/status.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace sluice {
namespace {

// Answers may decode large tensors: one thread does that while the other hears of the next.
constexpr int kListeners = 2;

}  // namespace

struct RpcClient::Grpc {
  grpc::CompletionQueue queue;
};

class RpcClient::Pending {
 public:
  Pending(CancellationManager* cancellation, Done done)
      : cancellation_(cancellation),
        token_(cancellation == nullptr ? 0 : cancellation->NewToken()),
        done_(std::move(done)) {}

  void Start(const std::shared_ptr<grpc::Channel>& channel, const Call& call,
             const std::string& token, grpc::CompletionQueue* queue) {
    if (!token.empty()) context_.AddMetadata(kTokenHeader, token);
    if (call.timeout_ms > 0) {
      context_.set_deadline(std::chrono::system_clock::now() +
                            std::chrono::milliseconds(call.timeout_ms));
    }
    context_.set_wait_for_ready(call.wait_for_ready);
    grpc::GenericStub stub(channel);
    reader_ = stub.PrepareUnaryCall(&context_, call.path, call.request, queue);
    reader_->StartCall();
    // Before Finish, after which the call may end, and this object with it.
    if (cancellation_ != nullptr &&
        !cancellation_->Register(token_, [this] { context_.TryCancel(); })) {
      cancellation_ = nullptr;
      context_.TryCancel();
    }
    auto* const reader = reader_.get();
    hand_over_.Give();
    reader->Finish(&response_, &status_, this);
  }

  void Ended() {
    hand_over_.Take();
    if (cancellation_ != nullptr) cancellation_->Deregister(token_);
    done_(FromGrpc(status_), std::move(response_));
    delete this;
  }

 private:
  CancellationManager* cancellation_;
  const CancellationManager::Token token_;
  const Done done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  HandOver hand_over_;
};

RpcClient::RpcClient() : RpcClient(grpc::InsecureChannelCredentials(), Options()) {}

absl::StatusOr<std::unique_ptr<RpcClient>> RpcClient::Make(const Options& options) {
  SLUICE_ASSIGN_OR_RETURN(auto credentials, ChannelCredentials(options.security));
  return std::unique_ptr<RpcClient>(new RpcClient(std::move(credentials), options));
}

RpcClient::RpcClient(std::shared_ptr<grpc::ChannelCredentials> credentials, const Options& options)
    : credentials_(std::move(credentials)),
      token_(options.security.token),
      server_name_(options.security.server_name),
      heartbeat_(options.heartbeat),
      grpc_(std::make_unique<Grpc>()) {
  KeepGrpc();
  if (options.lanes && !options.security.uses_tls()) {
    lanes_ = std::make_unique<LaneClient>(token_, heartbeat_);
  }
  for (int i = 0; i < kListeners; ++i) threads_.emplace_back([this] { Listen(); });
}

RpcClient::~RpcClient() {
  lanes_.reset();
  grpc_->queue.Shutdown();
  for (std::thread& thread : threads_) thread.join();
}

void RpcClient::Listen() {
  void* tag;
  bool ok;
  while (grpc_->queue.Next(&tag, &ok)) static_cast<Pending*>(tag)->Ended();
}

std::shared_ptr<grpc::Channel> RpcClient::ChannelTo(const std::string& address) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<grpc::Channel>& channel = channels_[address];
  if (channel == nullptr) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(INT32_MAX);
    arguments.SetMaxSendMessageSize(INT32_MAX);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, heartbeat_.interval_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                     std::max(heartbeat_.timeout_ms - heartbeat_.interval_ms, 1));
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // A connection of its own, not one that another client of the process made.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (!server_name_.empty()) arguments.SetSslTargetNameOverride(server_name_);
    channel = grpc::CreateCustomChannel(address, credentials_, arguments);
  }
  return channel;
}

void RpcClient::Start(Call call, Done done) {
  if (lanes_ != nullptr && lanes_->Start(call.address, call.path, call.request, call.cancellation,
                                         call.timeout_ms, done)) {
    return;
  }
  auto* pending = new Pending(call.cancellation, std::move(done));
  pending->Start(ChannelTo(call.address), call, token_, &grpc_->queue);
}

absl::Status RpcClient::Run(Call call, grpc::ByteBuffer* response) {
  struct {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    absl::Status status;
  } state;
  Start(std::move(call), [&](absl::Status status, grpc::ByteBuffer bytes) {
    std::lock_guard<std::mutex> lock(state.mutex);
    state.status = std::move(status);
    *response = std::move(bytes);
    state.ended = true;
    state.changed.notify_all();
  });
  std::unique_lock<std::mutex> lock(state.mutex);
  state.changed.wait(lock, [&] { return state.ended; });
  return state.status;
}

}  // namespace sluice
