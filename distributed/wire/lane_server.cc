#include "distributed/wire/lane_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "distributed/wire/lane_socket.h"
#include "distributed/wire/security.h"
#include "executor/step/outbox.h"

namespace sluice {

class LaneServer::Acceptor final : public LanePoller::Source {
 public:
  Acceptor(LaneServer* server, int fd) : server_(server), fd_(fd) {}
  ~Acceptor() override { close(fd_); }
  int fd() const override { return fd_; }
  void Readable() override {
    const int accepted = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    server_->poller_.Arm(*this);
    if (accepted >= 0) server_->Accept(accepted);
  }

 private:
  LaneServer* const server_;
  const int fd_;
};

// Shared by the connection's table of calls and whoever cancels it.
class LaneServer::Call final : public RpcCall, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Connection> connection, uint64_t id, grpc::ByteBuffer request)
      : connection_(std::move(connection)), id_(id), request_(std::move(request)) {}
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  void Finish(const absl::Status& status, const grpc::ByteBuffer& response) override;

 private:
  const std::shared_ptr<Connection> connection_;
  const uint64_t id_;
  grpc::ByteBuffer request_;
  CancellationManager cancellation_;
};

class LaneServer::Connection final : public LanePoller::Source,
                                     public Outbox::Sender,
                                     public std::enable_shared_from_this<Connection> {
 public:
  Connection(LaneServer* server, int fd)
      : server_(server), socket_(fd, server->max_message_bytes_) {}
  int fd() const override { return socket_.fd(); }
  bool is_own() const { return socket_.PeerIsOwn(); }
  void SendKept() override {
    const int answered = answered_.exchange(0);
    socket_.SendKept();
    for (int i = 0; i < answered; ++i) server_->End();
  }

  void Readable() override {
    const auto self = shared_from_this();
    server_->poller_.MayBlock();
    std::vector<LaneFrame> frames;
    if (!socket_.Receive(&frames) || !Greet(frames) || !MayBeTold(frames)) return Close();
    // Before another thread may read that one of them is cancelled.
    std::vector<std::shared_ptr<Call>> calls(frames.size());
    for (size_t i = 0; i < frames.size(); ++i) {
      if (IsCall(frames[i])) calls[i] = AddCall(frames[i]);
    }
    server_->poller_.Arm(*this);
    socket_.Release();
    std::vector<Blocking> blocking;
    HandleQuick(frames, calls, &blocking);
    for (size_t i = 0; i + 1 < blocking.size(); ++i) {
      server_->poller_.RunElsewhere([next = blocking[i]] { next.method->handle(*next.call); });
    }
    if (!blocking.empty()) blocking.back().method->handle(*blocking.back().call);
  }

  struct Blocking {
    const RpcMethod* method;
    std::shared_ptr<Call> call;
  };
  // Handles what does not block; the rest is put into `blocking`. `calls`: by frame, of
  // those that are some.
  void HandleQuick(std::vector<LaneFrame>& frames, std::vector<std::shared_ptr<Call>>& calls,
                   std::vector<Blocking>* blocking) {
    const Outbox outbox;
    for (size_t i = 0; i < frames.size(); ++i) {
      LaneFrame& frame = frames[i];
      if (frame.kind == LaneFrame::kPing) socket_.Send({.kind = LaneFrame::kPong});
      if (frame.kind == LaneFrame::kCancel) {
        Outbox::Flush();  // what hears of it may wait
        Cancel(frame.call);
      }
      if (frame.kind != LaneFrame::kRequest) continue;
      if (frame.call == LaneFrame::kNoAnswer) {
        TakeTold(frame);
        continue;
      }
      if (!IsCall(frame)) {
        Refuse(frame.call, absl::Status(frame.code, frame.text));
        continue;
      }
      std::shared_ptr<Call> call = std::move(calls[i]);
      if (call == nullptr) {
        Refuse(frame.call, absl::UnavailableError("the server stops"));
      } else if (const RpcMethod* method = MethodOf(frame.text); method == nullptr) {
        call->Finish(absl::UnimplementedError(""), {});
      } else if (method->blocks) {
        blocking->push_back({method, std::move(call)});
      } else {
        method->handle(*call);
      }
    }
  }

  void Respond(uint64_t id, const absl::Status& status, const grpc::ByteBuffer& response) {
    if (id == LaneFrame::kNoAnswer) return server_->End();
    std::shared_ptr<Call> call;  // ends here, if nobody cancels it now
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = calls_.find(id);
      if (it != calls_.end()) {
        call = std::move(it->second);
        calls_.erase(it);
      }
    }
    LaneFrame frame{.kind = LaneFrame::kResponse, .call = id, .code = status.code()};
    if (status.ok()) {
      frame.body = response;
    } else {
      frame.text = std::string(status.message());
    }
    Outbox* const outbox = Outbox::Current();
    if (outbox == nullptr || !socket_.Keep(frame)) {
      if (outbox == nullptr) socket_.Send(frame);
      server_->End();
      return;
    }
    ++answered_;
    outbox->Add(shared_from_this());
  }

  void CancelAll() {
    std::unordered_map<uint64_t, std::shared_ptr<Call>> calls;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      calls = calls_;
    }
    for (auto& [id, call] : calls) call->cancellation().StartCancel();
  }

  void Close() {
    socket_.Shutdown();
    server_->poller_.Remove(*this);
    CancelAll();
    server_->Forget(this);
  }

 private:
  const RpcMethod* MethodOf(const std::string& path) const {
    auto it = server_->by_path_.find(path);
    return it == server_->by_path_.end() ? nullptr : it->second;
  }

  // False where it is no caller of ours.
  bool Greet(const std::vector<LaneFrame>& frames) {
    for (const LaneFrame& frame : frames) {
      if (frame.kind == LaneFrame::kHello) {
        std::string token;
        if (!socket_.TakeGreeting(frame.text, &token)) return false;
        is_known_ = server_->token_.empty() || IsToken(token, server_->token_);
        socket_.Send(
            {.kind = LaneFrame::kWelcome,
             .code = is_known_ ? absl::StatusCode::kOk : absl::StatusCode::kUnauthenticated,
             .text = LaneSocket::Greeting(socket_.reach().ToText())});
      } else if (frame.kind == LaneFrame::kReady) {
        socket_.SetPeersReach(PeerMemory::Reach::FromText(frame.text));
      } else if (!is_known_) {
        return false;
      }
    }
    return true;
  }

  void Refuse(uint64_t id, const absl::Status& status) {
    socket_.Send({.kind = LaneFrame::kResponse,
                  .call = id,
                  .code = status.code(),
                  .text = std::string(status.message())});
  }

  // False where no answer is wanted of a method that does not end at once: no peer of ours tells
  // such a thing.
  bool MayBeTold(const std::vector<LaneFrame>& frames) const {
    return std::all_of(frames.begin(), frames.end(), [this](const LaneFrame& frame) {
      if (frame.kind != LaneFrame::kRequest || frame.call != LaneFrame::kNoAnswer) return true;
      const RpcMethod* const method = MethodOf(frame.text);
      return method != nullptr && method->at_once;
    });
  }

  void TakeTold(LaneFrame& frame) {
    if (!server_->Begin()) return;
    MethodOf(frame.text)
        ->handle(*std::make_shared<Call>(shared_from_this(), frame.call, std::move(frame.body)));
  }

  // A request that is to be answered and came whole.
  static bool IsCall(const LaneFrame& frame) {
    return frame.kind == LaneFrame::kRequest && frame.call != LaneFrame::kNoAnswer &&
           frame.code == absl::StatusCode::kOk;
  }

  // From here on it can be cancelled. Null where the server stops.
  std::shared_ptr<Call> AddCall(LaneFrame& frame) {
    if (!server_->Begin()) return nullptr;
    auto call = std::make_shared<Call>(shared_from_this(), frame.call, std::move(frame.body));
    std::lock_guard<std::mutex> lock(mutex_);
    calls_[frame.call] = call;
    return call;
  }

  void Cancel(uint64_t id) {
    std::shared_ptr<Call> call;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto it = calls_.find(id);
      if (it != calls_.end()) call = it->second;
    }
    if (call != nullptr) call->cancellation().StartCancel();
  }

  LaneServer* const server_;
  LaneSocket socket_;
  bool is_known_ = false;         // of Readable
  std::atomic<int> answered_{0};  // calls whose answer is kept
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<Call>> calls_;  // guarded by mutex_
};

