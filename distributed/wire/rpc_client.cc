#include "distributed/wire/rpc_client.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "distributed/wire/grpc_library.h"
#include "distributed/wire/hand_over.h"
#include "distributed/wire/lane_client.h"
#include "distributed/wire/parcels.h"
#include "distributed/wire/slice_reader.h"
#include "distributed/wire/status.h"
#include "executor/step/continuations.h"
#include "executor/step/outbox.h"
#include "graph/status.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace sluice {
namespace {

// Answers may decode large tensors: one thread does that while the other hears of the next.
constexpr int kListeners = 2;

using Clock = std::chrono::steady_clock;
constexpr Clock::time_point kNever = Clock::time_point::max();

// Until then; 0: there is no end. What is over already ends at once.
int64_t MillisecondsUntil(Clock::time_point deadline) {
  if (deadline == kNever) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::max<int64_t>(left.count(), 1);
}

class LanesAndGrpc final : public RpcClient {
 public:
  LanesAndGrpc(std::shared_ptr<grpc::ChannelCredentials> credentials, const Options& options);
  ~LanesAndGrpc() override;
  void Start(Call call, Done done) override;
  void Tell(Call call) override;

 private:
  class Pending;
  class Upload;
  class Download;
  // Over gRPC, in one message; `parcel`: where the server has the request.
  void StartWhole(Call call, const std::string& parcel, Done done);
  // A call begins, ends.
  void Begin();
  void End();
  std::shared_ptr<grpc::Channel> ChannelTo(const Call& call);
  void Listen();

  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const std::string token_;
  const std::string server_name_;
  const Heartbeat heartbeat_;
  const uint64_t message_bytes_;
  std::unique_ptr<LaneClient> lanes_;  // null: none
  grpc::CompletionQueue queue_;
  std::mutex mutex_;
  std::condition_variable idle_;  // no calls
  int calls_ = 0;                 // over gRPC, under way; guarded by mutex_
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

class LanesAndGrpc::Pending {
 public:
  Pending(LanesAndGrpc* client, Call call, Done done)
      : client_(client),
        call_(std::move(call)),
        cancellation_(call_.cancellation),
        token_(cancellation_ == nullptr ? 0 : cancellation_->NewToken()),
        done_(std::move(done)) {}

  void Start(const std::string& parcel) {
    context_.AddMetadata(kKnowsPieces, "1");
    if (!parcel.empty()) context_.AddMetadata(kParcel, parcel);
    if (!client_->token_.empty()) context_.AddMetadata(kTokenHeader, client_->token_);
    if (call_.timeout_ms > 0) {
      deadline_ = Clock::now() + std::chrono::milliseconds(call_.timeout_ms);
      context_.set_deadline(std::chrono::system_clock::now() +
                            std::chrono::milliseconds(call_.timeout_ms));
    }
    context_.set_wait_for_ready(call_.wait_for_ready);
    grpc::GenericStub stub(client_->ChannelTo(call_));
    reader_ = stub.PrepareUnaryCall(&context_, call_.path, call_.request, &client_->queue_);
    call_.request.Clear();
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
    if (!status_.ok() || !Fetches()) done_(FromGrpc(status_), response_);
    LanesAndGrpc* const client = client_;
    delete this;
    client->End();
  }

 private:
  // The answer is fetched in pieces.
  bool Fetches();

  LanesAndGrpc* const client_;
  Call call_;
  Clock::time_point deadline_ = kNever;
  CancellationManager* cancellation_;
  const CancellationManager::Token token_;
  Done done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  HandOver hand_over_;
};

// An answer that the server keeps, piece by piece.
class LanesAndGrpc::Download : public std::enable_shared_from_this<Download> {
 public:
  Download(LanesAndGrpc* client, Call call, Clock::time_point deadline, Done done)
      : client_(client), call_(std::move(call)), deadline_(deadline), done_(std::move(done)) {}

  void Start(const std::string& told) {
    if (absl::Status status = Parcels::Parse(told, &header_.name, &bytes_); !status.ok()) {
      return Finish(std::move(status));
    }
    Next();
  }

 private:
  void Next() {
    if (header_.offset == bytes_) return Finish(absl::OkStatus());
    header_.bytes = std::min({kMostPieceBytes, client_->message_bytes_, bytes_ - header_.offset});
    Call piece;
    piece.address = call_.address;
    piece.path = kGetPiece;
    piece.request = header_.Encode();
    piece.cancellation = call_.cancellation;
    piece.timeout_ms = MillisecondsUntil(deadline_);
    client_->StartWhole(
        std::move(piece), "",
        [self = shared_from_this()](absl::Status status, const grpc::ByteBuffer& bytes) {
          if (!status.ok()) return self->Finish(std::move(status));
          if (bytes.Length() != self->header_.bytes) {
            return self->Finish(absl::InternalError("damaged message: a piece has another size"));
          }
          std::vector<grpc::Slice> slices;
          if (!bytes.Dump(&slices).ok()) slices.clear();
          for (grpc::Slice& slice : slices) self->slices_.push_back(std::move(slice));
          self->header_.offset += self->header_.bytes;
          self->Next();
        });
  }
  void Finish(absl::Status status) {
    grpc::ByteBuffer whole;
    if (status.ok()) whole = grpc::ByteBuffer(slices_.data(), slices_.size());
    slices_.clear();
    std::exchange(done_, nullptr)(std::move(status), whole);
    client_->End();
  }

