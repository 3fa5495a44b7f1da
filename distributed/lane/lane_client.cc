#include "distributed/lane/lane_client.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/lane/lane_socket.h"
#include "distributed/security/security.h"
#include "executor/step/continuations.h"
#include "executor/step/outbox.h"
#include "graph/strings.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The least time between two attempts to connect to an address.
constexpr auto kTryEvery = milliseconds(50);

std::string NameOf(const std::string& address) {
  return address.starts_with("localhost:") ? "127.0.0.1" + address.substr(9) : address;
}

}  // namespace

class LaneClient::Connection final : public LanePoller::Source,
                                     public Outbox::Sender,
                                     public std::enable_shared_from_this<Connection> {
 public:
  struct Pending {
    Done done;
    CancellationManager* cancellation = nullptr;
    CancellationManager::Token token = 0;
    Time deadline = Time::max();
  };

  Connection(LaneClient* client, std::string address, int fd)
      : client_(client), address_(std::move(address)), socket_(fd) {}
  int fd() const override { return socket_.fd(); }
  bool is_own() const { return socket_.PeerIsOwn(); }
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }

  void SendKept() override { socket_.SendKept(); }
  void TrySendKept() { socket_.TrySendKept(); }

  void Greet() {
    socket_.Send(
        {.kind = LaneFrame::kHello, .text = LaneSocket::Greeting(CurrentToken(client_->token_))});
  }

  // Returns false, and does nothing, if the connection was lost.
  bool Start(uint64_t id, const std::string& path, const grpc::ByteBuffer& request,
             CancellationManager* cancellation, Time deadline, Done& done) {
    const CancellationManager::Token token = cancellation != nullptr ? cancellation->NewToken() : 0;
    const auto self = shared_from_this();
    bool is_wanted = true;
    {
      ScopedLock lock(&mutex_);
      if (is_lost_) return false;
      if (pending_.empty()) {
        received_at_ = Clock::now();
        was_pinged_ = false;
      }
      // Registered under the lock: once the call is pending, another thread may end it, and its
      // owner may destroy the manager.
      if (cancellation != nullptr) {
        is_wanted = cancellation->Register(token, [self, id] { self->Cancelled(id); });
      }
      pending_[id] = {std::move(done), cancellation, token, deadline};
    }
    if (!is_wanted) {
      Cancelled(id);
      return true;
    }
    // A call that was cancelled meanwhile is not sent, because its cancellation was sent already.
    Transmit({.kind = LaneFrame::kRequest, .call = id, .text = path, .body = request}, [this, id] {
      ScopedLock lock(&mutex_);
      return pending_.contains(id);
    });
    return true;  // a failure to send has lost the connection, which ends the call
  }

  bool Notify(const std::string& path, const grpc::ByteBuffer& request) {
    {
      ScopedLock lock(&mutex_);
      if (is_lost_) return false;
    }
    return socket_.Keep(
        {.kind = LaneFrame::kRequest, .call = LaneFrame::kOneWay, .text = path, .body = request});
  }

  void Readable() override {
    const auto self = shared_from_this();
    // Another thread waits for input meanwhile: this one copies large responses, and continues the
    // steps that waited for them.
    client_->poller_.MayBlock().IgnoreError();
    ContinuationScope scope;
    std::vector<LaneFrame> frames;
    if (!socket_.Receive(&frames) || !TakeWelcome(frames)) {
      return Lose(StrCat("the connection to ", address_, " was closed"));
    }
    {
      ScopedLock lock(&mutex_);
      received_at_ = Clock::now();
      was_pinged_ = false;
    }
    // Answered calls are taken before Arm. Afterwards another thread may see the end of the
    // connection, which fails all pending calls.
    std::vector<std::pair<LaneFrame*, Pending>> answered;
    for (LaneFrame& frame : frames) {
      if (frame.kind != LaneFrame::kResponse) continue;
      if (std::optional<Pending> call = Take(frame.call)) {
        answered.emplace_back(&frame, *std::move(call));
      }
    }
    client_->poller_.Arm(*this);
    socket_.Release();
    for (auto& [frame, call] : answered) {
      absl::StatusOr<grpc::ByteBuffer> response(absl::in_place);
      response->Swap(&frame->body);
      if (frame->code != absl::StatusCode::kOk) response = absl::Status(frame->code, frame->text);
      End(call, response);
    }
  }

  // Ends late calls. Returns the deadline of the next call.
  Time EndLateCalls() {
    std::vector<uint64_t> late;
    Time next = Time::max();
    {
      ScopedLock lock(&mutex_);
      const Time now = Clock::now();
      for (const auto& [id, call] : pending_) {
        if (call.deadline <= now) {
          late.push_back(id);
        } else {
          next = std::min(next, call.deadline);
        }
      }
    }
    for (const uint64_t id : late) {
      if (std::optional<Pending> call = Take(id)) {
        socket_.Send({.kind = LaneFrame::kCancel, .call = id});
        Fail(*call, absl::DeadlineExceededError("Deadline Exceeded"));
      }
    }
    return next;
  }

  // Sends kept frames. Pings a silent peer, and gives the connection up after the timeout.
  void Beat(const Heartbeat& heartbeat) {
    socket_.TrySendKept();
    bool is_late;
    {
      ScopedLock lock(&mutex_);
      const Clock::duration silence = Clock::now() - received_at_;
      if (pending_.empty() || silence < milliseconds(heartbeat.interval_ms)) return;
      is_late = silence >= milliseconds(heartbeat.timeout_ms) && was_pinged_;
      was_pinged_ = true;
    }
    // If this process itself was suspended, there may be responses that were not read yet.
    if (!is_late || socket_.HasInput()) {
      socket_.TryPing();
    } else {
      Lose(StrCat("nothing was heard from ", address_, " for ", heartbeat.timeout_ms, " ms"));
    }
  }

  // Closes the connection and fails all pending calls.
  void Lose(const std::string& why) {
    std::unordered_map<uint64_t, Pending> lost;
    {
      ScopedLock lock(&mutex_);
      is_lost_ = true;
      lost.swap(pending_);
    }
    const auto self = shared_from_this();
    socket_.Shutdown();
    client_->poller_.Remove(*this);
    client_->Forget(this);
    for (auto& [id, call] : lost) Fail(call, absl::UnavailableError(why));
  }

 private:
  void Transmit(const LaneFrame& frame, const std::function<bool()>& is_wanted) {
    Outbox* const outbox = Outbox::Current();
    if (outbox == nullptr) {
      socket_.Send(frame, is_wanted);
    } else if (socket_.Keep(frame, is_wanted)) {
      outbox->Add(shared_from_this());
    }
  }

  // Returns false if the server rejects this client.
  bool TakeWelcome(const std::vector<LaneFrame>& frames) {
    for (const LaneFrame& frame : frames) {
      if (frame.kind != LaneFrame::kWelcome) continue;
      std::string reach;
      if (frame.code != absl::StatusCode::kOk || !socket_.TakeGreeting(frame.text, &reach)) {
        return false;
      }
      socket_.SetPeersReach(PeerMemory::Reach::FromText(reach));
      socket_.Send({.kind = LaneFrame::kReady, .text = socket_.reach().ToText()});
      ready_.store(true, std::memory_order_release);
    }
    return true;
  }

  // Removes a pending call. The thread that gets the call ends it.
  std::optional<Pending> Take(uint64_t id) {
    ScopedLock lock(&mutex_);
    auto it = pending_.find(id);
    if (it == pending_.end()) return std::nullopt;
    std::optional<Pending> call = std::move(it->second);
    pending_.erase(it);
    return call;
  }

  // Runs in the thread that cancels. The call ends in another thread, because its callback may
  // destroy a CancellationManager, which waits for the callbacks of the manager that is cancelled.
  void Cancelled(uint64_t id) {
    std::optional<Pending> call = Take(id);
    if (!call) return;
    socket_.Send({.kind = LaneFrame::kCancel, .call = id});
    call->cancellation = nullptr;  // not deregistered: its callback is running
    client_->poller_.RunElsewhere(
        [self = shared_from_this(), call = std::make_shared<Pending>(*std::move(call))](
            const absl::Status&) { self->Fail(*call, absl::CancelledError("CANCELLED")); });
  }

  void Fail(Pending& call, const absl::Status& status) {
    absl::StatusOr<grpc::ByteBuffer> failed = status;
    End(call, failed);
  }

  void End(Pending& call, absl::StatusOr<grpc::ByteBuffer>& response) {
    if (call.cancellation != nullptr) call.cancellation->Deregister(call.token);
    LaneClient* const client = client_;
    call.done(response);
    call.done = nullptr;
    client->calls_.End();
  }

  LaneClient* const client_;
  const std::string address_;
  LaneSocket socket_;
  std::atomic<bool> ready_{false};
  Mutex mutex_;
  std::unordered_map<uint64_t, Pending> pending_ ABSL_GUARDED_BY(mutex_);
  Time received_at_ ABSL_GUARDED_BY(mutex_){};       // last input, or since when calls are pending
  bool was_pinged_ ABSL_GUARDED_BY(mutex_) = false;  // since received_at_
  bool is_lost_ ABSL_GUARDED_BY(mutex_) = false;
};

