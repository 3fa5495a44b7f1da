#include "distributed/wire/lane_client.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/wire/lane_socket.h"
#include "executor/step/continuations.h"
#include "executor/step/outbox.h"
#include "graph/strings.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Whether a server listens is not asked more often.
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
    Time deadline{};  // none
  };

  Connection(LaneClient* client, std::string address, int fd)
      : client_(client), address_(std::move(address)), socket_(fd) {}
  int fd() const override { return socket_.fd(); }
  bool is_own() const { return socket_.PeerIsOwn(); }
  bool is_ready() const { return ready_.load(std::memory_order_acquire); }

  void SendKept() override { socket_.SendKept(); }
  void TrySendKept() { socket_.TrySendKept(); }

  void Greet() {
    socket_.Send({.kind = LaneFrame::kHello, .text = LaneSocket::Greeting(client_->token_)});
  }

  // False when the connection is not ready or was lost; then nothing was taken.
  bool Start(uint64_t id, const std::string& path, const grpc::ByteBuffer& request,
             CancellationManager* cancellation, Time deadline, Done& done) {
    CancellationManager::Token token = cancellation != nullptr ? cancellation->NewToken() : 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (is_lost_) return false;
      if (pending_.empty()) {
        heard_ = Clock::now();
        was_asked_ = false;
      }
      pending_[id] = {std::move(done), cancellation, token, deadline};
    }
    const auto self = shared_from_this();
    if (cancellation != nullptr &&
        !cancellation->Register(token, [self, id] { self->Cancelled(id); })) {
      Cancelled(id);
      return true;
    }
    // What was cancelled meanwhile is not sent: its cancellation would have come before it.
    Transmit({.kind = LaneFrame::kRequest, .call = id, .text = path, .body = request}, [this, id] {
      std::lock_guard<std::mutex> lock(mutex_);
      return pending_.contains(id);
    });
    return true;  // where that failed, the connection is lost, which ends the call
  }

  bool Tell(const std::string& path, const grpc::ByteBuffer& request) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (is_lost_) return false;
    }
    return socket_.Keep(
        {.kind = LaneFrame::kRequest, .call = LaneFrame::kNoAnswer, .text = path, .body = request});
  }

  void Readable() override {
    const auto self = shared_from_this();
    // Large answers are fetched here, and steps that waited for an answer go on here.
    client_->poller_.MayBlock();
    ContinuationScope scope;
    std::vector<LaneFrame> frames;
    if (!socket_.Receive(&frames) || !TakeWelcome(frames)) {
      return Lose(StrCat("the connection to ", address_, " was closed"));
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      heard_ = Clock::now();
      was_asked_ = false;
    }
    // Before another thread may hear of the connection's end: what was answered is not lost.
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
      End(frame->call, call, absl::Status(frame->code, frame->text), std::move(frame->body));
    }
  }

  void TimeOut(uint64_t id) {
    std::optional<Pending> call = Take(id);
    if (!call) return;
    socket_.Send({.kind = LaneFrame::kCancel, .call = id});
    End(id, *call, absl::DeadlineExceededError("Deadline Exceeded"), {});
  }

  // Sends what was kept, and asks whether the peer is there; gives up when it has not been heard of
  // for too long.
  void Beat(const Heartbeat& heartbeat) {
    socket_.TrySendKept();
    bool is_late;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const Clock::duration silence = Clock::now() - heard_;
      if (pending_.empty() || silence < milliseconds(heartbeat.interval_ms)) return;
      is_late = silence >= milliseconds(heartbeat.timeout_ms) && was_asked_;
      was_asked_ = true;
    }
    // After this process itself was stopped, answers are there that were not read.
    if (!is_late || socket_.HasInput()) {
      socket_.TryPing();
    } else {
      Lose(StrCat("nothing was heard from ", address_, " for ", heartbeat.timeout_ms, " ms"));
    }
  }

  void Lose(const std::string& why) {
    std::unordered_map<uint64_t, Pending> lost;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      is_lost_ = true;
      lost.swap(pending_);
    }
    const auto self = shared_from_this();
    socket_.Shutdown();
    client_->poller_.Remove(*this);
    client_->Forget(this);
    for (auto& [id, call] : lost) End(id, call, absl::UnavailableError(why), {});
  }

 private:
  void Transmit(const LaneFrame& frame, const std::function<bool()>& still) {
    Outbox* const outbox = Outbox::Current();
    if (outbox == nullptr) {
      socket_.Send(frame, still);
    } else if (socket_.Keep(frame, still)) {
      outbox->Add(shared_from_this());
    }
  }

  // False where the server does not take this caller.
  bool TakeWelcome(const std::vector<LaneFrame>& frames) {
    for (const LaneFrame& frame : frames) {
      if (frame.kind != LaneFrame::kWelcome) continue;
      std::string word;
      if (frame.code != absl::StatusCode::kOk || !socket_.TakeGreeting(frame.text, &word)) {
        return false;
      }
      socket_.SetPeersReach(PeerMemory::Reach::FromText(word));
      socket_.Send({.kind = LaneFrame::kReady, .text = socket_.reach().ToText()});
      ready_.store(true, std::memory_order_release);
    }
    return true;
  }

  std::optional<Pending> Take(uint64_t id) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = pending_.find(id);
    if (it == pending_.end()) return std::nullopt;
    std::optional<Pending> call = std::move(it->second);
    pending_.erase(it);
    return call;
  }

  // In the thread that cancels. The call ends in another: who hears of it may destroy a
  // CancellationManager, and that waits for this one's callbacks.
  void Cancelled(uint64_t id) {
    std::optional<Pending> call = Take(id);
    if (!call) return;
    socket_.Send({.kind = LaneFrame::kCancel, .call = id});
    call->cancellation = nullptr;  // it is what calls this
    client_->poller_.RunElsewhere(
        [self = shared_from_this(), id, call = std::make_shared<Pending>(*std::move(call))] {
          self->End(id, *call, absl::CancelledError("CANCELLED"), {});
        });
  }

  void End(uint64_t id, Pending& call, absl::Status status, grpc::ByteBuffer response) {
    if (call.cancellation != nullptr) call.cancellation->Deregister(call.token);
    LaneClient* const client = client_;
    {
      std::lock_guard<std::mutex> lock(client->mutex_);
      if (call.deadline != Time()) client->deadlines_.erase({call.deadline, id});
    }
    call.done(std::move(status), response);
    call.done = nullptr;
    std::lock_guard<std::mutex> lock(client->mutex_);
    if (--client->calls_ == 0) client->idle_.notify_all();
  }

  LaneClient* const client_;
  const std::string address_;
  LaneSocket socket_;
  std::atomic<bool> ready_{false};
  std::mutex mutex_;
  std::unordered_map<uint64_t, Pending> pending_;  // guarded by mutex_
  Time heard_{};                                   // guarded by mutex_
  bool was_asked_ = false;                         // since then; guarded by mutex_
  bool is_lost_ = false;                           // guarded by mutex_
};

