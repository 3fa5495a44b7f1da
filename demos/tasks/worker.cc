#include "demos/tasks/worker.h"

#include <functional>
#include <utility>

namespace sluice::demos {

absl::StatusOr<std::unique_ptr<Session>> NewWorkerSession(Server& server, const Cluster& cluster,
                                                          Graph& graph,
                                                          const SessionOptions& options) {
  return server.NewSession(graph, options, {"/job:ps", cluster.task.ToString()});
}

SessionTarget WorkerTarget(Server& server, const Cluster& cluster) {
  SessionTarget target;
  target.make = [&](Graph& graph, const SessionTarget& made) {
    return NewWorkerSession(server, cluster, graph, made.config);
  };
  if (cluster.is_chief()) {
    target.announce_ready = [&server] { server.Announce(); };
  } else {
    target.watch_ready = [&server](std::function<void()> ready) -> std::shared_ptr<void> {
      return server.Watch({"worker", 0}, {.announced = std::move(ready)});
    };
  }
  return target;
}

}  // namespace sluice::demos
