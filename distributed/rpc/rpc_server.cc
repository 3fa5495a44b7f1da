#include "distributed/rpc/rpc_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "distributed/message/bytes.h"
#include "distributed/rpc/grpc_support.h"
#include "distributed/rpc/health.h"
#include "distributed/security/security.h"
#include "executor/device/memory_account.h"
#include "graph/status.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/service_type.h"
#include "grpcpp/support/async_stream.h"

namespace sluice {
namespace {

// The number of threads that wait for calls. While one handles a call, the other listens.
constexpr int kListeners = 2;

// Tasks may have thousands of waiting calls.
constexpr int64_t kMaxCallsOfConnection = 20'000;

// Bytes that gRPC reads from a connection at once.
constexpr int kReadBytes = 16 << 10;

// Limits of the bytes that connections without an accepted call may send together: the size of a
// message and an overhead. If messages may be larger than a sixteenth of the memory, that part
// counts instead, because headers take several times their size.
constexpr int64_t kStrangerOverheadBytes = 1 << 20;
constexpr int64_t kLeastStrangerBytes = 64 << 20;

int64_t MaxStrangerBytes(int64_t max_message_bytes) {
  const int64_t part = std::max(kLeastStrangerBytes, SystemMemoryBytes() / 16);
  return std::min({max_message_bytes, kGrpcMessageBytes, part}) + kStrangerOverheadBytes;
}

struct Event {
  virtual ~Event() = default;
  // Whether Happened returns at once and probably causes the next event.
  virtual bool IsShort() const = 0;
  // `may_block`: OK if another thread listens.
  virtual void Happened(bool ok, const absl::Status& may_block) = 0;
};

}  // namespace

// A service whose messages gRPC does not decode. Clients make unary calls, but the methods are
// registered as streams. Both have the same wire format. gRPC passes a stream to the server before
// the stream's first message has arrived, so the server can count all open calls.
class RpcServer::Service final : public grpc::Service {
 public:
  using Stream = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  explicit Service(const std::vector<RpcMethod>& methods) {
    for (size_t i = 0; i < methods.size(); ++i) Add(i, methods[i].path.c_str());
    Add(methods.size(), kHealthWatch);
  }
  void Request(int method, grpc::ServerContext* context, Stream* stream,
               grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncBidiStreaming(method, context, stream, queue, queue, tag);
  }

 private:
  void Add(size_t number, const char* path) {
    AddMethod(new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::BIDI_STREAMING,
                                                   nullptr));
    MarkMethodRaw(static_cast<int>(number));
  }
};

struct RpcServer::Grpc {
  std::shared_ptr<TaskCredentials> credentials;  // the server asks it for certificates
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
};

// A call. Its events are: it has arrived, its message was received, its response was sent, and it
// has ended. It deletes itself after the last two.
class RpcServer::Call final : public RpcCall {
 public:
  // Requests the next call of the method from gRPC.
  static void Request(RpcServer* server, int method) {
    // Locked, because the queue takes no requests once it is shut down.
    ScopedLock lock(&server->mutex_);
    if (server->stopped_) return;
    Call* call = new Call(server, method);
    ++server->calls_;
    call->hand_over_.Give();
    server->service_->Request(method, &call->context_, &call->stream_, server->grpc_->queue.get(),
                              &call->arrived_);
  }
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  std::string client() const override { return client_; }
  uint64_t max_response_bytes() const override {
    return Header(kTakesChunks) ? UINT64_MAX
                                : static_cast<uint64_t>(server_->options_.grpc_message_bytes);
  }
  void Finish(const absl::StatusOr<grpc::ByteBuffer>& response) override {
    if (!response.ok()) {
      hand_over_.Give();
      return stream_.Finish(ToGrpc(response.status()), &finished_);
    }
    const uint64_t size = response->Length();
    if (size <= static_cast<uint64_t>(server_->options_.grpc_message_bytes)) return Send(*response);
    if (!Header(kTakesChunks)) {
      return Finish(absl::ResourceExhaustedError(
          StrCat("an answer of ", size, " bytes: a message to this client has at most ",
                 server_->options_.grpc_message_bytes)));
    }
    const absl::StatusOr<std::string> label = server_->chunked_->Store(*response);
    if (!label.ok()) return Finish(label.status());
    context_.AddTrailingMetadata(kChunkedMessage, *label);
    Send(BytesOf(""));
  }

