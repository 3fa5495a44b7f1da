// A session whose steps run on a server, which may also be TensorFlow's own.
//
//   absl::StatusOr<std::unique_ptr<Session>> session =
//       RemoteSession::Connect(g, "grpc://ps0:7077");
//   (*session)->Run({init});
//
// It supports all features of a Session: callables, partial runs, timeouts, queue runners,
// monitored sessions. The graph is sent to the server with the first step, and new nodes with the
// next step. A SessionTarget whose master is "grpc://..." makes such sessions if this library is
// linked.
//
// Thread safety: as Session.
// Lifetime: the graph outlives the session. The server forgets the session when it is closed or
// destroyed. Variables, queues and tables stay on the server's devices.
// Errors: UNAVAILABLE, naming the address, if the server does not answer. ABORTED after a restart
// of the server. Errors of steps come from the server, with the source line of the node in this
// program.
// Reference: tf.Session with a target.
#ifndef SLUICE_DISTRIBUTED_CLIENT_REMOTE_SESSION_H_
#define SLUICE_DISTRIBUTED_CLIENT_REMOTE_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/message/limits.h"
#include "distributed/security/security.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace sluice {

struct RemoteSessionOptions {
  // The server gets the options of placement, threads and timeouts, and whether all passes are
  // disabled. Names of single passes are rejected with UNIMPLEMENTED, because the protocol has no
  // place for them. Other options, such as `devices`, do not reach the server.
  SessionOptions session;
  // The tasks that the session may use and waits for, as device names. Empty: all tasks.
  std::vector<std::string> device_filters;
  // Whether the session has variables and queues of its own, which end with it.
  bool isolate_session_state = false;
  // Time that Connect waits for the server and for the other tasks that the session may use.
  int64_t connect_timeout_ms = 60'000;
  Security security;
  // Feeds and fetches above this size are sent as chunked messages.
  int64_t grpc_message_bytes = kGrpcMessageBytes;
};

class RemoteSession {
 public:
  // Waits until the server answers, up to connect_timeout_ms. INVALID_ARGUMENT unless `target` is
  // "grpc://host:port". UNAVAILABLE after the timeout.
  static absl::StatusOr<std::unique_ptr<Session>> Connect(Graph& graph, const std::string& target,
                                                          RemoteSessionOptions options = {});

  // Returns the devices of the session's server and its cluster. INVALID_ARGUMENT for a session of
  // this process.
  static absl::StatusOr<std::vector<DeviceInfo>> ListDevices(const Session& session);

  // Clears the containers of the server and its cluster, or all containers if none are given, and
  // ends the server's sessions. Later steps of these sessions end with ABORTED. Reference:
  // tf.Session.reset.
  static absl::Status Reset(const std::string& target,
                            const std::vector<std::string>& containers = {},
                            const Security& security = {});
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLIENT_REMOTE_SESSION_H_
