#include "distributed/wire/rpc_server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "distributed/wire/grpc_library.h"
#include "distributed/wire/hand_over.h"
#include "distributed/wire/security.h"
#include "distributed/wire/status.h"
#include "graph/status.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/service_type.h"
#include "grpcpp/support/async_unary_call.h"

namespace sluice {
namespace {

// So many threads listen: one takes a call, the other hears what comes meanwhile.
constexpr int kListeners = 2;

struct Event {
  virtual ~Event() = default;
  virtual void Happened(bool ok) = 0;
};

}  // namespace

// Methods whose messages stay bytes.
class RpcServer::Service final : public grpc::Service {
 public:
  explicit Service(const std::vector<RpcMethod>& methods) {
    for (size_t i = 0; i < methods.size(); ++i) {
      AddMethod(new grpc::internal::RpcServiceMethod(
          methods[i].path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
      MarkMethodRaw(static_cast<int>(i));
    }
  }
  void Request(int method, grpc::ServerContext* context, grpc::ByteBuffer* request,
               grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
               grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncUnary(method, context, request, writer, queue, queue, tag);
  }
};

struct RpcServer::Grpc {
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  std::unique_ptr<grpc::Server> server;
};

// Lives while either of two is to come: the end of the answer, and the end of the call.
class RpcServer::Call final : public RpcCall {
 public:
  static void Await(RpcServer* server, int method) {
    // Locked: nothing may be asked of the queue once it is shut down.
    std::lock_guard<std::mutex> lock(server->mutex_);
    if (server->stopped_) return;
    Call* call = new Call(server, method);
    ++server->calls_;
    call->hand_over_.Give();
    server->service_->Request(method, &call->context_, &call->request_, &call->writer_,
                              server->grpc_->queue.get(), &call->arrived_);
  }
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  uint64_t max_response_bytes() const override {
    return Header(kKnowsPieces) ? UINT64_MAX : static_cast<uint64_t>(server_->grpc_message_bytes_);
  }
  void Finish(const absl::Status& status, const grpc::ByteBuffer& response) override {
    const uint64_t size = response.Length();
    if (status.ok() && size > static_cast<uint64_t>(server_->grpc_message_bytes_)) {
      return FinishInPieces(response, size);
    }
    hand_over_.Give();
    if (status.ok()) {
      writer_.Finish(response, grpc::Status::OK, &finished_);
    } else {
      writer_.FinishWithError(ToGrpc(status), &finished_);
    }
  }

 private:
  template <void (Call::*kMethod)(bool)>
  struct Tag final : Event {
    explicit Tag(Call* c) : call(c) {}
    void Happened(bool ok) override {
      call->hand_over_.Take();
      (call->*kMethod)(ok);
    }
    Call* call;
  };

  Call(RpcServer* server, int method) : server_(server), method_(method), writer_(&context_) {
    context_.AsyncNotifyWhenDone(&done_);
  }

  void Arrived(bool ok) {
    if (!ok) return Delete();  // the server stops; `done_` will not come
    Await(server_, method_);
    if (!MayCall()) {
      return Finish(absl::UnauthenticatedError("the call has not this cluster's token"), {});
    }
    if (absl::Status status = TakeParcel(); !status.ok()) return Finish(status, {});
    server_->methods_[method_].handle(*this);
  }
  std::optional<std::string_view> Header(const char* name) const {
    const auto& headers = context_.client_metadata();
    auto it = headers.find(name);
    if (it == headers.end()) return std::nullopt;
    return std::string_view(it->second.data(), it->second.size());
  }
  bool MayCall() const {
    if (server_->token_.empty()) return true;
    const std::optional<std::string_view> token = Header(kTokenHeader);
    return token && IsToken(*token, server_->token_);
  }
  // A request that has come in pieces.
  absl::Status TakeParcel() {
    const std::optional<std::string_view> told = Header(kParcel);
    if (!told) return absl::OkStatus();
    std::string name;
    uint64_t bytes;
    SLUICE_RETURN_IF_ERROR(Parcels::Parse(std::string(*told), &name, &bytes));
    SLUICE_ASSIGN_OR_RETURN(request_, server_->parcels_->Take(name));
    return absl::OkStatus();
  }
  void FinishInPieces(const grpc::ByteBuffer& response, uint64_t size) {
    if (!Header(kKnowsPieces)) {
      return Finish(absl::ResourceExhaustedError(StrCat(
                        "an answer of ", size, " bytes: a message to this client has at most ",
                        server_->grpc_message_bytes_)),
                    grpc::ByteBuffer());
    }
    context_.AddTrailingMetadata(kParcel, server_->parcels_->Keep(response));
    const grpc::Slice empty;
    Finish(absl::OkStatus(), grpc::ByteBuffer(&empty, 1));
  }
  void Done(bool) {
    if (context_.IsCancelled()) cancellation_.StartCancel();
    Release();
  }
  void Finished(bool) { Release(); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Delete();
  }
  void Delete() {
    RpcServer* const server = server_;
    delete this;
    std::lock_guard<std::mutex> lock(server->mutex_);
    if (--server->calls_ == 0) server->idle_.notify_all();
  }

  RpcServer* const server_;
  const int method_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_;
  CancellationManager cancellation_;
  std::atomic<int> references_{2};
  HandOver hand_over_;
  Tag<&Call::Arrived> arrived_{this};
  Tag<&Call::Done> done_{this};
  Tag<&Call::Finished> finished_{this};
};

RpcServer::RpcServer() : grpc_(std::make_unique<Grpc>()) { KeepGrpc(); }

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(const Options& options,
                                                            std::vector<RpcMethod> methods) {
  std::unique_ptr<RpcServer> server(new RpcServer());
  server->methods_ = std::move(methods);
  server->grpc_message_bytes_ = std::min(options.grpc_message_bytes, kGrpcMessageBytes);
  server->parcels_ = std::make_unique<Parcels>(options.max_message_bytes);
  for (RpcMethod& method : server->parcels_->Methods()) {
    server->methods_.push_back(std::move(method));
  }
  server->token_ = options.token;
  server->service_ = std::make_unique<Service>(server->methods_);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(options.address, options.credentials, &server->port_);
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min(options.max_message_bytes, kGrpcMessageBytes)));
  builder.SetMaxSendMessageSize(INT32_MAX);
  // A port belongs to one process: a second server must be told.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // The other tasks ask often whether this one is there.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.RegisterService(server->service_.get());
  server->grpc_->queue = builder.AddCompletionQueue();
  server->grpc_->server = builder.BuildAndStart();
  if (server->grpc_->server == nullptr || server->port_ == 0) {
    server->grpc_->queue->Shutdown();
    void* tag;
    bool ok;
    while (server->grpc_->queue->Next(&tag, &ok)) {
    }
    return absl::UnavailableError(StrCat("cannot listen on ", options.address));
  }
  server->stopped_ = false;
  for (size_t i = 0; i < server->methods_.size(); ++i) {
    Call::Await(server.get(), static_cast<int>(i));
  }
  std::lock_guard<std::mutex> lock(server->mutex_);
  for (int i = 0; i < kListeners; ++i) server->StartThread();
  if (options.lanes) server->OpenLanes(options);
  return server;
}

void RpcServer::OpenLanes(const Options& options) {
  lanes_ = std::make_unique<LaneServer>(methods_, token_, options.max_message_bytes);
  std::set<std::string> names(options.lane_addresses.begin(), options.lane_addresses.end());
  const std::string host = options.address.substr(0, options.address.rfind(':'));
  const bool is_any = host == "0.0.0.0" || host == "[::]";
  names.insert(StrCat(is_any ? "127.0.0.1" : host, ":", port_));
  for (const std::string& name : names) lanes_->ListenAt(name);
}

void RpcServer::StartThread() {
  ++threads_;
  ++listening_;
  std::thread([this] { Listen(); }).detach();
}

void RpcServer::Listen() {
  void* tag;
  bool ok;
  while (grpc_->queue->Next(&tag, &ok)) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (--listening_ == 0) StartThread();
    }
    static_cast<Event*>(tag)->Happened(ok);
    std::lock_guard<std::mutex> lock(mutex_);
    if (listening_ >= kListeners) {
      if (--threads_ == 0) idle_.notify_all();
      return;
    }
    ++listening_;
  }
  // Notified under the lock: once it is released, this object may be gone.
  std::lock_guard<std::mutex> lock(mutex_);
  --listening_;
  if (--threads_ == 0) idle_.notify_all();
}

void RpcServer::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
  }
  if (lanes_ != nullptr) lanes_->Stop();
  // After the grace, calls under way are cancelled, and their handlers told.
  grpc_->server->Shutdown(std::chrono::system_clock::now() + kStopGrace);
  std::unique_lock<std::mutex> lock(mutex_);
  idle_.wait(lock, [this] { return calls_ == 0; });
  lock.unlock();
  grpc_->queue->Shutdown();
  lock.lock();
  idle_.wait(lock, [this] { return threads_ == 0; });
}

RpcServer::~RpcServer() { Stop(); }

}  // namespace sluice
