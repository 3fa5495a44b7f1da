#include "distributed/lane/lane_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "distributed/lane/lane_socket.h"
#include "distributed/message/limits.h"
#include "distributed/security/security.h"
#include "executor/step/outbox.h"
#include "graph/status.h"
#include "graph/strings.h"

namespace sluice {
namespace {

// A listener that can accept nothing is tried again after this time.
constexpr auto kAcceptRetry = std::chrono::milliseconds(100);

}  // namespace

class LaneServer::Acceptor final : public LanePoller::Source {
 public:
  Acceptor(LaneServer* server, int fd) : server_(server), fd_(fd) {}
  ~Acceptor() override { close(fd_); }
  int fd() const override { return fd_; }
  void Readable() override {
    const int accepted = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    // No descriptor or memory is left, and the listener stays readable. Only time can help.
    if (accepted < 0 && server_->poller_.MayBlock().ok()) std::this_thread::sleep_for(kAcceptRetry);
    server_->poller_.Arm(*this);
    if (accepted >= 0) server_->Accept(accepted);
  }

 private:
  LaneServer* const server_;
  const int fd_;
};

// A call that a client made over a lane. The table of its connection and the threads that cancel it
// share the object.
class LaneServer::Call final : public RpcCall, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Connection> connection, uint64_t id, grpc::ByteBuffer request)
      : connection_(std::move(connection)), id_(id), request_(std::move(request)) {}
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  std::string client() const override;
  void Finish(const absl::StatusOr<grpc::ByteBuffer>& response) override;

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
  Connection(LaneServer* server, int fd, int64_t number)
      : server_(server), socket_(fd, server->max_message_bytes_), name_(StrCat("lane:", number)) {}
  const std::string& name() const { return name_; }
  int fd() const override { return socket_.fd(); }
  bool is_own() const { return socket_.PeerIsOwn(); }
  void SendKept() override {
    const int responses = kept_responses_.exchange(0);
    socket_.SendKept();
    for (int i = 0; i < responses; ++i) server_->calls_.End();
  }

  void Readable() override {
    const auto self = shared_from_this();
    server_->poller_.MayBlock().IgnoreError();  // a peer may send slowly
    std::vector<LaneFrame> frames;
    if (!socket_.Receive(&frames) || !Greet(frames) || !CheckOneWayCalls(frames) ||
        !CheckIds(frames)) {
      return Close();
    }
    // Calls are added before Arm. Afterwards another thread may read the cancellation of one of
    // them.
    std::vector<std::shared_ptr<Call>> calls(frames.size());
    for (size_t i = 0; i < frames.size(); ++i) {
      if (IsCall(frames[i])) calls[i] = AddCall(frames[i]);
    }
    server_->poller_.Arm(*this);
    socket_.Release();
    const std::vector<Blocking> blocking = HandleQuick(frames, calls);
    for (size_t i = 0; i + 1 < blocking.size(); ++i) {
      server_->poller_.RunElsewhere(
          [next = blocking[i]](const absl::Status& may_block) { Handle(next, may_block); });
    }
    if (!blocking.empty()) Handle(blocking.back(), server_->poller_.MayBlock());
  }

  void Respond(uint64_t id, const absl::StatusOr<grpc::ByteBuffer>& response) {
    if (id == LaneFrame::kOneWay) return server_->calls_.End();
    std::shared_ptr<Call> call;  // destroyed at the end, unless a thread is cancelling it
    {
      ScopedLock lock(&mutex_);
      auto it = calls_.find(id);
      if (it != calls_.end()) {
        call = std::move(it->second);
        calls_.erase(it);
      }
    }
    const LaneFrame frame = ResponseFrame(id, response);
    Outbox* const outbox = Outbox::Current();
    if (outbox != nullptr && socket_.Keep(frame)) {
      ++kept_responses_;
      outbox->Add(shared_from_this());
      return;
    }
    if (outbox == nullptr) socket_.Send(frame);
    server_->calls_.End();
  }

  void CancelAll() {
    std::unordered_map<uint64_t, std::shared_ptr<Call>> calls;
    {
      ScopedLock lock(&mutex_);
      calls = calls_;
    }
    for (auto& [id, call] : calls) call->cancellation().StartCancel();
  }

  void Close() {
    socket_.Shutdown();
    server_->poller_.Remove(*this);
    CancelAll();
    server_->Forget(shared_from_this());
  }

 private:
  // A call whose handler may block.
  struct Blocking {
    const RpcMethod* method;
    std::shared_ptr<Call> call;
  };

  static void Handle(const Blocking& next, const absl::Status& may_block) {
    if (may_block.ok()) return next.method->handle(*next.call);
    next.call->Finish(Annotate(may_block, StrCat(next.method->path, ": ")));
  }

  // Handles the frames that do not block and returns the calls that may. `calls` has the call of
  // each frame for which IsCall is true.
  std::vector<Blocking> HandleQuick(std::vector<LaneFrame>& frames,
                                    std::vector<std::shared_ptr<Call>>& calls) {
    std::vector<Blocking> blocking;
    const Outbox outbox;
    for (size_t i = 0; i < frames.size(); ++i) {
      LaneFrame& frame = frames[i];
      if (frame.kind == LaneFrame::kPing) socket_.Send({.kind = LaneFrame::kPong});
      if (frame.kind == LaneFrame::kCancel) {
        Outbox::Flush();  // the callbacks of the cancellation may wait
        Cancel(frame.call);
      }
      if (frame.kind != LaneFrame::kRequest) continue;
      if (frame.call == LaneFrame::kOneWay) {
        HandleOneWay(frame);
        continue;
      }
      if (!IsCall(frame)) {
        socket_.Send(ResponseFrame(frame.call, absl::Status(frame.code, frame.text)));
        continue;
      }
      std::shared_ptr<Call> call = std::move(calls[i]);
      if (call == nullptr) {
        socket_.Send(ResponseFrame(frame.call, absl::UnavailableError("the server stops")));
      } else if (const RpcMethod* method = MethodOf(frame.text); method == nullptr) {
        call->Finish(absl::UnimplementedError(""));
      } else if (method->blocks) {
        blocking.push_back({method, std::move(call)});
      } else {
        method->handle(*call);
      }
    }
    return blocking;
  }

  const RpcMethod* MethodOf(const std::string& path) const {
    auto it = server_->methods_.find(path);
    return it == server_->methods_.end() ? nullptr : it->second;
  }

  static LaneFrame ResponseFrame(uint64_t id, const absl::StatusOr<grpc::ByteBuffer>& response) {
    LaneFrame frame{.kind = LaneFrame::kResponse, .call = id, .code = response.status().code()};
    if (response.ok()) {
      frame.body = *response;
    } else {
      frame.text = std::string(response.status().message());
    }
    return frame;
  }

  // Returns false if the peer is not an accepted client.
  bool Greet(const std::vector<LaneFrame>& frames) {
    for (const LaneFrame& frame : frames) {
      if (frame.kind == LaneFrame::kHello) {
        std::string token;
        if (!socket_.TakeGreeting(frame.text, &token)) return false;
        is_accepted_ = server_->token_.empty() || IsToken(token, CurrentToken(server_->token_));
        socket_.Send(
            {.kind = LaneFrame::kWelcome,
             .code = is_accepted_ ? absl::StatusCode::kOk : absl::StatusCode::kUnauthenticated,
             .text = LaneSocket::Greeting(socket_.reach().ToText())});
      } else if (frame.kind == LaneFrame::kReady) {
        socket_.SetPeersReach(PeerMemory::Reach::FromText(frame.text));
      } else if (!is_accepted_) {
        return false;
      }
    }
    return true;
  }

  // Returns false for a one-way call of a method that is not one-way. No proper client sends it.
  bool CheckOneWayCalls(const std::vector<LaneFrame>& frames) const {
    return std::all_of(frames.begin(), frames.end(), [this](const LaneFrame& frame) {
      if (frame.kind != LaneFrame::kRequest || frame.call != LaneFrame::kOneWay) return true;
      const RpcMethod* const method = MethodOf(frame.text);
      return method != nullptr && method->is_one_way;
    });
  }

  // Returns false if two open calls would have the same id. The table of calls would lose the first
  // one, which its handler still uses. No proper client sends it.
  bool CheckIds(const std::vector<LaneFrame>& frames) {
    std::set<uint64_t> added;
    ScopedLock lock(&mutex_);
    for (const LaneFrame& frame : frames) {
      if (!IsCall(frame)) continue;
      if (calls_.contains(frame.call) || !added.insert(frame.call).second) return false;
    }
    return true;
  }

  void HandleOneWay(LaneFrame& frame) {
    if (!server_->calls_.Begin()) return;
    MethodOf(frame.text)
        ->handle(*std::make_shared<Call>(shared_from_this(), frame.call, std::move(frame.body)));
  }

  // Whether the frame is a request that needs a response and was not too large.
  static bool IsCall(const LaneFrame& frame) {
    return frame.kind == LaneFrame::kRequest && frame.call != LaneFrame::kOneWay &&
           frame.code == absl::StatusCode::kOk;
  }

  // Makes a call that can be cancelled. Returns null if the server stops.
  std::shared_ptr<Call> AddCall(LaneFrame& frame) {
    if (!server_->calls_.Begin()) return nullptr;
    auto call = std::make_shared<Call>(shared_from_this(), frame.call, std::move(frame.body));
    ScopedLock lock(&mutex_);
    calls_[frame.call] = call;
    return call;
  }

  void Cancel(uint64_t id) {
    std::shared_ptr<Call> call;
    {
      ScopedLock lock(&mutex_);
      auto it = calls_.find(id);
      if (it != calls_.end()) call = it->second;
    }
    if (call != nullptr) call->cancellation().StartCancel();
  }

  LaneServer* const server_;
  LaneSocket socket_;
  const std::string name_;
  bool is_accepted_ = false;            // used by Readable only
  std::atomic<int> kept_responses_{0};  // responses whose calls end when they are sent
  Mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
};

