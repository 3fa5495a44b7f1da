// The code in docs/executor.md.

#include "executor/trace/step_stats.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(ExecutorSamples, Steps) {
  // [steps]
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1, 2}, "x");
  Variable w(g, "w", {2, 1}, Ones());
  Output y = MatMul(x, w);
  Operation init = InitializeVariables(g);

  Session session(g);
  absl::Status ready = session.Run({init});
  Tensor rows = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  absl::StatusOr<Tensors> out = session.Run({{x, rows}}, {y});
  // [/steps]
  ASSERT_TRUE(ready.ok() && out.ok()) << ready << out.status();
  EXPECT_EQ((*out)[0].flat<float>()[1], 7);

  // [callable]
  absl::StatusOr<Callable> step = session.MakeCallable({x}, {y});
  Tensors results;
  absl::Status ran = step->RunInto({rows}, &results);
  // [/callable]
  ASSERT_TRUE(ran.ok()) << ran;
  EXPECT_EQ(results[0].flat<float>()[0], 3);

  // [trace]
  RunMetadata metadata;
  absl::StatusOr<Tensors> traced = session.Run({{x, rows}}, {y}, {}, {.trace = true}, &metadata);
  for (const DeviceStepStats& device : metadata.step_stats->dev_stats) {
    for (const NodeExecStats& node : device.node_stats) {
      std::printf("%s %lld ns\n", node.timeline_label.c_str(),
                  static_cast<long long>(node.op_end_rel_nanos - node.op_start_rel_nanos));
    }
  }
  // [/trace]
  EXPECT_TRUE(traced.ok()) << traced.status();
  EXPECT_FALSE(metadata.step_stats->dev_stats.empty());
}

TEST(ExecutorSamples, Cancelling) {
  Graph g;
  Queue queue = Queue::Fifo(g, 10, {DT_FLOAT}, {.shapes = {PartialShape::Scalar()}});
  Output next = queue.Dequeue()[0];
  Session session(g);
  // [timeout]
  absl::StatusOr<Tensors> late = session.Run({}, {next}, {}, {.timeout_ms = 20});
  // [/timeout]
  EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(late.status().ToString(), HasSubstr("fifo_queue"));

  // [cancel]
  CancellationManager cancellation;  // StartCancel() from any thread ends the steps that have it
  cancellation.StartCancel();
  absl::StatusOr<Tensors> given_up = session.Run({}, {next}, {}, {.cancellation = &cancellation});
  // [/cancel]
  EXPECT_EQ(given_up.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace sluice