void LaneServer::Call::Finish(const absl::Status& status, const grpc::ByteBuffer& response) {
  const auto self = shared_from_this();
  connection_->Respond(id_, status, response);
}

LaneServer::LaneServer(const std::vector<RpcMethod>& methods, std::string token,
                       int64_t max_message_bytes)
    : methods_(methods),
      token_(std::move(token)),
      max_message_bytes_(static_cast<uint64_t>(max_message_bytes)) {
  for (const RpcMethod& method : methods_) by_path_[method.path] = &method;
}

LaneServer::~LaneServer() { Stop(); }

void LaneServer::ListenAt(const std::string& address) {
  const int fd = ListenLane(address);
  if (fd >= 0) poller_.Add(std::make_shared<Acceptor>(this, fd));
}

void LaneServer::Accept(int fd) {
  auto connection = std::make_shared<Connection>(this, fd);
  if (!connection->is_own()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;
    connections_.insert(connection);
  }
  poller_.Add(std::move(connection));
}

void LaneServer::Forget(Connection* connection) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    if (it->get() != connection) continue;
    connections_.erase(it);
    return;
  }
}

bool LaneServer::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_) return false;
  ++calls_;
  return true;
}

void LaneServer::End() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (--calls_ == 0) idle_.notify_all();
}

void LaneServer::Stop() {
  std::set<std::shared_ptr<Connection>> connections;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    stopped_ = true;
    idle_.wait_for(lock, kStopGrace, [this] { return calls_ == 0; });
    connections = connections_;
  }
  for (const auto& connection : connections) connection->CancelAll();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return calls_ == 0; });
  }
  for (const auto& connection : connections) connection->Close();
  poller_.Stop();
}

}  // namespace sluice
