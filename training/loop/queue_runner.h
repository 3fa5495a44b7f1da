// Runs enqueue ops of a queue repeatedly, in threads, until the queue is closed.
//
//   SLUICE_ASSIGN_OR_RETURN(QueueRunner runner, QueueRunner::Of(queue, {enqueue, enqueue}));
//   AddQueueRunner(g, runner);                        // a MonitoredSession starts it
//   … or: StartQueueRunners(session, coordinator);
//
// A graph keeps its runners as QueueRunnerDefs in the collection "queue_runners", which MetaGraph
// files contain.
//
// Thread safety: a value; Start may be called from any thread.
// Ownership: the coordinator owns the threads. The session outlives them.
// Errors: an error other than the closed codes stops the coordinator, whose Join returns it.
// Reference: tf.train.QueueRunner.
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

// Key of the graph collection whose runners a MonitoredSession starts.
inline constexpr std::string_view kQueueRunners = "queue_runners";

struct QueueRunner {
  std::string queue_name;
  // The ops that fill the queue. One thread per entry runs the entry's op repeatedly. An op may be
  // listed several times.
  std::vector<Operation> enqueue_ops;
  // Closes the queue. Runs when the last thread ends, if its error has one of the closed_codes.
  Operation close_op;
  // Runs when the coordinator stops, unless another session continues (Coordinator::GoesOn).
  // Cancels pending enqueues.
  Operation cancel_op;
  // A thread that ends with one of these codes reports no error.
  std::vector<absl::StatusCode> closed_codes = {absl::StatusCode::kOutOfRange};

  // Returns a runner of the queue, and adds its close_op and cancel_op to the graph.
  // INVALID_ARGUMENT "Must provide queue and enqueue_ops."; "queue_closed_exception_types, when
  // provided, must be …" if `closed_codes` is empty or contains OK.
  static absl::StatusOr<QueueRunner> Of(const Queue& queue, std::vector<Operation> enqueue_ops,
                                        std::vector<absl::StatusCode> closed_codes = {
                                            absl::StatusCode::kOutOfRange});

  // Returns the runner as a message with the names of its ops, without the prefix `export_scope`.
  // NOT_FOUND if the queue is not in this scope.
  absl::StatusOr<pb::QueueRunnerDef> ToProto(std::string_view export_scope = "") const;
  // Returns the runner that `def` describes. Finds its ops by their names, with `import_scope` in
  // front. NOT_FOUND if an op does not exist.
  static absl::StatusOr<QueueRunner> FromProto(const pb::QueueRunnerDef& def, const Graph& graph,
                                               std::string_view import_scope = "");

  // Starts the threads on the coordinator. The threads must end before `session` is destroyed. Does
  // nothing while a runner with the same queue and enqueue_ops runs for the session.
  void Start(Session& session, Coordinator& coordinator) const;
};

// Some queues need a runner, or training waits forever. An example is the queue whose runner makes
// the updates of synchronous training. With these functions a training loop finds a missing runner
// before it creates a session. Code that adds such a queue calls NeedQueueRunner. `what_for` says
// what cannot happen without the runner, for the error of CheckQueueRunners. Code that starts the
// runner itself, without adding it to the collection, calls StartsQueueRunner.
void NeedQueueRunner(Graph& graph, const std::string& queue_name, const std::string& what_for);
void StartsQueueRunner(Graph& graph, const std::string& queue_name);
// Returns INVALID_ARGUMENT if a queue needs a runner that is neither in the collection
// "queue_runners" nor announced by StartsQueueRunner. The error contains `what_for` and the name of
// the queue.
absl::Status CheckQueueRunners(const Graph& graph);

// Adds the runner to the graph. An error stays in the graph.
void AddQueueRunner(Graph& graph, const QueueRunner& runner,
                    std::string_view collection = kQueueRunners);
// Returns the runners of a collection. NOT_FOUND if the graph lacks an op of a runner,
// INVALID_ARGUMENT if an entry is no QueueRunnerDef.
absl::StatusOr<std::vector<QueueRunner>> QueueRunners(const Graph& graph,
                                                      std::string_view collection = kQueueRunners);
// Starts all runners of a collection, which may be empty.
absl::Status StartQueueRunners(Session& session, Coordinator& coordinator,
                               std::string_view collection = kQueueRunners);

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_QUEUE_RUNNER_H_
