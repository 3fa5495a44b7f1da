// Threads that keep running enqueue ops of a queue until it is closed.
//
// Reference behaviour: tf.train.QueueRunner; `ToCollection` is how a session's owner finds it.
// Thread safety: the object is immutable after construction; Start may be called once a session.
// Errors: an error other than the closed codes stops the coordinator and is what its Join returns.
#ifndef SLUICE_TRAINING_LOOP_QUEUE_RUNNER_H_
#define SLUICE_TRAINING_LOOP_QUEUE_RUNNER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "training/loop/coordinator.h"

namespace sluice {

struct QueueRunner {
  std::string queue_name;
  std::vector<Operation> enqueue_ops;  // one thread each; an op may stand in it several times
  Operation close_op;                  // run when the last thread saw the end of its input
  Operation cancel_op;  // close that cancels pending enqueues: run when the coordinator stops
  // Codes that end a thread quietly.
  std::vector<absl::StatusCode> closed_codes = {absl::StatusCode::kOutOfRange};

  // Starts the threads on the coordinator. `session` must outlive them.
  void Start(Session& session, Coordinator& coordinator) const;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_QUEUE_RUNNER_H_