  // The state of a call of Health.Watch, guarded by the server's mutex.
  struct WatchState {
    bool is_open = false;  // until it is finished
    bool is_writing = false;
    bool has_ended = false;  // the client or the server ended it
    std::optional<Health> written;
  };
  WatchState& watch() { return watch_; }
  void WriteHealth(Health health) {
    hand_over_.Give();
    stream_.Write(HealthResponse(health), &written_);
  }
  void FinishWatch() {
    hand_over_.Give();
    stream_.Finish(grpc::Status::CANCELLED, &finished_);
  }

 private:
  template <void (Call::*kMethod)(bool, const absl::Status&)>
  struct Tag final : Event {
    explicit Tag(Call* c) : call(c) {}
    bool IsShort() const override { return kMethod == &Call::Arrived; }
    void Happened(bool ok, const absl::Status& may_block) override {
      call->hand_over_.Take();
      (call->*kMethod)(ok, may_block);
    }
    Call* call;
  };

  Call(RpcServer* server, int method) : server_(server), method_(method), stream_(&context_) {
    context_.AsyncNotifyWhenDone(&done_);
  }

  void Arrived(bool ok, const absl::Status&) {
    if (!ok) return Delete();  // the server stops, and `done_` does not come
    Request(server_, method_);
    connection_ = CallGate::ConnectionOf(context_.c_call());
    client_ = context_.peer();
    // In this order, so that the connection always counts as one with a call (connections.h, rule
    // 3).
    server_->connections_->CallArrives(client_, *connection_);
    server_->gate_->Arrives(*connection_);
    hand_over_.Give();
    stream_.Read(&request_, &received_);
  }
  void Received(bool ok, const absl::Status& may_block) {
    if (!ok) return Finish(absl::CancelledError("the call ended before its message"));
    if (IsWatch()) return Watch();
    if (server_->methods_[static_cast<size_t>(method_)].needs_token) {
      is_accepted_ = true;
      server_->connections_->CallBegins(client_);
    }
    if (const auto label = Header(kChunkedMessage)) {
      const absl::StatusOr<grpc::ByteBuffer> request = server_->chunked_->Take(*label);
      if (!request.ok()) return Finish(request.status());
      request_ = *request;
    }
    server_->Handle(method_, *this, may_block);
  }
  std::optional<std::string_view> Header(const char* name) const {
    const auto& headers = context_.client_metadata();
    auto it = headers.find(name);
    if (it == headers.end()) return std::nullopt;
    return std::string_view(it->second.data(), it->second.size());
  }
  void Send(const grpc::ByteBuffer& response) {
    hand_over_.Give();
    stream_.WriteAndFinish(response, grpc::WriteOptions(), grpc::Status::OK, &finished_);
  }
  void Done(bool, const absl::Status&) {
    if (context_.IsCancelled()) cancellation_.StartCancel();
    if (IsWatch()) EndWatch();
    Release();
  }
  void Finished(bool, const absl::Status&) { Release(); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Delete();
  }
  void Delete() {
    RpcServer* const server = server_;
    if (is_accepted_) server->connections_->CallEnds(client_);
    if (connection_) server->gate_->Ends(*connection_);
    delete this;
    ScopedLock lock(&server->mutex_);
    if (--server->calls_ == 0) server->changed_.NotifyAll();
  }

  // Health.Watch: the call stays open, and each change of the server's state is written to it.
  bool IsWatch() const { return static_cast<size_t>(method_) == server_->methods_.size(); }
  void Watch() {
    ScopedLock lock(&server_->mutex_);
    watch_.is_open = true;
    server_->watches_.insert(this);
    server_->Continue(*this);
  }
  void EndWatch() {
    ScopedLock lock(&server_->mutex_);
    watch_.has_ended = true;
    server_->Continue(*this);
  }
  void Written(bool, const absl::Status&) {
    ScopedLock lock(&server_->mutex_);
    watch_.is_writing = false;
    server_->Continue(*this);
  }

  RpcServer* const server_;
  const int method_;
  std::optional<CallGate::Connection> connection_;  // once the call has arrived
  std::string client_;                              // "" until the call has arrived
  bool is_accepted_ = false;  // its message has arrived; not for health checks
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  Service::Stream stream_;
  CancellationManager cancellation_;
  std::atomic<int> references_{2};
  HandOver hand_over_;
  Tag<&Call::Arrived> arrived_{this};
  Tag<&Call::Received> received_{this};
  Tag<&Call::Written> written_{this};
  Tag<&Call::Done> done_{this};
  Tag<&Call::Finished> finished_{this};
  WatchState watch_;
};

