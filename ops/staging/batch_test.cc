// Checks that concurrent steps form one batch, and that each step gets its rows of the result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "executor/session/session.h"
#include "ops/staging/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kHour = int64_t{3600} * 1000000;

// A graph that doubles batches of three rows.
struct Doubling {
  Doubling() {
    x = Placeholder(g, DT_FLOAT, {-1}, "x");
    const BatchOutputs batch = Batch({x}, 1, 3, kHour, kHour);
    batched = batch.batched_tensors[0];
    rows = Unbatch(batched * 2.0f, batch.batch_index, batch.id, kHour);
    gradient = UnbatchGrad(batched, batch.batch_index, rows + 1.0f, batch.id);
  }
  Graph g;
  Output x, batched, rows, gradient;
};

TEST(Batch, JoinsConcurrentStepsAndReturnsToEachItsRows) {
  Doubling d;
  ASSERT_TRUE(d.g.status().ok()) << d.g.status();
  Session session(d.g);
  const OutputList fetches = {d.batched, d.rows, d.gradient};
  // The first step waits for the second one, which completes the batch.
  absl::StatusOr<Tensors> one, two;
  std::thread first([&] { one = session.Run({{d.x, Tensor::Vector<float>({1})}}, fetches); });
  two = session.Run({{d.x, Tensor::Vector<float>({2, 3})}}, fetches);
  first.join();
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ((*one)[1].SummarizeValues(-1), "2");
  EXPECT_EQ((*two)[1].SummarizeValues(-1), "4 6");
  const bool is_in_first = (*one)[0].num_elements() > 0;
  const Tensors &with = is_in_first ? *one : *two, &without = is_in_first ? *two : *one;
  EXPECT_EQ(with[0].SummarizeValues(-1), is_in_first ? "2 3 1" : "1 2 3");
  EXPECT_EQ(with[2].SummarizeValues(-1), is_in_first ? "5 7 3" : "3 5 7");
  EXPECT_EQ(without[0].num_elements(), 0);
  EXPECT_EQ(without[2].num_elements(), 0);
}

TEST(Batch, AStepThatIsCancelledLeavesTheBatch) {
  Doubling d;
  Session session(d.g);
  RunOptions options;
  options.timeout_ms = 50;
  const absl::StatusOr<Tensors> late =
      session.Run({{d.x, Tensor::Vector<float>({1})}}, {d.rows}, {}, options);
  EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded) << late.status();
  const absl::StatusOr<Tensors> full =
      session.Run({{d.x, Tensor::Vector<float>({2, 3, 4})}}, {d.rows});
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ((*full)[0].SummarizeValues(-1), "4 6 8");
}

// The id of a step is an output after its tensors, whose number may differ between two nodes.
TEST(Batch, NodesOfOneNameHaveEquallyManyTensors) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {1}, "x");
  const Output y = Placeholder(g, DT_STRING, {1}, "y");
  const BatchOutputs three = Batch({x, y, y}, 1, 2, kHour, kHour, {.shared_name = "shared"});
  const BatchOutputs one = Batch({x}, 1, 2, kHour, kHour, {.shared_name = "shared"});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const absl::StatusOr<Tensors> result =
      session.Run({{x, Tensor::Vector<float>({1})}, {y, Tensor::Vector<std::string>({"y"})}},
                  {three.batched_tensors[0], one.batched_tensors[0]});
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("as many tensors of each step"));
}

// A node UnbatchGrad whose inputs may have any shapes.
struct Gradients {
  explicit Gradients(Graph& g)
      : batch(Placeholder(g, DT_FLOAT, PartialShape())),
        index(Placeholder(g, DT_INT64, PartialShape())),
        gradient(Placeholder(g, DT_FLOAT, PartialShape())),
        id(Placeholder(g, DT_INT64, PartialShape())),
        joined(UnbatchGrad(batch, index, gradient, id, {.shared_name = "gradients"})) {}
  const Output batch, index, gradient, id, joined;
};

// The gradients of several steps are joined along a dimension that a scalar lacks.
TEST(Batch, AGradientHasAtLeastOneDimension) {
  Graph g;
  const Gradients node(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const absl::StatusOr<Tensors> joined =
      session.Run({{node.batch, Tensor::Vector<float>({1})},
                   {node.index, Tensor::Of<int64_t>({2, 3}, {7, 0, 1, 7, 1, 2})},
                   {node.gradient, Tensor::Scalar(1.0f)},
                   {node.id, Tensor::Scalar<int64_t>(7)}},
                  {node.joined});
  EXPECT_THAT(std::string(joined.status().message()), HasSubstr("at least one dimension"));
}

// A batch whose index names the step of another batch takes that step's gradient. The other batch
// still waits, and a second one of its step must not replace it.
TEST(Batch, AStepHasOneBatchAtATime) {
  Graph g;
  const Gradients node(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const auto run = [&](int64_t id, std::initializer_list<int64_t> index, int64_t timeout_ms) {
    RunOptions options;
    options.timeout_ms = timeout_ms;
    const auto rows = static_cast<int64_t>(index.size()) / 3;
    return session.Run({{node.batch, Tensor::Vector<float>({1})},
                        {node.index, Tensor::Of<int64_t>({rows, 3}, index)},
                        {node.gradient, Tensor::Vector<float>({1})},
                        {node.id, Tensor::Scalar<int64_t>(id)}},
                       {node.joined}, {}, options);
  };
  std::thread waiting([&] { run(7, {7, 0, 1, 9, 1, 2}, 2000).status().IgnoreError(); });
  // Waits until the first batch has stored its gradient, which this one then takes.
  while (!run(8, {7, 0, 1}, 50).ok()) {
  }
  const absl::StatusOr<Tensors> again = run(7, {7, 0, 1}, 0);
  waiting.join();
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("Two runs"));
}

}  // namespace
}  // namespace sluice