  LanesAndGrpc* const client_;
  const Call call_;
  const Clock::time_point deadline_;
  Done done_;
  PieceHeader header_;
  uint64_t bytes_ = 0;
  std::vector<grpc::Slice> slices_;
};

bool LanesAndGrpc::Pending::Fetches() {
  const auto& told = context_.GetServerTrailingMetadata();
  const auto it = told.find(kParcel);
  if (it == told.end()) return false;
  client_->Begin();
  std::make_shared<Download>(client_, std::move(call_), deadline_, std::move(done_))
      ->Start(std::string(it->second.data(), it->second.size()));
  return true;
}

// A request that is too large for one message: its pieces, then the call.
class LanesAndGrpc::Upload : public std::enable_shared_from_this<Upload> {
 public:
  Upload(LanesAndGrpc* client, Call call, Done done)
      : client_(client),
        call_(std::move(call)),
        deadline_(call_.timeout_ms > 0 ? Clock::now() + std::chrono::milliseconds(call_.timeout_ms)
                                       : kNever),
        done_(std::move(done)),
        request_(&call_.request),
        name_(PieceHeader::NewName()) {}

  void Next() {
    call_.timeout_ms = MillisecondsUntil(deadline_);
    if (request_.left() == 0) {
      const grpc::Slice empty;
      call_.request = grpc::ByteBuffer(&empty, 1);
      // What is to be told is its own affair.
      client_->StartWhole(std::move(call_),
                          StrCat(absl::BytesToHexString(name_), " ", request_.size()),
                          std::move(done_));
      return client_->End();
    }
    Call piece = call_;
    piece.path = kPutPiece;
    const PieceHeader header{name_, request_.position(), request_.size()};
    std::vector<grpc::Slice> content;
    request_.Take(std::min({kMostPieceBytes, client_->message_bytes_, request_.left()}), &content);
    piece.request = header.Encode(std::move(content));
    client_->StartWhole(std::move(piece), "",
                        [self = shared_from_this()](absl::Status status, const grpc::ByteBuffer&) {
                          if (status.ok()) return self->Next();
                          self->Fail(std::move(status));
                        });
  }

 private:
  void Fail(absl::Status status) {
    if (absl::IsUnimplemented(status)) {
      status = absl::ResourceExhaustedError(
          StrCat("a request of ", request_.size(), " bytes: the server at ", call_.address,
                 " takes messages of at most ", client_->message_bytes_, " bytes"));
    }
    grpc::ByteBuffer none;
    std::exchange(done_, nullptr)(std::move(status), none);
    client_->End();
  }

  LanesAndGrpc* const client_;
  Call call_;
  const Clock::time_point deadline_;
  Done done_;
  SliceReader request_;
  const std::string name_;
};

void LanesAndGrpc::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++calls_;
}

void LanesAndGrpc::End() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (--calls_ == 0) idle_.notify_all();
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
  for (int i = 0; i < kListeners; ++i) threads_.emplace_back([this] { Listen(); });
}

LanesAndGrpc::~LanesAndGrpc() {
  lanes_.reset();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return calls_ == 0; });
  }
  queue_.Shutdown();
  for (std::thread& thread : threads_) thread.join();
}

void LanesAndGrpc::Listen() {
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) static_cast<Pending*>(tag)->Ended();
}

std::shared_ptr<grpc::Channel> LanesAndGrpc::ChannelTo(const Call& call) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<grpc::Channel>& channel = channels_[call.address];
  // While a channel waits before its next attempt, the server may have come.
  const bool is_stale = channel != nullptr && call.connects_anew &&
                        channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  if (channel == nullptr || is_stale) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(INT32_MAX);
    arguments.SetMaxSendMessageSize(INT32_MAX);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
    // What an attempt may take.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, heartbeat_.timeout_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, heartbeat_.interval_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                     std::max(heartbeat_.timeout_ms - heartbeat_.interval_ms, 1));
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // A connection of its own, not one that another client of the process made.
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
    return StartWhole(std::move(call), "", std::move(done));
  }
  Begin();
  std::make_shared<Upload>(this, std::move(call), std::move(done))->Next();
}

void LanesAndGrpc::Tell(Call call) {
  if (lanes_ != nullptr && lanes_->Tell(call.address, call.path, call.request)) return;
  RpcClient::Tell(std::move(call));
}

void LanesAndGrpc::StartWhole(Call call, const std::string& parcel, Done done) {
  Begin();
  (new Pending(this, std::move(call), std::move(done)))->Start(parcel);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RpcClient>> RpcClient::Make(const Options& options) {
  SLUICE_ASSIGN_OR_RETURN(auto credentials, ChannelCredentials(options.security));
  return std::make_unique<LanesAndGrpc>(std::move(credentials), options);
}

std::vector<RpcClient::Answer> RpcClient::RunAll(std::vector<Call> calls) {
  std::mutex mutex;
  std::condition_variable answered;
  size_t waiting = calls.size();
  std::vector<Answer> answers(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    Start(std::move(calls[i]), [&, i](absl::Status status, grpc::ByteBuffer& response) {
      std::lock_guard<std::mutex> lock(mutex);
      answers[i].status = std::move(status);
      answers[i].response.Swap(&response);
      if (--waiting == 0) answered.notify_all();
    });
  }
  Outbox::Flush();
  ContinuationScope::BeforeWork();
  std::unique_lock<std::mutex> lock(mutex);
  answered.wait(lock, [&] { return waiting == 0; });
  return answers;
}

absl::Status RpcClient::Run(Call call, grpc::ByteBuffer* response) {
  std::vector<Call> calls;
  calls.push_back(std::move(call));
  std::vector<Answer> answers = RunAll(std::move(calls));
  response->Swap(&answers[0].response);
  return std::move(answers[0].status);
}

}  // namespace sluice