RpcServer::RpcServer() : grpc_(std::make_unique<Grpc>()) {
  LogGrpcAsEvents();
  KeepGrpc();
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(const Options& options,
                                                            std::vector<RpcMethod> methods) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<RpcServer> server, Make(options, std::move(methods)));
  SLUICE_RETURN_IF_ERROR(server->Accept());
  return server;
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Make(const Options& options,
                                                           std::vector<RpcMethod> methods) {
  std::unique_ptr<RpcServer> server(new RpcServer());
  server->options_ = options;
  server->options_.grpc_message_bytes = std::min(options.grpc_message_bytes, kGrpcMessageBytes);
  server->methods_ = std::move(methods);
  server->chunked_ = std::make_unique<ChunkedMessages>(options.max_message_bytes);
  for (RpcMethod& method : server->chunked_->Methods()) {
    server->methods_.push_back(std::move(method));
  }
  server->methods_.push_back(server->HealthCheck());
  server->blocked_ = std::vector<std::atomic<int>>(server->methods_.size());
  server->service_ = std::make_unique<Service>(server->methods_);
  Connections::Options connections{options.address, options.max_connections};
  connections.max_stranger_bytes = MaxStrangerBytes(options.max_message_bytes);
  SLUICE_ASSIGN_OR_RETURN(server->connections_, Connections::Listen(connections));
  server->port_ = server->connections_->port();
  SLUICE_RETURN_IF_ERROR(server->StartGrpc());
  if (options.lanes) {
    server->lanes_ =
        std::make_unique<LaneServer>(server->methods_, options.token, options.max_message_bytes);
  }
  absl::Status started;
  {
    ScopedLock lock(&server->mutex_);
    server->stopped_ = false;
    for (int i = 0; i < kListeners; ++i) {
      started.Update(server->StartThread(ThreadUse::kProcess));
    }
  }
  SLUICE_RETURN_IF_ERROR(started);
  for (size_t i = 0; i <= server->methods_.size(); ++i) {
    Call::Request(server.get(), static_cast<int>(i));
  }
  return server;
}

absl::Status RpcServer::StartGrpc() {
  CallGate::Options calls{
      .token = options_.token,
      .max = options_.max_calls,
      .max_of_connection = std::min<int64_t>(kMaxCallsOfConnection, options_.max_calls / 2)};
  for (const RpcMethod& method : methods_) calls.methods[method.path] = method.needs_token;
  calls.methods[kHealthWatch] = false;
  calls.is_stranger = [this](CallGate::Connection connection) {
    return connections_->IsStranger(connection);
  };
  calls.close = [this](CallGate::Connection connection) {
    connections_->Close(connection, "too many rejected calls");
  };
  gate_ = std::make_shared<CallGate>(calls);
  grpc_->credentials = options_.credentials;
  grpc_->credentials->SetProcessor([gate = gate_] { return CallGate::AsProcessor(gate); });
  grpc::ServerBuilder builder;
  using Kind = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  grpc_->acceptor =
      builder.experimental().AddExternalConnectionAcceptor(Kind::FROM_FD, options_.credentials);
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min(options_.max_message_bytes, kGrpcMessageBytes)));
  builder.SetMaxSendMessageSize(INT32_MAX);
  // The other tasks ping this one often.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  // Finds clients that are lost without closing their connections, also between their calls.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kClientPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kClientAnswerMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Clients that know this limit keep further calls back. The gate rejects none of theirs after the
  // first message.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(calls.max_of_connection));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kGreetingMs);
  // gRPC handles all calls of what it has read before it notices that the connection was closed.
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadBytes);
  builder.RegisterService(service_.get());
  grpc_->queue = builder.AddCompletionQueue();
  grpc_->server = builder.BuildAndStart();
  if (grpc_->server != nullptr) return absl::OkStatus();
  grpc_->queue->Shutdown();
  void* tag;
  bool ok;
  while (grpc_->queue->Next(&tag, &ok)) {
  }
  return absl::UnavailableError(StrCat("cannot serve gRPC on ", options_.address));
}

RpcMethod RpcServer::HealthCheck() {
  const auto check = [this](RpcCall& call) {
    if (!IsAboutServer(call.request())) {
      return call.Finish(absl::NotFoundError("health: the server has no such service"));
    }
    call.Finish(HealthResponse(is_serving_.load() ? Health::kServing : Health::kNotServing));
  };
  return {.path = kHealthCheck, .handle = check, .blocks = false, .needs_token = false};
}

void RpcServer::StopServing() {
  is_serving_.store(false);
  ScopedLock lock(&mutex_);
  for (Call* call : std::set<Call*>(watches_)) Continue(*call);
}