LaneClient::LaneClient(std::string token, const Heartbeat& heartbeat)
    : token_(std::move(token)), heartbeat_(heartbeat), poller_([this] { return Tick(); }) {}

LaneClient::~LaneClient() {
  std::map<std::string, Peer> peers;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return calls_ == 0; });
    peers.swap(peers_);
  }
  for (auto& [address, peer] : peers) {
    if (peer.connection != nullptr) peer.connection->TrySendKept();  // what was told
  }
  poller_.Stop();
}

bool LaneClient::Start(const std::string& address, const std::string& path,
                       const grpc::ByteBuffer& request, CancellationManager* cancellation,
                       int64_t timeout_ms, Done& done) {
  const std::shared_ptr<Connection> connection = To(address);
  if (connection == nullptr || !connection->is_ready()) return false;
  const uint64_t id = next_call_.fetch_add(1, std::memory_order_relaxed);
  Time deadline{};
  if (timeout_ms > 0) deadline = Clock::now() + milliseconds(timeout_ms);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++calls_;
    if (timeout_ms > 0) deadlines_.emplace(std::pair(deadline, id), connection);
  }
  const bool wakes = timeout_ms > 0 && timeout_ms < heartbeat_.interval_ms;
  if (connection->Start(id, path, request, cancellation, deadline, done)) {
    if (wakes) poller_.Wake();
    return true;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (timeout_ms > 0) deadlines_.erase({deadline, id});
  if (--calls_ == 0) idle_.notify_all();
  return false;
}

bool LaneClient::Tell(const std::string& address, const std::string& path,
                      const grpc::ByteBuffer& request) {
  const std::shared_ptr<Connection> connection = To(address);
  return connection != nullptr && connection->is_ready() && connection->Tell(path, request);
}

std::shared_ptr<LaneClient::Connection> LaneClient::To(const std::string& address) {
  std::shared_ptr<Connection> made;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Peer& peer = peers_[address];
    if (peer.connection != nullptr) return peer.connection;
    const Time now = Clock::now();
    if (now - peer.tried < kTryEvery) return nullptr;
    peer.tried = now;
    const int fd = ConnectLane(NameOf(address));
    if (fd < 0) return nullptr;
    made = std::make_shared<Connection>(this, address, fd);
    if (!made->is_own()) return nullptr;
    peer.connection = made;
  }
  poller_.Add(made);
  made->Greet();
  return made;
}

void LaneClient::Forget(Connection* connection) {
  std::shared_ptr<Connection> forgotten;  // let go without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [address, peer] : peers_) {
    if (peer.connection.get() == connection) forgotten = std::move(peer.connection);
  }
}

// Milliseconds until the next.
int LaneClient::Tick() {
  std::vector<std::pair<std::shared_ptr<Connection>, uint64_t>> late;
  std::vector<std::shared_ptr<Connection>> connections;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const Time now = Clock::now();
    while (!deadlines_.empty() && deadlines_.begin()->first.first <= now) {
      late.emplace_back(deadlines_.begin()->second.lock(), deadlines_.begin()->first.second);
      deadlines_.erase(deadlines_.begin());
    }
    for (auto& [address, peer] : peers_) {
      if (peer.connection != nullptr) connections.push_back(peer.connection);
    }
  }
  for (auto& [connection, id] : late) {
    if (connection != nullptr) connection->TimeOut(id);
  }
  for (const auto& connection : connections) connection->Beat(heartbeat_);
  const int beat_ms = std::max(heartbeat_.interval_ms / 2, 1);
  std::lock_guard<std::mutex> lock(mutex_);
  if (deadlines_.empty()) return beat_ms;
  const auto wait = deadlines_.begin()->first.first - Clock::now();
  const auto ms = std::chrono::ceil<milliseconds>(wait).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, beat_ms));
}

}  // namespace sluice