LaneClient::LaneClient(std::string token, const Heartbeat& heartbeat)
    : token_(std::move(token)),
      heartbeat_(heartbeat),
      poller_([this] { return Tick(); }, ThreadUse::kProcess) {}

LaneClient::~LaneClient() {
  calls_.AwaitNone();
  std::map<std::string, Peer> peers;
  {
    ScopedLock lock(&mutex_);
    peers.swap(peers_);
  }
  for (auto& [address, peer] : peers) {
    if (peer.connection != nullptr) peer.connection->TrySendKept();  // one-way calls
  }
  poller_.Stop();
}

bool LaneClient::Start(const std::string& address, const std::string& path,
                       const grpc::ByteBuffer& request, CancellationManager* cancellation,
                       int64_t timeout_ms, Done& done) {
  const std::shared_ptr<Connection> connection = ConnectionTo(address);
  if (connection == nullptr || !connection->is_ready()) return false;
  const uint64_t id = next_call_.fetch_add(1, std::memory_order_relaxed);
  const bool has_timeout = timeout_ms > 0;
  const Time deadline = CancellationManager::DeadlineAfter(timeout_ms);
  calls_.Begin();
  if (!connection->Start(id, path, request, cancellation, deadline, done)) {
    calls_.End();
    return false;
  }
  if (has_timeout && timeout_ms < heartbeat_.interval_ms) poller_.Wake();  // before the next tick
  return true;
}

