// Gradients that are sent as bfloat16 or half, in half the bytes. Training gives nearly the same
// result.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/cluster/replica_devices.h"
#include "distributed/message/counters.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/endtoend/sync_training.h"

namespace sluice {
namespace {

float LargestDifference(const Tensors& a, const Tensors& b) {
  float largest = 0;
  for (size_t v = 0; v < a.size(); ++v) {
    for (int64_t i = 0; i < a[v].num_elements(); ++i) {
      largest = std::max(largest, std::abs(a[v].data<float>()[i] - b[v].data<float>()[i]));
    }
  }
  return largest;
}

TEST(CompressedGradients, TrainAlmostAsUncompressedOnes) {
  const absl::StatusOr<Tensors> alone = TrainAlone(/*use_resource=*/true);
  ASSERT_TRUE(alone.ok()) << alone.status();
  // bfloat16 keeps 8 bits of a gradient's significand, half keeps 11.
  for (const auto& [wire, most] : {std::pair{DT_BFLOAT16, 1e-3f}, {DT_HALF, 1.25e-4f}}) {
    auto replicas = MakeReplicas(4, /*use_resource=*/true, wire);
    ASSERT_TRUE(replicas.ok()) << replicas.status();
    const absl::StatusOr<Tensors> together = TrainTogether(*replicas);
    ASSERT_TRUE(together.ok()) << together.status();
    EXPECT_LT(LargestDifference(*together, *alone), most) << DataTypeName(wire);
    // Another order of sums changes results by less than 1e-5 (sync_training_test), so the
    // gradients were rounded.
    EXPECT_GT(LargestDifference(*together, *alone), 1e-5f) << DataTypeName(wire);
  }
}

constexpr int64_t kElements = 10'000;

// The bytes that a worker and its parameter server send in one step of the worker.
absl::StatusOr<int64_t> BytesOfAStep(DataType wire) {
  ClusterSpec spec;
  spec.SetAddress({"ps", 0}, StrCat("127.0.0.1:", FreePort()));
  spec.SetAddress({"worker", 0}, StrCat("127.0.0.1:", FreePort()));
  SLUICE_ASSIGN_OR_RETURN(const auto ps, Server::Start({.cluster = {spec, {"ps", 0}}}));
  SLUICE_ASSIGN_OR_RETURN(const auto worker, Server::Start({.cluster = {spec, {"worker", 0}}}));
  Graph g;
  DeviceScope place(g, ReplicaDevices({spec, {"worker", 0}}));
  const Variable step = GlobalStep(g);
  const Variable w(g, "w", {kElements}, Zeros());
  const Output x = Placeholder(g, DT_FLOAT, {kElements}, "x");
  // The model has no variable, so no variable is sent to the worker.
  SyncReplicasOptimizer optimizer(GradientDescent({.learning_rate = 0.1f}),
                                  {.replicas_to_aggregate = 2, .wire_dtype = wire});
  SLUICE_ASSIGN_OR_RETURN(const Operation train,
                          optimizer.ApplyGradients({{x * 2.0f, w}}, {.global_step = &step}));
  SLUICE_ASSIGN_OR_RETURN(const Operation tokens, optimizer.InitTokensOp());
  const Operation init = InitializeVariables(g);
  SLUICE_RETURN_IF_ERROR(g.status());
  SLUICE_ASSIGN_OR_RETURN(const auto session, worker->NewSession(g));
  for (const Operation& op : {init, optimizer.chief_init_op(), tokens}) {
    SLUICE_RETURN_IF_ERROR(session->Run({op}));
  }
  const std::vector<Feed> feeds = {{x, Tensor(DT_FLOAT, {kElements})}};
  SLUICE_RETURN_IF_ERROR(session->Run(feeds, {}, {train}).status());  // graphs are sent, too
  const int64_t before = WireCounters::Global().sent;
  SLUICE_RETURN_IF_ERROR(session->Run(feeds, {}, {train}).status());
  return WireCounters::Global().sent - before;
}

TEST(CompressedGradients, TravelInHalfTheBytes) {
  for (const auto& [wire, bytes] : {std::pair{DT_INVALID, 4}, {DT_BFLOAT16, 2}, {DT_HALF, 2}}) {
    const absl::StatusOr<int64_t> sent = BytesOfAStep(wire);
    ASSERT_TRUE(sent.ok()) << sent.status();
    EXPECT_GE(*sent, bytes * kElements);
    EXPECT_LT(*sent, bytes * kElements + 1000);
  }
}

}  // namespace
}  // namespace sluice
