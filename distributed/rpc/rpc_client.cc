#include "distributed/rpc/rpc_client.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "distributed/lane/lane_client.h"
#include "distributed/message/bytes.h"
#include "distributed/message/open_calls.h"
#include "distributed/message/slice_reader.h"
#include "distributed/rpc/chunks.h"
#include "distributed/rpc/grpc_support.h"
#include "executor/step/continuations.h"
#include "executor/step/outbox.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace sluice {
namespace {

// The number of threads that take responses over gRPC. While one decodes a large response, the
// other waits for the next response.
constexpr int kClientThreads = 2;

using Response = absl::StatusOr<grpc::ByteBuffer>;
using Clock = std::chrono::steady_clock;
constexpr Clock::time_point kNever = Clock::time_point::max();

// The timeout of a call that starts now: at least 1 ms, or 0 if there is no deadline.
int64_t TimeoutUntil(Clock::time_point deadline) {
  if (deadline == kNever) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::max<int64_t>(left.count(), 1);
}

class LanesAndGrpc final : public RpcClient {
 public:
  LanesAndGrpc(std::shared_ptr<grpc::ChannelCredentials> credentials, const Options& options);
  ~LanesAndGrpc() override;
  // Called once, before the first call. RESOURCE_EXHAUSTED if the threads cannot be started.
  absl::Status StartListeners();
  void Start(Call call, Done done) override;
  void Notify(Call call) override;

 private:
  class Pending;
  class ChunkedCall;
  // Sends the request as one gRPC message, or the label of a request that the server stores.
  void StartGrpc(Call call, const std::string& label, Done done);
  std::shared_ptr<grpc::Channel> ChannelTo(const Call& call);
  void Listen();

  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const std::string token_;
  const std::string server_name_;
  const Heartbeat heartbeat_;
  const uint64_t message_bytes_;
  std::unique_ptr<LaneClient> lanes_;  // null: none
  grpc::CompletionQueue queue_;
  OpenCalls calls_;  // over gRPC
  Mutex mutex_;
  // By address.
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_ ABSL_GUARDED_BY(mutex_);
  std::vector<Thread> threads_;
};

// A call over gRPC. It deletes itself when it has ended.
class LanesAndGrpc::Pending {
 public:
  Pending(LanesAndGrpc* client, Call call, Done done)
      : client_(client),
        call_(std::move(call)),
        cancellation_(call_.cancellation),
        token_(cancellation_ == nullptr ? 0 : cancellation_->NewToken()),
        done_(std::move(done)) {}

  void Start(const std::string& label) {
    context_.AddMetadata(kTakesChunks, "1");
    if (!label.empty()) context_.AddMetadata(kChunkedMessage, label);
    if (!client_->token_.empty()) {
      context_.AddMetadata(kTokenHeader, CurrentToken(client_->token_));
    }
    deadline_ = CancellationManager::DeadlineAfter(call_.timeout_ms);
    if (deadline_ != kNever) {
      context_.set_deadline(std::chrono::system_clock::now() +
                            std::chrono::milliseconds(call_.timeout_ms));
    }
    context_.set_wait_for_ready(call_.wait_for_ready);
    grpc::GenericStub stub(client_->ChannelTo(call_));
    reader_ = stub.PrepareUnaryCall(&context_, call_.path, call_.request, &client_->queue_);
    call_.request.Clear();
    reader_->StartCall();
    // Registered before Finish, after which the call may end and delete this object.
    if (cancellation_ != nullptr &&
        !cancellation_->Register(token_, [this] { context_.TryCancel(); })) {
      cancellation_ = nullptr;
      context_.TryCancel();
    }
    auto* const reader = reader_.get();
    hand_over_.Give();
    reader->Finish(&bytes_, &status_, this);
  }

  void Ended() {
    hand_over_.Take();
    if (cancellation_ != nullptr) cancellation_->Deregister(token_);
    if (!status_.ok()) {
      Response failed = FromGrpc(status_);
      done_(failed);
    } else if (!StartDownload()) {
      Response response(absl::in_place);
      response->Swap(&bytes_);
      done_(response);
    }
    LanesAndGrpc* const client = client_;
    delete this;
    client->calls_.End();
  }

 private:
  // Returns false if the response is not chunked.
  bool StartDownload();

