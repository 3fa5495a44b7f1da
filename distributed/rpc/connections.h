// The TCP connections of a server: listens, accepts, and hands each connection to gRPC.
//
// gRPC 1.51's own listener stops for ever when the process has no descriptor left
// (CVE-2023-4785). It limits neither the number of connections nor the bytes that a connection
// sends before its first call. This class therefore applies four rules. A stranger is a connection
// that has made no accepted call yet.
//
//   1. At most `max` connections are open. If one more arrives, this class closes the oldest
//      stranger. If there is no stranger, it closes the connection whose last call ended first. If
//      all connections have open calls, it closes the new connection.
//   2. All strangers together may send `max_stranger_bytes`. Beyond that, the stranger that sent
//      most is closed.
//   3. Before the headers of its first call arrive, a connection may send kBytesBeforeCall, and
//      kBytesBeforeCallPerSecond for each second since it was accepted. Beyond that it is closed.
//      While the server has calls that it has not taken from gRPC yet, one of them may be the first
//      call of this connection, whose message follows. The connection may then send
//      kBytesBeforeTaken.
//   4. One descriptor is reserved. If no other descriptor is left, the next connection is accepted
//      with the reserved one and closed at once. One more connection is closed by rule 1.
//
// This class duplicates the descriptor of each connection, to see when the connection ends. So a
// server needs two descriptors per connection.
//
// One thread accepts connections and applies the rules. A second thread hands connections to gRPC,
// which may then read from a connection on this thread for as long as the client sends. If the
// first thread did that too, a client that sends without end would keep it from applying the rules.
//
// Thread safety: all methods may be called from any thread.
// Names: a client has the name that gRPC gives to its address, such as "ipv4:10.0.0.7:41200".
#ifndef SLUICE_DISTRIBUTED_RPC_CONNECTIONS_H_
#define SLUICE_DISTRIBUTED_RPC_CONNECTIONS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/events/event_log.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"

namespace sluice {

class Connections {
 public:
  // For a handshake of TLS, HTTP/2's settings, the headers of a call, and what a client may send of
  // its first messages before the server permits more. Long-lived clients that only ask for the
  // server's health or ping it need a few bytes per second.
  static constexpr int64_t kBytesBeforeCall = 128 << 10;
  static constexpr int64_t kBytesBeforeCallPerSecond = 1 << 10;
  static constexpr int64_t kBytesBeforeTaken = 4 << 20;
  struct Options {
    std::string address;  // "127.0.0.1:0": any free port
    // 0: three eighths of the number of descriptors that the process may open.
    int max = 0;
    int64_t max_stranger_bytes = int64_t{64} << 20;
  };
  // UNAVAILABLE if the address cannot be listened at. INVALID_ARGUMENT if it has no valid port.
  static absl::StatusOr<std::unique_ptr<Connections>> Listen(const Options& options);
  ~Connections();  // stops
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Begins to accept connections. Calls `take` with the descriptor of one connection after the
  // other. `take` owns the descriptor. Later connections wait until `take` returns. `has_untaken`
  // returns true while the server has accepted calls that it has not taken from gRPC (rule 3). It
  // may be null.
  // RESOURCE_EXHAUSTED if a thread cannot be started.
  absl::Status Start(std::function<void(int fd)> take, std::function<bool()> has_untaken = nullptr);
  // Closes the listening sockets. `take` is not called after Stop has returned.
  void Stop();
  int port() const { return port_; }
  int max() const { return max_; }

  // To be called when the headers of an accepted call have arrived. `number` is the gate's name for
  // the connection (CallGate::Connection).
  void CallArrives(const std::string& client, uint64_t number);
  // Returns true if the connection with this number is a stranger, or if no call of it has arrived.
  bool IsStranger(uint64_t number);
  // Closes the connection that has this number, if there is one. `why` is logged.
  void Close(uint64_t number, const char* why);
  // To be called when the message of an accepted call has arrived, and at the end of that call.
  void CallBegins(const std::string& client);
  void CallEnds(const std::string& client);
  bool IsConnected(const std::string& client);

  // Checks that the server accepts connections: makes one, and waits until it has been accepted and
  // would be handed to gRPC. UNAVAILABLE if that takes longer than `limit`. Another connection that
  // is being handed to gRPC at that time is closed, because all later ones wait for it. Blocks.
  absl::Status CheckAccepting(std::chrono::milliseconds limit);

  struct Counts {
    int open = 0;
    int64_t accepted = 0;
    int64_t refused = 0;  // closed by one of the rules, or by Close
  };
  Counts counts();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Connection {
    int fd = -1;          // the second descriptor
    uint32_t serial = 0;  // differs between connections that had this descriptor
    std::string client;
    uint64_t number = 0;  // 0: the headers of no call have arrived
    bool is_stranger = true;
    int64_t bytes = 0;  // received; counted for strangers
    int open_calls = 0;
    Time accepted, last_used;
  };
  // A connection that waits to be handed over.
  struct Accepted {
    int fd = -1;
    std::string client;
    bool is_probe = false;  // made by CheckAccepting
  };

  explicit Connections(const Options& options);
  absl::Status ListenAt(const std::string& host, const std::string& port);
  void Run();
  void HandOver();
  void LogEvents();
  void Accept(int listener);
  void AcceptWithReserve(int listener);
  void Admit(int fd);
  // Records a new connection. Returns false if it has to be refused, because all connections have
  // open calls or no descriptor is left.
  bool Add(int fd, const std::string& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The connection with this number, or null.
  const Connection* FindByNumber(uint64_t number) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Happened(int fd, uint32_t serial, uint32_t events);
  // The connection, or null if it has ended.
  Connection* Find(int fd, uint32_t serial) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether no call of the connection has arrived and it has sent more than rule 3 permits at age 0
  // (`most`) and for its age.
  static bool IsTooMuch(const Connection& connection, int64_t most);
  void LimitStrangers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes a connection by rule 1. Returns false if all have open calls.
  bool MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes a connection, and discards what gRPC has not read from it.
  void Refuse(const Connection& connection, const char* why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the hand-over that is running, if one is, by closing its connection.
  void RefuseHandedOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(const Connection& connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // To be called when a connection is no stranger any more. Watches for its end, no longer for its
  // input.
  void WatchEndOf(const Connection& connection) const;

  const int max_;
  const int64_t max_stranger_bytes_;
  const int epoll_;
  const int wake_;  // an event descriptor in epoll_
  std::vector<int> listeners_;
  int port_ = 0;
  std::function<void(int fd)> take_;
  std::function<bool()> has_untaken_;
  Thread accepts_, hands_over_;
  int reserve_ = -1;                // used by accepts_ only
  std::atomic<bool> stops_{false};  // set before wake_
  Mutex mutex_;
  CondVar probed_, has_waiting_;
  uint32_t last_serial_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint32_t, Accepted> waiting_ ABSL_GUARDED_BY(mutex_);  // by serial, so in order
  std::string handed_over_ ABSL_GUARDED_BY(mutex_);               // the client, or ""
  // Events that are not logged yet, because a log may block.
  std::vector<std::pair<const char*, EventFields>> unlogged_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<int, Connection> connections_ ABSL_GUARDED_BY(mutex_);  // by fd
  std::unordered_map<std::string, int> fds_ ABSL_GUARDED_BY(mutex_);         // by client
  std::unordered_map<uint64_t, int> fds_by_number_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> probes_ ABSL_GUARDED_BY(mutex_);  // own connections, not handed over yet
  int64_t stranger_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t accepted_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_CONNECTIONS_H_
