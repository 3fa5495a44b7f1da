// The code in docs/troubleshooting.md.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "executor/session/step_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(TroubleshootingSamples, AStepThatHangs) {
  Graph g;
  Queue queue = Queue::Fifo(g, 10, {DT_FLOAT}, {.shapes = {PartialShape::Scalar()}});
  Output batch = queue.Dequeue()[0];
  std::string warning;
  // [hang]
  Session session(g, {.operation_timeout_ms = 200,  // of each step
                      .warn = [&warning](const std::string& text) { warning = text; },
                      .stall_warning_ms = 50});
  absl::StatusOr<Tensors> out = session.Run({}, {batch}, {});
  // [/hang]
  EXPECT_EQ(out.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(out.status().message(), HasSubstr("fifo_queue': 0 of 10 elements"));
  EXPECT_THAT(warning, HasSubstr("fifo_queue': 0 of 10 elements"));
}

TEST(TroubleshootingSamples, TheLedger) {
  Graph g;
  Variable step = GlobalStep(g);
  Variable w(g, "w", 5.0f);
  SyncReplicasOptimizer optimizer(GradientDescent({.learning_rate = 0.1f}),
                                  {.replicas_to_aggregate = 1, .replica_id = 0});
  Operation train = optimizer.Minimize(Square(w - 2.0f), {.global_step = &step});
  std::string text;
  // [ledger]
  auto sync = optimizer.MakeSessionRunHook(
      /*is_chief=*/true, /*num_tokens=*/-1, [&text](const std::string& ledger) { text = ledger; });
  optimizer.AddSummaries();  // the same for TensorBoard
  // [/ledger]
  MonitoredSession session(g, nullptr, {sync, StopAtStep(3)});
  while (!session.ShouldStop()) ASSERT_TRUE(session.Run({train}).ok());
  ASSERT_TRUE(session.Close().ok());
  EXPECT_THAT(text, HasSubstr("gradients applied, "));
}

TEST(TroubleshootingSamples, Traces) {
  const std::string folder = ::testing::TempDir();
  Graph g;
  Variable step = GlobalStep(g);
  Variable w(g, "w", 5.0f);
  Operation train =
      GradientDescent({.learning_rate = 0.1f}).Minimize(Square(w - 2.0f), {.global_step = &step});
  // [trace]
  auto profile =
      std::make_shared<ProfilerHook>(ProfilerOptions{.every = {.steps = 10}, .output_dir = folder});
  MonitoredTrainingSession session(g, {.hooks = {StopAtStep(20), profile}});
  // [/trace]
  while (!session.ShouldStop()) ASSERT_TRUE(session.Run({train}).ok());
  ASSERT_TRUE(session.Close().ok());
  bool found = false;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    found = found || file.path().filename().string().starts_with("timeline-");
  }
  EXPECT_TRUE(found);
}

TEST(TroubleshootingSamples, Lint) {
  Graph g;
  Variable table(g, "table", {1000, 4}, Zeros());
  Output ids = Placeholder(g, DT_INT64, {-1}, "ids");
  Output loss = ReduceSum(Square(Gather(table, ids))) + ReduceSum(Square(table.Read()));
  Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
  std::string text;
  // [lint]
  for (const LintWarning& warning : Lint({.targets = {train}})) text += warning.text + "\n";
  // [/lint]
  EXPECT_THAT(text, HasSubstr("makes a dense tensor float[1000,4], 16000 bytes"));
}

TEST(TroubleshootingSamples, Passes) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  Output y = Tanh(x * 2.0f);
  // [passes]
  Session plain(g, {.disabled_passes = {"all"}});
  // [/passes]
  EXPECT_TRUE(plain.Run({{x, Tensor::Vector<float>({1, 2})}}, {y}, {}).ok());
}

TEST(TroubleshootingSamples, Memory) {
  Graph g;
  Output images = Placeholder(g, DT_FLOAT, {-1, 784}, "images");
  Variable w(g, "w", {784, 100}, Zeros());
  Output loss = ReduceSum(Relu(MatMul(images, w)));
  Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
  // [memory]
  absl::StatusOr<MemoryPlan> memory =
      MemoryOf(g, SessionOptions(), {{{images, {64, 784}}}}, {loss}, {train});
  ASSERT_TRUE(memory.ok()) << memory.status();
  std::printf("%s\n", memory->ToString(/*rows=*/5).c_str());
  // [/memory]
  EXPECT_GT(memory->peak_bytes, 64 * 100 * 4);
}

TEST(TroubleshootingSamples, NaN) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  Output loss = ReduceSum(Log(x, {.name = "log"}));
  Session session(g);
  const std::vector<Feed> feeds = {{x, Tensor::Vector<float>({-1, 2})}};
  // [nan]
  absl::StatusOr<Tensors> out = session.Run(feeds, {loss}, {}, {.check_numerics = true});
  // [/nan]
  EXPECT_THAT(out.status().message(),
              HasSubstr("Log node 'log': expected finite numbers, got 1 NaN of 2 in output 0"));
}

TEST(TroubleshootingSamples, Seeds) {
  // [seed]
  Graph g;
  g.SetRandomSeed(7);  // before the first random op
  Output x = RandomNormal(g, {3}, 0, 1);
  // [/seed]
  Session one(g), two(g);
  EXPECT_EQ((*one.Run({}, {x}, {}))[0].SummarizeValues(3),
            (*two.Run({}, {x}, {}))[0].SummarizeValues(3));
}

}  // namespace
}  // namespace sluice
