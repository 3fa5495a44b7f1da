// A synchronous training of one variable, for tests of the optimizers in training/sync.
#ifndef SLUICE_TRAINING_TESTING_SYNC_H_
#define SLUICE_TRAINING_TESTING_SYNC_H_

#include <string>
#include <utility>

#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/sugar.h"
#include "training/optimizer/momentum.h"
#include "training/sync/replica_synchronizer.h"

namespace sluice {

inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

// A replica's graph with one variable w, which starts at 5. Tests feed its gradient. `Optimizer` is
// SyncReplicasOptimizer or LegacySyncReplicasOptimizer.
template <typename Optimizer>
struct World {
  explicit World(SyncReplicasOptions options, float rate = 0.5f)
      : step(GlobalStep(g)),
        w(g, "w", 5.0f),
        grad(Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "grad")),
        optimizer(Momentum({.learning_rate = rate, .momentum = 0.0f}), std::move(options)) {
    absl::StatusOr<Operation> made = optimizer.ApplyGradients({{grad, w}}, {.global_step = &step});
    EXPECT_TRUE(made.ok()) << made.status();
    train = made.value_or(Operation());
    value = w.Read();
    step_value = step.Read();
  }
  // Starts the training as its chief does.
  absl::Status Start(Session& session, int tokens = -1) {
    SLUICE_ASSIGN_OR_RETURN(const Operation init_tokens, optimizer.InitTokensOp(tokens));
    SLUICE_RETURN_IF_ERROR(session.Run({InitializeVariables(g)}));
    SLUICE_RETURN_IF_ERROR(session.Run({optimizer.LocalInitOp(true)}));
    return session.Run({init_tokens});
  }
  absl::Status Push(Session& session, float gradient, CancellationManager* cancellation = nullptr) {
    return session
        .Run({{grad, Tensor::Scalar(gradient)}}, {}, {train}, {.cancellation = cancellation})
        .status();
  }
  float Value(Session& session) {
    absl::StatusOr<Tensors> got = session.Run({}, {value}, {});
    return got.ok() ? (*got)[0].scalar<float>() : -1;
  }

  Graph g;
  Variable step, w;
  Output grad;
  Optimizer optimizer;
  Operation train;
  Output value, step_value;
};
}  // namespace sluice

#endif  // SLUICE_TRAINING_TESTING_SYNC_H_
