// If memory runs out, the error lists nodes, bytes and lifetimes. The peak of a step is known
// before it runs.
#include "executor/session/step_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kFloat = 4;

// out = (x * a) * b with matmuls: two results, of which the first is released after the second.
struct Products {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1, 100}, "x");
  Output a = Placeholder(g, DT_FLOAT, {100, 300}, "a");
  Output b = Placeholder(g, DT_FLOAT, {300, 20}, "b");
  Output wide = MatMul(x, a, {.name = "wide"});
  Output narrow = MatMul(wide, b, {.name = "narrow"});
  Output out = MatMul(Transpose(narrow, {1, 0}), narrow, {.name = "out"});
  std::vector<std::pair<Output, TensorShape>> feeds = {
      {x, {64, 100}}, {a, {100, 300}}, {b, {300, 20}}};
};

TEST(MemoryPlan, Row39ThePeakIsKnownBeforeTheFirstStep) {
  Products p;
  const absl::StatusOr<MemoryPlan> memory = MemoryOf(p.g, {}, p.feeds, {p.out});
  ASSERT_TRUE(memory.ok()) << memory.status();
  // `wide` is alive while `narrow` is computed.
  EXPECT_EQ(memory->peak_bytes, (64 * 300 + 64 * 20) * kFloat);
  EXPECT_EQ(memory->peak_node, "narrow");
  EXPECT_EQ(memory->num_unknown, 0);
  ASSERT_GE(memory->tensors.size(), 3u);
  EXPECT_EQ(memory->tensors[0].node->name(), "wide");
  EXPECT_EQ(memory->tensors[0].bytes, 64 * 300 * kFloat);
  EXPECT_EQ(memory->tensors[0].released_at, memory->peak_at);
  for (size_t i = 1; i < memory->tensors.size(); ++i) {
    EXPECT_LE(memory->tensors[i].bytes, memory->tensors[i - 1].bytes);
  }
  EXPECT_THAT(memory->ToString(), HasSubstr("planned memory: 80 KB at 'narrow'"));
}

TEST(MemoryPlan, ResultsThatTakeOverABufferAreCountedOnce) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {1000}, "x");
  Output y = Exp(x);
  for (int i = 0; i < 5; ++i)
    y = ReverseV2(Tanh(Neg(y)), Constant(g, Tensor::Vector<int32_t>({0})));
  for (const bool fuse : {true, false}) {
    const SessionOptions options = fuse ? SessionOptions() : Without({"fuse_elementwise"});
    const absl::StatusOr<MemoryPlan> memory = MemoryOf(g, options, {{{x, {1000}}}}, {y});
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->peak_bytes, 2 * 1000 * kFloat) << fuse;
  }
}

TEST(MemoryPlan, BiasesAreAddedWhereTheirSumsAreRead) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {10, 100}, "x");
  const Output a = Placeholder(g, DT_FLOAT, {100}, "a"), b = Placeholder(g, DT_FLOAT, {100}, "b");
  const Output y = Tanh(BiasAdd(x, a)) * Exp(x * b);
  const std::vector<std::pair<Output, TensorShape>> feeds = {
      {x, {10, 100}}, {a, {100}}, {b, {100}}};
  for (const bool fuse : {true, false}) {
    const SessionOptions options = fuse ? SessionOptions() : Without({"fuse_elementwise"});
    const absl::StatusOr<MemoryPlan> memory = MemoryOf(g, options, feeds, {y});
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->peak_bytes, (fuse ? 1 : 2) * 1000 * kFloat);
  }
}

