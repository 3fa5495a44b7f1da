// Decides about each gRPC call when its headers arrive, before gRPC hands it to the server.
//
// gRPC 1.51 takes about 12 KB of memory for a call from its headers on, and one connection may open
// any number of calls: GRPC_ARG_MAX_CONCURRENT_STREAMS binds only clients that acknowledge it. So a
// megabyte of headers would take a gigabyte. gRPC frees a call that the gate rejects at once.
//
// The gate rejects a call with UNIMPLEMENTED if the server has no such method, and with
// UNAUTHENTICATED if the method needs a token that the call does not carry. RESOURCE_EXHAUSTED
// means that the connection has as many open calls as it may have. It also means that all
// connections together have Options::max open calls, and this one has kAlways.
//
// gRPC works about 20 us for a rejected call and more for an accepted one. It handles no other
// connection on that thread while the client sends more. So a stranger, which is a connection that
// has sent no complete call but health checks, may have only kMaxOfStranger open calls. More are
// rejected with UNAVAILABLE, because a client may repeat them later. The gate has a connection
// closed when it has rejected kMaxRejected of the connection's calls within kWindow, or
// kMaxRejectedOfStranger.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_RPC_CALL_GATE_H_
#define SLUICE_DISTRIBUTED_RPC_CALL_GATE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "graph/mutex.h"
#include "grpc/grpc_security.h"

namespace sluice {

class CallGate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Options {
    std::map<std::string, bool, std::less<>> methods;  // by path: whether it needs the token
    std::string token;                                 // "": none is needed
    int64_t max;                                       // open calls of all connections
    int64_t max_of_connection;                         // open calls of one connection
    // Returns true if the connection is a stranger. Empty: no connection is one.
    std::function<bool(uint64_t connection)> is_stranger;
    // Closes a connection. Empty: none is closed.
    // The gate holds no lock when it calls these functions.
    std::function<void(uint64_t connection)> close;
  };
  // A connection may have so many open calls even if all connections have reached Options::max.
  static constexpr int64_t kAlways = 32;
  static constexpr int64_t kMaxOfStranger = 512;
  static constexpr int64_t kMaxRejected = 1000;
  static constexpr int64_t kMaxRejectedOfStranger = 250;
  static constexpr std::chrono::seconds kWindow{5};
  // Returns the value of Options::max with which open calls take about a sixteenth of the memory of
  // the machine or container.
  static int64_t DefaultMax();

  explicit CallGate(Options options);
  // For gRPC, which passes each call to the gate, and owns the result.
  static grpc_auth_metadata_processor AsProcessor(std::shared_ptr<CallGate> gate);

  // A number that names a connection, never 0. ConnectionOf returns the connection of a call that
  // has begun.
  using Connection = uint64_t;
  static Connection ConnectionOf(grpc_call* call);
  // Decides about a call with these headers, and counts it if it is accepted. gRPC calls this
  // through AsProcessor, and tests call it directly.
  absl::Status Begins(Connection connection, std::string_view path, std::string_view token,
                      Time now);
  // To be called when the server gets an accepted call from gRPC, and when it destroys the call.
  void Arrives(Connection connection);
  void Ends(Connection connection);
  int64_t open_calls();
  // Returns true if there are accepted calls that have not arrived.
  bool has_waiting_calls();

 private:
  // gRPC does not report a call that ends before the server gets it. The gate counts such a call as
  // ended when no call of its connection has begun for this time.
  static constexpr std::chrono::seconds kArrives{5};
  struct Calls {
    int64_t open = 0;     // begun, and not ended
    int64_t waiting = 0;  // those of them that have not arrived
    Time last_begun;
    int64_t rejected = 0;  // calls that the gate has rejected since `window`
    Time window;
  };
  static void Process(void* gate, grpc_auth_context* context, const grpc_metadata* headers,
                      size_t count, grpc_process_auth_metadata_done_cb done, void* user_data);
  absl::Status CheckMethod(std::string_view path, std::string_view token) const;
  bool IsStranger(Connection connection);
  absl::Status Count(Calls& calls, bool is_stranger, Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts a rejected call. Returns true if the connection has to be closed.
  static bool Reject(Calls& calls, bool is_stranger, Time now);
  void ForgetUnarrived(Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  Mutex mutex_;
  std::unordered_map<Connection, Calls> connections_ ABSL_GUARDED_BY(mutex_);
  int64_t open_ ABSL_GUARDED_BY(mutex_) = 0;     // the sum of Calls::open
  int64_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // the sum of Calls::waiting
  Time last_forgot_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RPC_CALL_GATE_H_