bool LaneClient::Notify(const std::string& address, const std::string& path,
                        const grpc::ByteBuffer& request) {
  const std::shared_ptr<Connection> connection = ConnectionTo(address);
  return connection != nullptr && connection->is_ready() && connection->Notify(path, request);
}

std::shared_ptr<LaneClient::Connection> LaneClient::ConnectionTo(const std::string& address) {
  std::shared_ptr<Connection> connection;
  {
    ScopedLock lock(&mutex_);
    Peer& peer = peers_[address];
    if (peer.connection != nullptr) return peer.connection;
    const Time now = Clock::now();
    if (now - peer.tried < kTryEvery) return nullptr;
    peer.tried = now;
    const int fd = ConnectLane(NameOf(address));
    if (fd < 0) return nullptr;
    connection = std::make_shared<Connection>(this, address, fd);
    if (!connection->is_own()) return nullptr;
    peer.connection = connection;
  }
  if (!poller_.Add(connection)) {
    ScopedLock lock(&mutex_);
    peers_[address].connection = nullptr;
    return nullptr;
  }
  connection->Greet();
  return connection;
}

void LaneClient::Forget(Connection* connection) {
  std::shared_ptr<Connection> forgotten;  // destroyed without the lock
  ScopedLock lock(&mutex_);
  for (auto& [address, peer] : peers_) {
    if (peer.connection.get() == connection) forgotten = std::move(peer.connection);
  }
}

int LaneClient::Tick() {
  std::vector<std::shared_ptr<Connection>> connections;
  {
    ScopedLock lock(&mutex_);
    for (auto& [address, peer] : peers_) {
      if (peer.connection != nullptr) connections.push_back(peer.connection);
    }
  }
  Time next = Clock::now() + milliseconds(std::max(heartbeat_.interval_ms / 2, 1));
  for (const auto& connection : connections) {
    next = std::min(next, connection->EndLateCalls());
    connection->Beat(heartbeat_);
  }
  const auto wait = std::chrono::ceil<milliseconds>(next - Clock::now());
  return static_cast<int>(std::max<int64_t>(wait.count(), 0));
}

}  // namespace sluice
