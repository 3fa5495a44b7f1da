// Tests gradients that are rounded on their way from the replica to the accumulator.
#include <optional>
#include <type_traits>
#include <utility>

#include "executor/session/session.h"
#include "graph/build/scopes.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/sugar.h"
#include "training/optimizer/gradient_descent.h"
#include "training/sync/legacy_sync_replicas_optimizer.h"
#include "training/sync/sync_replicas_optimizer.h"
#include "training/testing/sync.h"

namespace sluice {
namespace {

using Sync = World<SyncReplicasOptimizer>;

// 1.01 rounds to 1.0078125 in bfloat16, and the step is 0.5 times that.
TEST(SyncReplicas, GradientsCanTravelInHalfTheBytes) {
  for (const auto& [wire, gradient] :
       {std::pair{DT_BFLOAT16, 1.0078125f}, {DT_HALF, 1.0097656f}, {DT_INVALID, 1.01f}}) {
    Sync world({.wire_dtype = wire});
    Session session(world.g);
    ASSERT_TRUE(world.Start(session).ok());
    ASSERT_TRUE(world.Push(session, 1.01f).ok());
    ASSERT_TRUE(session.Run({world.optimizer.sync_op()}).ok());
    EXPECT_FLOAT_EQ(world.Value(session), 5 - 0.5f * gradient);
  }
}

// The small tensor must be the one that is sent between the tasks.
TEST(SyncReplicas, GradientsAreRoundedOnTheReplica) {
  Graph g;
  std::optional<Variable> step, w;
  {
    DeviceScope ps(g, "/job:ps/task:0");
    step = GlobalStep(g);
    w.emplace(g, "w", 5.0f);
  }
  DeviceScope worker(g, "/job:worker/task:1");
  const Output x = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "x");
  const Output gradient = x * x;
  SyncReplicasOptimizer optimizer(GradientDescent({.learning_rate = 0.1f}),
                                  {.wire_dtype = DT_BFLOAT16});
  ASSERT_TRUE(optimizer.ApplyGradients({{gradient, *w}}, {.global_step = &*step}).ok());
  for (const Node* node : g.nodes()) {
    if (node->op() != "ResourceAccumulatorApplyGradient") continue;
    const Node* off = node->input(2).node;
    EXPECT_EQ(off->device(), "/job:ps/task:0");
    EXPECT_EQ(off->input(0).dtype(), DT_BFLOAT16);
    EXPECT_EQ(off->input(0).node->device(), "/job:worker/task:1");
    return;
  }
  FAIL() << "no gradient is pushed";
}

TEST(SyncReplicas, OtherWireTypesAreRefused) {
  const auto error = [](auto form, DataType wire) {
    Graph g;
    const Variable step = GlobalStep(g);
    const Variable w(g, "w", 1.0f);
    typename decltype(form)::type optimizer(GradientDescent({.learning_rate = 0.1f}),
                                            {.wire_dtype = wire});
    return Message(
        optimizer.ApplyGradients({{Constant(g, 1.0f), w}}, {.global_step = &step}).status());
  };
  EXPECT_EQ(error(std::type_identity<SyncReplicasOptimizer>(), DT_INT32),
            "sync_replicas: expected wire_dtype to be half or bfloat16, got int32");
  EXPECT_EQ(error(std::type_identity<LegacySyncReplicasOptimizer>(), DT_HALF),
            "sync_replicas: wire_dtype is for accumulators of gradients, got queues");
}

}  // namespace
}  // namespace sluice