std::string LaneServer::Call::client() const { return connection_->name(); }

void LaneServer::Call::Finish(const absl::StatusOr<grpc::ByteBuffer>& response) {
  const auto self = shared_from_this();
  connection_->Respond(id_, response);
}

LaneServer::LaneServer(const std::vector<RpcMethod>& methods, std::string token,
                       int64_t max_message_bytes)
    : token_(std::move(token)), max_message_bytes_(static_cast<uint64_t>(max_message_bytes)) {
  for (const RpcMethod& method : methods) methods_[method.path] = &method;
}

LaneServer::~LaneServer() { Stop(); }

void LaneServer::ListenAt(const std::string& address) {
  const int fd = ListenLane(address);
  if (fd >= 0) poller_.Add(std::make_shared<Acceptor>(this, fd));
}

void LaneServer::Accept(int fd) {
  int64_t number;
  {
    ScopedLock lock(&mutex_);
    number = ++next_connection_;
  }
  auto connection = std::make_shared<Connection>(this, fd, number);
  if (!connection->is_own() || !calls_.Begin()) return;
  {
    ScopedLock lock(&mutex_);
    connections_.insert(connection);
  }
  if (!poller_.Add(connection)) Forget(connection);
  calls_.End();
}

void LaneServer::Forget(const std::shared_ptr<Connection>& connection) {
  ScopedLock lock(&mutex_);
  connections_.erase(connection);
}

bool LaneServer::IsConnected(const std::string& client) {
  ScopedLock lock(&mutex_);
  return std::any_of(connections_.begin(), connections_.end(),
                     [&](const auto& connection) { return connection->name() == client; });
}

void LaneServer::Stop() {
  calls_.Close();
  calls_.AwaitNone(std::chrono::steady_clock::now() + kStopGrace);
  std::set<std::shared_ptr<Connection>> connections;
  {
    ScopedLock lock(&mutex_);
    connections = connections_;
  }
  for (const auto& connection : connections) connection->CancelAll();
  calls_.AwaitNone();
  for (const auto& connection : connections) connection->Close();
  poller_.Stop();
}

}  // namespace sluice
