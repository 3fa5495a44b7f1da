// A warm training step allocates nothing from the heap: all its memory is in the step and in the
// pool. The test counts `new`, tensors on the heap, and memory that the pool gets from the system.
// The step also takes no locks: variables are claimed (executor/wait/claim.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "demos/models/model.h"
#include "executor/device/pool_allocator.h"
#include "executor/testing/allocations.h"
#include "executor/testing/locks.h"

namespace sluice::demos {
namespace {

int64_t AllAllocations() {
  return testing::Allocations() + Heap().allocations() +
         PoolAllocator::Global().SystemAllocations();
}

// The same model with the caller's optimizer.
template <typename Optimizer>
absl::StatusOr<Model> MlpWith(Graph& g, Optimizer optimizer) {
  SLUICE_ASSIGN_OR_RETURN(Model model, Mlp(g));
  NameScope scope(g, "other");
  model.train = optimizer.Minimize(model.losses[0]);
  return model;
}

const std::vector<ModelKind>& Kinds() {
  static const auto& kinds = *[] {
    auto* all = new std::vector<ModelKind>(ModelKinds());
    all->push_back({"mlp_sgd", "",
                    [](Graph& g) { return MlpWith(g, GradientDescent({.learning_rate = 0.1f})); }});
    all->push_back(
        {"mlp_adam", "", [](Graph& g) { return MlpWith(g, Adam({.learning_rate = 0.001f})); }});
    return all;
  }();
  return kinds;
}

class WarmStepsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(WarmStepsTest, TakeNothingFromTheHeapAndNoLock) {
  const auto kind = std::find_if(Kinds().begin(), Kinds().end(),
                                 [](const ModelKind& k) { return k.name == GetParam(); });
  ASSERT_NE(kind, Kinds().end());
  Graph graph;
  const absl::StatusOr<Model> model = kind->build(graph);
  ASSERT_TRUE(model.ok()) << model.status();
  const Operation init = InitializeVariables(graph);
  // One thread, because the content of another thread's cache depends on the interleaving.
  Session session(graph, {.intra_op_threads = 1, .inter_op_threads = 1});
  ASSERT_TRUE(session.Run({init}).ok());
  OutputList feeds;
  Tensors values;
  for (const Feed& feed : model->batch(0)) {
    feeds.push_back(feed.tensor);
    values.push_back(feed.value);
  }
  absl::StatusOr<Callable> step = session.MakeCallable(feeds, model->losses, {model->train});
  ASSERT_TRUE(step.ok()) << step.status();
  Tensors losses;
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(step->RunInto(values, &losses).ok());
  ASSERT_GT(testing::Allocations(), 0) << "they are not counted";
  const int64_t before = AllAllocations(), locks_before = testing::Locks();
  ASSERT_GT(locks_before, 0) << "they are not counted";
  constexpr int kSteps = 3;
  for (int i = 0; i < kSteps; ++i) ASSERT_TRUE(step->RunInto(values, &losses).ok());
  EXPECT_EQ(AllAllocations() - before, 0);
  EXPECT_EQ(testing::Locks() - locks_before, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, WarmStepsTest,
                         ::testing::Values("softmax_regression", "mlp", "mlp_sgd", "mlp_adam",
                                           "lenet", "resnet20", "inception", "char_lstm_static",
                                           "transformer", "word2vec_nce", "matrix_factorisation",
                                           "wide_and_deep", "vae", "dcgan"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sluice::demos
