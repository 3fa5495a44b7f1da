// Threads that keep running enqueue ops of a queue until it is closed.
//
//   SLUICE_ASSIGN_OR_RETURN(QueueRunner runner, QueueRunner::Of(queue, {enqueue, enqueue}));
//   AddQueueRunner(g, runner);                        // a MonitoredSession starts it
//   … or: StartQueueRunners(session, coordinator);
//
// Reference behaviour: tf.train.QueueRunner. A graph keeps its runners as QueueRunnerDefs in the
// collection "queue_runners", so that they pass through MetaGraph files.
// Thread safety: the object is a value; Start may be called from any thread.
// Errors: an error other than the closed codes stops the coordinator and is what its Join returns.
#ifndef SLUICE_TRAINING_LOOP_QUEUE_RUNNER_H_
#define SLUICE_TRAINING_LOOP_QUEUE_RUNNER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/format/messages.h"
#include "graph/ir/graph.h"
#include "ops/dataflow/queue_handle.h"
#include "training/loop/coordinator.h"

namespace sluice {

// Key of the collection.
inline constexpr std::string_view kQueueRunners = "queue_runners";

struct QueueRunner {
  std::string queue_name;
  std::vector<Operation> enqueue_ops;  // one thread each; an op may stand in it several times
  Operation close_op;                  // run when the last thread saw the end of its input
  Operation cancel_op;  // close that cancels pending enqueues: run when the coordinator stops
  // Codes that end a thread quietly.
  std::vector<absl::StatusCode> closed_codes = {absl::StatusCode::kOutOfRange};

  // With close and cancel ops of the queue's own. INVALID_ARGUMENT "Must provide queue and
  // enqueue_ops."; "queue_closed_exception_types, when provided, must be …" for an empty list.
  static absl::StatusOr<QueueRunner> Of(const Queue& queue, std::vector<Operation> enqueue_ops,
                                        std::vector<absl::StatusCode> closed_codes = {
                                            absl::StatusCode::kOutOfRange});

  // `export_scope` is taken off all names. NOT_FOUND if the queue is not in it.
  absl::StatusOr<pb::QueueRunnerDef> ToProto(std::string_view export_scope = "") const;
  // The ops of `graph` that have the names, `import_scope` in front of them. NOT_FOUND.
  static absl::StatusOr<QueueRunner> FromProto(const pb::QueueRunnerDef& def, const Graph& graph,
                                               std::string_view import_scope = "");

  // Starts the threads on the coordinator, which must end before `session` does. Nothing happens
  // while threads of an equal runner still run for the session.
  void Start(Session& session, Coordinator& coordinator) const;
};

// A graph may have queues that nothing goes on without (the updates of a synchronous optimizer):
// whoever builds it says so, whoever starts the runner in another way than by the collection says
// that too, and a training loop asks before it makes a session.
void NeedQueueRunner(Graph& graph, const std::string& queue_name, const std::string& what_for);
void StartsQueueRunner(Graph& graph, const std::string& queue_name);
// INVALID_ARGUMENT, naming a queue and what it is for, where nobody starts its runner.
absl::Status CheckQueueRunners(const Graph& graph);

// Keeps the runner in the graph. Its error, if it has one, goes to the graph.
void AddQueueRunner(Graph& graph, const QueueRunner& runner,
                    std::string_view collection = kQueueRunners);
// The runners of a collection. NOT_FOUND where an op is no longer there, INVALID_ARGUMENT where an
// entry is no QueueRunnerDef.
absl::StatusOr<std::vector<QueueRunner>> QueueRunners(const Graph& graph,
                                                      std::string_view collection = kQueueRunners);
// Starts all of a collection; none is no error.
absl::Status StartQueueRunners(Session& session, Coordinator& coordinator,
                               std::string_view collection = kQueueRunners);

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_QUEUE_RUNNER_H_
