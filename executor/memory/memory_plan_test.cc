#include "executor/memory/memory_plan.h"

#include "executor/passes/prune.h"
#include "executor/plan/assemble.h"
#include "executor/plan/draft.h"
#include "executor/plan/units.h"
#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;

constexpr int64_t kBytes = 100 * 4;  // of the input and of all results

class MemoryPlanTest : public ::testing::Test {
 protected:
  MemoryPlan PlanFor(const OutputList& fetches, const TensorShape& shape = {100}) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    const OutputList feeds = {x_};
    std::shared_ptr<Graph> graph = *Prune(feeds, fetches, {});
    const Draft draft = DraftOf(*graph);
    Plan plan;
    plan.bodies.push_back(AssembleBody(draft.bodies[0], AssignUnits(draft.bodies[0])));
    plan.graph = graph;
    return MemoryOf(plan, {shape});
  }

  Graph g_;
  Output x_ = Placeholder(g_, DT_FLOAT, {-1}, "x");

 private:
  Draft DraftOf(const Graph& graph) {
    kernels_.assign(graph.num_node_ids(), nullptr);
    for (const Node* node : graph.nodes()) {
      if (OpKindOf(*node) != OpKind::kKernel) continue;
      KernelInit init(*node, "", nullptr);
      kernels_[node->id()] = *KernelRegistry::Global().Make(init, "CPU");
    }
    Draft draft = *MakeDraft(graph, kernels_, /*dynamic_loops=*/false);
    EXPECT_TRUE(OrderItems(draft.bodies[0]));
    return draft;
  }
  std::vector<std::shared_ptr<Kernel>> kernels_;
};

TEST_F(MemoryPlanTest, AChainNeedsTheInputAndTheOutputOfANode) {
  Output y = Add(x_, x_, "first");
  for (int i = 0; i < 4; ++i) y = Sub(y, x_);
  const MemoryPlan memory = PlanFor({y});
  EXPECT_EQ(memory.peak_bytes, 2 * kBytes);
  EXPECT_EQ(memory.tensors.size(), 5);
  EXPECT_EQ(memory.num_unknown, 0);
}

TEST_F(MemoryPlanTest, AResultIsAliveUntilItsLastReader) {
  const Output early = Add(x_, x_, "early");
  const Output next = Sub(Sub(early, x_), x_);
  const MemoryPlan memory = PlanFor({Add(next, early, "last")});
  EXPECT_EQ(memory.peak_bytes, 3 * kBytes);
  for (const PlannedTensor& tensor : memory.tensors) {
    if (tensor.node->name() != "early") continue;
    EXPECT_EQ(tensor.computed_at, 0);
    EXPECT_EQ(tensor.released_at, 3);
  }
}

TEST_F(MemoryPlanTest, AFetchedResultIsAliveUntilTheEnd) {
  const Output fetched = Add(x_, x_, "fetched");
  const MemoryPlan memory = PlanFor({fetched, Sub(Sub(fetched, x_), x_)});
  for (const PlannedTensor& tensor : memory.tensors) {
    if (tensor.node->name() != "fetched") continue;
    EXPECT_EQ(tensor.released_at, memory.num_nodes);
  }
  EXPECT_EQ(memory.peak_bytes, 3 * kBytes);
}

TEST_F(MemoryPlanTest, AnIdentitySharesItsInput) {
  const Output y = Identity(Identity(Add(x_, x_)));
  EXPECT_EQ(PlanFor({y}).peak_bytes, kBytes);
}

TEST_F(MemoryPlanTest, SizesFollowTheFeeds) {
  EXPECT_EQ(PlanFor({Add(x_, x_)}, {7}).peak_bytes, 7 * 4);
}

TEST_F(MemoryPlanTest, UnknownSizesAreCountedAndListedLast) {
  const Output known = Add(x_, x_, "known"), unknown = Held(Variable(g_, "v"), "unknown");
  const MemoryPlan memory = PlanFor({Sub(known, x_), unknown});
  EXPECT_EQ(memory.num_unknown, 1);
  EXPECT_EQ(memory.tensors.back().node->name(), "unknown");
  EXPECT_THAT(memory.ToString(), HasSubstr("1 of a size that the step decides"));
}

}  // namespace
}  // namespace sluice
