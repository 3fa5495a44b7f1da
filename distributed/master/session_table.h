// Holds the sessions of a master's clients by handle, and decides which sessions have expired.
//
// A client can end without closing its session. A client whose network pauses, or whose library
// disconnects while it is idle, looks the same, but connects again for its next call. So the
// session of a client that is not connected is kept for SessionLimits::lost. A client that dies
// again and again leaves many sessions. So only the latest ones of each host are kept that long.
//
// Thread safety: all methods may be called from any thread. Lifetime: the table outlives each Use.
#ifndef SLUICE_DISTRIBUTED_MASTER_SESSION_TABLE_H_
#define SLUICE_DISTRIBUTED_MASTER_SESSION_TABLE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/master/master_session.h"
#include "distributed/master/session_limits.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"

namespace sluice {

// A session as operators see it. The handle, with which anybody could use the session, is left out.
struct SessionInfo {
  int64_t number = 0;  // counted from 1
  std::string client;  // the connection of the last call (RpcCall::client)
  bool is_connected = false;
  int running = 0;  // calls that use the session now
  std::chrono::milliseconds age{0};
  std::chrono::milliseconds idle{0};  // since the last call; 0 while one runs
  int64_t graph_bytes = 0;            // size of the graph that the client sent
  int64_t memory_bytes = 0;           // in use by tensors that its steps on this task allocated
};

class SessionTable {
 public:
  using IsConnected = std::function<bool(const std::string& client)>;

 private:
  struct Entry;

 public:
  // Limits of the calls that run at once, per connection and per host. Each call takes a thread,
  // and no client may take all threads.
  struct MostCalls {
    int of_client = Thread::MaxOf(ThreadUse::kCalls) / 8 * 3;
    int of_host = Thread::MaxOf(ThreadUse::kCalls) / 8 * 5;
  };
  SessionTable() : SessionTable(MostCalls()) {}
  explicit SessionTable(MostCalls most_calls) : most_calls_(most_calls) {}

  // A call that uses a session. The session counts the call as running until the Use is destroyed.
  class Use {
   public:
    Use(SessionTable* table, std::shared_ptr<Entry> entry, std::string client);
    Use(Use&& other) noexcept
        : table_(other.table_),
          entry_(std::exchange(other.entry_, nullptr)),
          client_(std::move(other.client_)) {}
    Use& operator=(Use&&) = delete;
    ~Use();
    MasterSession* operator->() const { return entry_->session.get(); }
    int64_t number() const { return entry_->number; }
    // Adds to SessionInfo::graph_bytes.
    void AddGraphBytes(size_t bytes) { entry_->graph_bytes += static_cast<int64_t>(bytes); }

   private:
    SessionTable* table_;
    std::shared_ptr<Entry> entry_;
    std::string client_;  // "" if the call counts for no client
  };

  // Returns the number for a session that will be added.
  int64_t NewNumber() { return last_number_.fetch_add(1) + 1; }
  void Add(const std::string& handle, int64_t number, std::shared_ptr<MasterSession> session,
           const std::string& client, size_t graph_bytes);
  // Finds the session of a call, which runs until the Use is destroyed. The call also counts as a
  // running call of `client`. If `client` is empty, it counts for no client, and the client that is
  // recorded for the session does not change. ABORTED for an unknown handle; `hint` is part of the
  // message. RESOURCE_EXHAUSTED if the client or its host already has as many running calls as
  // MostCalls permits.
  absl::StatusOr<Use> Find(const std::string& handle, const std::string& client,
                           const char* hint = "");

  struct Removed {
    std::shared_ptr<MasterSession> session;
    SessionInfo info;  // its is_connected has no meaning
    const char* why;
  };
  absl::StatusOr<Removed> Remove(const std::string& handle, const char* hint);
  std::vector<Removed> RemoveAll();
  std::vector<Removed> RemoveExpired(const SessionLimits& limits, const IsConnected& is_connected);
  std::vector<SessionInfo> Describe(const IsConnected& is_connected);
  // Waits until no call uses a session. Returns false at the deadline.
  bool AwaitUnused(std::chrono::steady_clock::time_point deadline);

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  struct Entry {
    std::shared_ptr<MasterSession> session;
    int64_t number;
    Time created;
    std::string client;  // guarded by the table's mutex, like the times and `running`
    Time last_used;
    Time lost_since = Time::max();
    int running = 0;
    std::atomic<int64_t> graph_bytes;
  };
  static SessionInfo InfoOf(const Entry& entry, bool is_connected, Time now);
  // Returns the clients that have a session but no connection now.
  std::set<std::string> LostClients(const IsConnected& is_connected);
  void UseEnds(Entry& entry, const std::string& client);
  absl::Status BeginCall(const std::string& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndCall(const std::string& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const MostCalls most_calls_;

  Mutex mutex_;
  CondVar unused_;
  std::map<std::string, std::shared_ptr<Entry>> sessions_ ABSL_GUARDED_BY(mutex_);
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int> calls_ ABSL_GUARDED_BY(mutex_);  // running, by client and by host
  std::atomic<int64_t> last_number_{0};
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_SESSION_TABLE_H_