void RpcServer::Continue(Call& call) {
  Call::WatchState& watch = call.watch();
  if (!watch.is_open || watch.is_writing) return;
  if (watch.has_ended) {
    watch.is_open = false;
    watches_.erase(&call);
    return call.FinishWatch();
  }
  Health health = is_serving_.load() ? Health::kServing : Health::kNotServing;
  if (!IsAboutServer(call.request())) health = Health::kServiceUnknown;
  if (watch.written == health) return;
  watch.written = health;
  watch.is_writing = true;
  call.WriteHealth(health);
}

bool RpcServer::IsConnected(const std::string& client) {
  if (client.empty() || connections_->IsConnected(client)) return true;
  return lanes_ != nullptr && lanes_->IsConnected(client);
}

absl::Status RpcServer::Accept() {
  const auto take = [acceptor = grpc_->acceptor.get()](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  };
  SLUICE_RETURN_IF_ERROR(
      connections_->Start(take, [gate = gate_] { return gate->has_waiting_calls(); }));
  if (lanes_ == nullptr) return absl::OkStatus();
  std::set<std::string> names(options_.lane_addresses.begin(), options_.lane_addresses.end());
  const std::string host = options_.address.substr(0, options_.address.rfind(':'));
  const bool is_any = host == "0.0.0.0" || host == "[::]";
  names.insert(StrCat(is_any ? "127.0.0.1" : host, ":", port_));
  for (const std::string& name : names) lanes_->ListenAt(name);
  return absl::OkStatus();
}

absl::Status RpcServer::StartThread(ThreadUse use) {
  SLUICE_RETURN_IF_ERROR(StartDetached("calls", use, [this] { Listen(); }));
  ++threads_;
  ++listening_;
  return absl::OkStatus();
}

void RpcServer::Handle(int method, RpcCall& call, const absl::Status& may_block) {
  const RpcMethod& handler = methods_[method];
  if (!handler.blocks) return handler.handle(call);
  if (!may_block.ok()) return call.Finish(Annotate(may_block, StrCat(handler.path, ": ")));
  const int most = Thread::MaxOf(ThreadUse::kCalls) / 4 * 3;
  if (blocked_[method].fetch_add(1, std::memory_order_relaxed) < most) {
    handler.handle(call);
  } else {
    call.Finish(absl::ResourceExhaustedError(
        StrCat(handler.path, ": ", most, " calls of this method are running already")));
  }
  blocked_[method].fetch_sub(1, std::memory_order_relaxed);
}

bool RpcServer::Next(void** tag, bool* ok) {
  if (!grpc_->queue->Next(tag, ok)) return false;
  // Usually a call's message has come with its headers. This thread then handles both, which saves
  // waking another one.
  while (static_cast<Event*>(*tag)->IsShort()) {
    const auto handle = [event = static_cast<Event*>(*tag), was_ok = *ok] {
      event->Happened(was_ok, absl::OkStatus());
    };
    if (grpc_->queue->DoThenAsyncNext(handle, tag, ok, gpr_inf_future(GPR_CLOCK_REALTIME)) !=
        grpc::CompletionQueue::GOT_EVENT) {
      return false;
    }
  }
  return true;
}

void RpcServer::Listen() {
  void* tag;
  bool ok;
  while (Next(&tag, &ok)) {
    absl::Status may_block;
    {
      ScopedLock lock(&mutex_);
      if (--listening_ == 0) may_block = StartThread(ThreadUse::kCalls);
    }
    static_cast<Event*>(tag)->Happened(ok, may_block);
    ScopedLock lock(&mutex_);
    if (listening_ >= kListeners) {
      if (--threads_ == 0) changed_.NotifyAll();
      return;
    }
    ++listening_;
  }
  // Notified under the lock, because the server may be destroyed once it is released.
  ScopedLock lock(&mutex_);
  --listening_;
  if (--threads_ == 0) changed_.NotifyAll();
}

void RpcServer::Stop() {
  {
    ScopedLock lock(&mutex_);
    if (stopped_) return;
    stopped_ = true;
    for (Call* call : std::set<Call*>(watches_)) {
      call->watch().has_ended = true;
      Continue(*call);
    }
  }
  if (lanes_ != nullptr) lanes_->Stop();
  connections_->Stop();
  // At the deadline gRPC cancels the open calls.
  grpc_->server->Shutdown(std::chrono::system_clock::now() + kStopGrace);
  ScopedLock lock(&mutex_);
  while (calls_ > 0) changed_.Wait(&mutex_);
  lock.Unlock();
  grpc_->queue->Shutdown();
  lock.Lock();
  while (threads_ > 0) changed_.Wait(&mutex_);
}

RpcServer::~RpcServer() { Stop(); }

}  // namespace sluice