  LanesAndGrpc* const client_;
  Call call_;
  Clock::time_point deadline_ = kNever;
  CancellationManager* cancellation_;
  const CancellationManager::Token token_;
  Done done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader_;
  grpc::ByteBuffer bytes_;
  grpc::Status status_;
  HandOver hand_over_;
};

// Transfers a chunked request or response. Lifetime: until the last chunk's callback.
class LanesAndGrpc::ChunkedCall : public std::enable_shared_from_this<ChunkedCall> {
 public:
  ChunkedCall(LanesAndGrpc* client, Call call, Clock::time_point deadline, Done done)
      : client_(client),
        call_(std::move(call)),
        deadline_(deadline),
        done_(std::move(done)),
        request_(&call_.request) {
    client_->calls_.Begin();
  }
  ~ChunkedCall() { client_->calls_.End(); }

  // Sends the chunks of the request, then the call.
  void Upload() {
    header_ = {ChunkHeader::NewName(), 0, request_.size()};
    PutNext();
  }

  // Fetches the chunks of the response.
  void Download(std::string_view label) {
    absl::StatusOr<ChunkHeader> header = ChunkHeader::FromLabel(label);
    if (!header.ok()) return Finish(header.status());
    header_ = *std::move(header);
    total_bytes_ = header_.bytes;
    GetNext();
  }

 private:
  void PutNext() {
    if (request_.left() == 0) {
      call_.timeout_ms = TimeoutUntil(deadline_);
      call_.request = BytesOf("");
      return client_->StartGrpc(std::move(call_), header_.ToLabel(), std::move(done_));
    }
    header_.offset = request_.position();
    std::vector<grpc::Slice> content;
    request_.ReadSlices(std::min({kMaxChunkBytes, client_->message_bytes_, request_.left()}),
                        &content);
    StartChunk(kPutChunk, header_.Encode(std::move(content)),
               [self = shared_from_this()](const Response& response) {
                 if (response.ok()) return self->PutNext();
                 self->Finish(self->UploadError(response.status()));
               });
  }

  absl::Status UploadError(const absl::Status& status) const {
    if (!absl::IsUnimplemented(status)) return status;
    return absl::ResourceExhaustedError(
        StrCat("a request of ", request_.size(), " bytes: the server at ", call_.address,
               " takes messages of at most ", client_->message_bytes_, " bytes"));
  }

  void GetNext() {
    if (header_.offset == total_bytes_) {
      return Finish(grpc::ByteBuffer(slices_.data(), slices_.size()));
    }
    header_.bytes =
        std::min({kMaxChunkBytes, client_->message_bytes_, total_bytes_ - header_.offset});
    StartChunk(kGetChunk, header_.Encode(), [self = shared_from_this()](const Response& response) {
      if (!response.ok()) return self->Finish(response.status());
      if (response->Length() != self->header_.bytes) {
        return self->Finish(absl::InternalError("damaged message: a chunk has another size"));
      }
      for (grpc::Slice& slice : SlicesOf(*response)) self->slices_.push_back(std::move(slice));
      self->header_.offset += self->header_.bytes;
      self->GetNext();
    });
  }

  void StartChunk(const char* path, grpc::ByteBuffer request, Done done) {
    Call chunk = call_;
    chunk.path = path;
    chunk.request = std::move(request);
    chunk.timeout_ms = TimeoutUntil(deadline_);
    client_->StartGrpc(std::move(chunk), "", std::move(done));
  }

  void Finish(Response response) {
    slices_.clear();
    std::exchange(done_, nullptr)(response);
  }

