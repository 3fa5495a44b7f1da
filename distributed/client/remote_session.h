// A session whose steps run on a server: on ours, or on TensorFlow's own.
//
//   absl::StatusOr<std::unique_ptr<Session>> session =
//       RemoteSession::Connect(g, "grpc://ps0:7077");
//   (*session)->Run({init});
//
// It is a Session like any other: callables, partial runs, time-outs, queue runners and monitored
// sessions work on it. The graph goes to the server with the first step, and what was added to it
// with the next. Programs that link this need not name it: a SessionTarget with a master
// "grpc://…" makes such sessions.
//
// Lifetime: the server forgets the session when it is closed or destroyed; variables, queues and
// tables stay on the server's devices.
// Errors: UNAVAILABLE with the address where nobody answers; ABORTED where the server was restarted
// since; those of steps as the server tells them, with the line of the node here.
#ifndef SLUICE_DISTRIBUTED_CLIENT_REMOTE_SESSION_H_
#define SLUICE_DISTRIBUTED_CLIENT_REMOTE_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/wire/message_limits.h"
#include "distributed/wire/security.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace sluice {

struct RemoteSessionOptions {
  // Placement, threads, time-outs and passes travel to the server; `devices` are the server's own.
  SessionOptions session;
  // The tasks that the session may use, as device names; none: all. It waits for these alone.
  std::vector<std::string> device_filters;
  // Variables and queues of its own, which end with it.
  bool isolate_session_state = false;
  // For the server, and the tasks that it has to reach, to come up.
  int64_t connect_timeout_ms = 60'000;
  Security security;
  // What goes as one message of gRPC; feeds and fetches beyond go in pieces.
  int64_t grpc_message_bytes = kGrpcMessageBytes;
};

class RemoteSession {
 public:
  // INVALID_ARGUMENT unless `target` is "grpc://host:port". UNAVAILABLE after the time-out.
  static absl::StatusOr<std::unique_ptr<Session>> Connect(Graph& graph, const std::string& target,
                                                          RemoteSessionOptions options = {});
  // What the session's server and its cluster compute on.
  static absl::StatusOr<std::vector<DeviceInfo>> ListDevices(const Session& session);
  // Forgets the containers (none: all) of the server and its cluster, and ends the server's
  // sessions.
  static absl::Status Reset(const std::string& target,
                            const std::vector<std::string>& containers = {},
                            const Security& security = {});
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLIENT_REMOTE_SESSION_H_
