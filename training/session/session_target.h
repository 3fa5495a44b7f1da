// Says in which process the steps of a training loop run, and creates the loop's sessions.
#ifndef SLUICE_TRAINING_SESSION_SESSION_TARGET_H_
#define SLUICE_TRAINING_SESSION_SESSION_TARGET_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/session/remote_master.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {

struct SessionTarget;
using SessionFactory =
    std::function<absl::StatusOr<std::unique_ptr<Session>>(Graph& graph, const SessionTarget&)>;

struct SessionTarget {
  // "" or "local": this process. "grpc://host:port": a server, in programs that link
  // distributed/client/remote_session.h.
  std::string master;
  SessionOptions config;
  // The function that MakeSession calls to create a session. Empty: MakeSession itself creates it
  // in the process `master`, and returns NOT_FOUND if no linked library can connect to this
  // process.
  SessionFactory make;
  // For chiefs: called when the model is initialized or restored, to notify workers in other
  // processes. May be empty.
  std::function<void()> announce_ready;
  // For workers: subscribes `ready` to announcements of a chief until the returned object is
  // released. `ready` is called from any thread, and at once if a chief has announced already.
  // Empty: workers check periodically.
  std::function<std::shared_ptr<void>(std::function<void()> ready)> watch_ready;

  absl::StatusOr<std::unique_ptr<Session>> MakeSession(Graph& graph) const {
    if (make) return make(graph, *this);
    SessionOptions options = config;
    if (!master.empty() && master != "local") {
      SLUICE_ASSIGN_OR_RETURN(options.master, RemoteMaster::Connect(master, config));
    }
    return std::make_unique<Session>(graph, std::move(options));
  }
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SESSION_TARGET_H_