  LanesAndGrpc* const client_;
  Call call_;
  const Clock::time_point deadline_;
  Done done_;
  SliceReader request_;
  ChunkHeader header_;
  uint64_t total_bytes_ = 0;         // of the response
  std::vector<grpc::Slice> slices_;  // of the response
};

bool LanesAndGrpc::Pending::StartDownload() {
  const auto& metadata = context_.GetServerTrailingMetadata();
  const auto label = metadata.find(kChunkedMessage);
  if (label == metadata.end()) return false;
  std::make_shared<ChunkedCall>(client_, std::move(call_), deadline_, std::move(done_))
      ->Download({label->second.data(), label->second.size()});
  return true;
}

LanesAndGrpc::LanesAndGrpc(std::shared_ptr<grpc::ChannelCredentials> credentials,
                           const Options& options)
    : credentials_(std::move(credentials)),
      token_(options.security.token),
      server_name_(options.security.server_name),
      heartbeat_(options.heartbeat),
      message_bytes_(
          static_cast<uint64_t>(std::min(options.grpc_message_bytes, kGrpcMessageBytes))) {
  KeepGrpc();
  if (options.lanes && !options.security.uses_tls()) {
    lanes_ = std::make_unique<LaneClient>(token_, heartbeat_);
  }
}

absl::Status LanesAndGrpc::StartListeners() {
  for (int i = 0; i < kClientThreads; ++i) {
    SLUICE_ASSIGN_OR_RETURN(Thread thread,
                            Thread::Start("responses", ThreadUse::kProcess, [this] { Listen(); }));
    threads_.push_back(std::move(thread));
  }
  return absl::OkStatus();
}

LanesAndGrpc::~LanesAndGrpc() {
  lanes_.reset();
  calls_.AwaitNone();
  queue_.Shutdown();
  for (Thread& thread : threads_) thread.Join();
}

void LanesAndGrpc::Listen() {
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) static_cast<Pending*>(tag)->Ended();
}

std::shared_ptr<grpc::Channel> LanesAndGrpc::ChannelTo(const Call& call) {
  ScopedLock lock(&mutex_);
  std::shared_ptr<grpc::Channel>& channel = channels_[call.address];
  // A channel that waits before its next attempt would not notice a server that has started.
  const bool is_stale = channel != nullptr && call.reconnects &&
                        channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  if (channel == nullptr || is_stale) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(INT32_MAX);
    arguments.SetMaxSendMessageSize(INT32_MAX);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    // The time that one attempt may take.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, heartbeat_.timeout_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, heartbeat_.interval_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                     std::max(heartbeat_.timeout_ms - heartbeat_.interval_ms, 1));
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // The client does not share connections with other clients of the process.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (!server_name_.empty()) arguments.SetSslTargetNameOverride(server_name_);
    channel = grpc::CreateCustomChannel(call.address, credentials_, arguments);
  }
  return channel;
}

void LanesAndGrpc::Start(Call call, Done done) {
  if (lanes_ != nullptr && lanes_->Start(call.address, call.path, call.request, call.cancellation,
                                         call.timeout_ms, done)) {
    return;
  }
  if (call.request.Length() <= message_bytes_) {
    return StartGrpc(std::move(call), "", std::move(done));
  }
  const Clock::time_point deadline = CancellationManager::DeadlineAfter(call.timeout_ms);
  std::make_shared<ChunkedCall>(this, std::move(call), deadline, std::move(done))->Upload();
}

void LanesAndGrpc::Notify(Call call) {
  if (lanes_ != nullptr && lanes_->Notify(call.address, call.path, call.request)) return;
  RpcClient::Notify(std::move(call));
}

void LanesAndGrpc::StartGrpc(Call call, const std::string& label, Done done) {
  calls_.Begin();
  (new Pending(this, std::move(call), std::move(done)))->Start(label);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RpcClient>> RpcClient::Make(const Options& options) {
  SLUICE_ASSIGN_OR_RETURN(auto credentials, ChannelCredentials(options.security));
  auto client = std::make_unique<LanesAndGrpc>(std::move(credentials), options);
  SLUICE_RETURN_IF_ERROR(client->StartListeners());
  return client;
}

std::vector<Response> RpcClient::RunAll(std::vector<Call> calls) {
  struct {
    Mutex mutex;
    CondVar changed;
    size_t waiting ABSL_GUARDED_BY(mutex) = 0;
  } state;
  {
    ScopedLock lock(&state.mutex);
    state.waiting = calls.size();
  }
  std::vector<Response> responses(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    Start(std::move(calls[i]), [&state, &own = responses[i]](Response& response) {
      ScopedLock lock(&state.mutex);
      if (response.ok()) {  // swapped, because an assignment copies a ByteBuffer
        own.emplace().Swap(&*response);
      } else {
        own = response.status();
      }
      if (--state.waiting == 0) state.changed.NotifyAll();
    });
  }
  Outbox::Flush();
  ContinuationScope::BeforeWork();
  ScopedLock lock(&state.mutex);
  while (state.waiting > 0) state.changed.Wait(&state.mutex);
  return responses;
}

Response RpcClient::Run(Call call) {
  std::vector<Call> calls;
  calls.push_back(std::move(call));
  return TakeBytes(RunAll(std::move(calls))[0]);
}

}  // namespace sluice