// A layer norm and the softmax of masked scores store no full-size tensor except their result and
// inputs with other readers.
TEST(MemoryPlan, RowsAreMadeWhereTheirElementsAre) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {10, 20, 100}, "x");
  const Output gamma = Placeholder(g, DT_FLOAT, {100}, "gamma");
  const Output mean = ReduceMean(x, {-1}, {.keep_dims = true});
  const Output variance = ReduceMean(SquaredDifference(x, mean), {-1}, {.keep_dims = true});
  const Output scale = Rsqrt(variance + 1e-5f) * gamma;
  const Output norm = x * scale + (0.5f - mean * scale);
  const auto gradients = Gradients({norm}, {x});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const Output mask = Placeholder(g, DT_FLOAT, {20, 100}, "mask");
  const Output scores = Softmax(x * 0.125f + mask);
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::vector<std::pair<Output, TensorShape>> feeds = {
      {x, {10, 20, 100}}, {gamma, {100}}, {mask, {20, 100}}};
  for (const bool fuse : {true, false}) {
    const SessionOptions options = fuse ? SessionOptions() : Without({"fuse_elementwise"});
    const auto large_of = [&](Output out) {
      const absl::StatusOr<MemoryPlan> memory = MemoryOf(g, options, feeds, {out});
      EXPECT_TRUE(memory.ok()) << memory.status();
      return std::count_if(memory->tensors.begin(), memory->tensors.end(),
                           [](const auto& tensor) { return tensor.bytes == 20'000 * kFloat; });
    };
    EXPECT_EQ(large_of(norm), fuse ? 1 : 3);
    EXPECT_EQ(large_of(scores), fuse ? 1 : 2);
    EXPECT_EQ(large_of((*gradients)[0].dense()), fuse ? 1 : 11);
  }
}

// Two cheap nodes that read one tensor are recomputed in the groups of both readers.
TEST(MemoryPlan, WhatIsCheapIsNotKept) {
  Graph g;
  const Output feed = Placeholder(g, DT_FLOAT, {1000}, "feed");
  const Output axis = Constant(g, Tensor::Vector<int32_t>({0}));
  const Output x = ReverseV2(feed, axis), half = x * 0.5f, square = x * x;
  const Output first = ReverseV2(Tanh(half) * square, axis);
  const Output second = Exp(square) + half * first;
  for (const bool fuse : {true, false}) {
    const SessionOptions options = fuse ? SessionOptions() : Without({"fuse_elementwise"});
    const absl::StatusOr<MemoryPlan> memory = MemoryOf(g, options, {{{feed, {1000}}}}, {second});
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_EQ(memory->peak_bytes, (fuse ? 3 : 4) * 1000 * kFloat);
  }
}

// A result that is smaller than its input is stored instead of the input.
TEST(MemoryPlan, MasksAreKept) {
  Graph g;
  const Output feed = Placeholder(g, DT_FLOAT, {1000}, "feed");
  const Output axis = Constant(g, Tensor::Vector<int32_t>({0}));
  const Output x = ReverseV2(feed, axis), mask = Less(x, Constant(g, 0.5f));
  const Output out = LogicalAnd(ReverseV2(LogicalNot(mask), axis), mask);
  const absl::StatusOr<MemoryPlan> memory = MemoryOf(g, {}, {{{feed, {1000}}}}, {out});
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->peak_bytes, 1000 * (kFloat + 1));
}

// The error listed block sizes, but not the nodes that used the memory (#17092).
TEST(MemoryPlan, Row39RunningOutOfMemoryIsToldByNodes) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 1000}, "x");
  const Output small = MatMul(x, Constant(g, Tensor(DT_FLOAT, {1000, 50})), {.name = "small"});
  const Output dims = Placeholder(g, DT_INT32, {2}, "dims");
  const Output large = Fill(dims, Constant(g, 1.0f), {.name = "large"});
  const Output out = ReduceSum(large) + ReduceSum(small);
  Session session(g);
  const Tensor rows(DT_FLOAT, {30, 1000});
  const Tensor huge = Tensor::Vector<int32_t>({1 << 30, 1 << 20});
  const absl::Status status = session.Run({{x, rows}, {dims, huge}}, {out}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  const std::string text(status.message());
  EXPECT_THAT(text, HasSubstr("OOM when allocating tensor with shape"));
  EXPECT_THAT(text, HasSubstr("{{node large}}"));
  EXPECT_THAT(text, HasSubstr("planned memory: "));
  EXPECT_THAT(text, HasSubstr("1 of a size that the step decides"));
  EXPECT_LT(text.find("small:0 (MatMul)"), text.find("large:0 (Fill)"));
  EXPECT_THAT(text, HasSubstr("6000 B"));
}

}  // namespace
}  // namespace sluice
