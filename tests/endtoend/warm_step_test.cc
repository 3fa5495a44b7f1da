// A warm training step allocates no tensor memory from the system: all of it comes from the pool.
#include "executor/device/pool_allocator.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

constexpr int64_t kBatch = 32;
constexpr int kWarmUpSteps = 5;
constexpr int kSteps = 100;

Output Layer(Graph& g, Output x, int64_t units, std::string_view name, bool use_resource) {
  NameScope scope(g, name);
  Variable w(g, "w", {x.shape().dim(1), units}, GlorotUniform(1), {.use_resource = use_resource});
  Variable b(g, "b", {units}, Zeros(), {.use_resource = use_resource});
  return BiasAdd(MatMul(x, w), b);
}

class WarmStepTest : public ::testing::TestWithParam<bool> {};

TEST_P(WarmStepTest, StepsOfAnMlpAllocateNoTensorMemory) {
  Graph g;
  Output images = Placeholder(g, DT_FLOAT, {kBatch, 64}, "images");
  Output labels = Placeholder(g, DT_INT32, {kBatch}, "labels");
  Output logits =
      Layer(g, Relu(Layer(g, images, 48, "hidden", GetParam())), 10, "logits", GetParam());
  Output loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss);
  Operation train = Adam().Minimize(loss);
  Operation init = InitializeVariables(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  Tensor xs(DT_FLOAT, {kBatch, 64});
  for (int64_t i = 0; i < xs.num_elements(); ++i) xs.data<float>()[i] = static_cast<float>(i % 7);
  Tensor ys(DT_INT32, {kBatch});
  for (int64_t i = 0; i < kBatch; ++i) ys.data<int32_t>()[i] = static_cast<int32_t>(i % 10);

  auto step = [&] {
    absl::StatusOr<Tensors> out = session.Run({{images, xs}, {labels, ys}}, {loss}, {train});
    ASSERT_TRUE(out.ok()) << out.status();
  };
  for (int i = 0; i < kWarmUpSteps; ++i) step();
  const int64_t from_system = PoolAllocator::Global().SystemAllocations();
  const int64_t from_heap = Heap().allocations();
  for (int i = 0; i < kSteps; ++i) step();
  EXPECT_EQ(PoolAllocator::Global().SystemAllocations(), from_system);
  EXPECT_EQ(Heap().allocations(), from_heap);
}

INSTANTIATE_TEST_SUITE_P(RefAndResource, WarmStepTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Resource" : "Ref"; });

}  // namespace
}  // namespace sluice
