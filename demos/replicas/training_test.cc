// Links only //demos/replicas:ops, so it fails if a graph of the demo needs another op.
#include "demos/replicas/training.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>

#include "gtest/gtest.h"

namespace sluice::demos {
namespace {

Dataset Blank(int64_t images) {
  Dataset data{Tensor(DT_FLOAT, {images, 28, 28, 1}), Tensor(DT_INT32, {images})};
  std::fill_n(data.images.data<float>(), data.images.num_elements(), 0.5f);
  for (int64_t i = 0; i < images; ++i)
    data.labels.data<int32_t>()[i] = static_cast<int32_t>(i % 10);
  return data;
}

class TrainingTest : public ::testing::TestWithParam<std::tuple<ModelKind, OptimizerKind, bool>> {
 protected:
  absl::StatusOr<TrainingResult> TrainTo(int64_t steps) {
    TrainingOptions options;
    std::tie(options.model, options.optimizer, options.deterministic) = GetParam();
    options.replicas = 2;
    options.replicas_to_aggregate = options.deterministic ? 2 : 1;
    options.steps = steps;
    options.batch = 4;
    options.checkpoint_dir = folder_;
    options.save_checkpoint_steps = 2;
    options.summary_dir = folder_;
    options.evaluate_every = 1;
    return Train(data_, options);
  }

  const TrainAndTest data_{Blank(20), Blank(10)};
  const std::string folder_ = std::filesystem::path(::testing::TempDir()) / "replicas";
};

TEST_P(TrainingTest, EveryRunHasItsOpsAndGoesOnFromItsCheckpoint) {
  std::filesystem::remove_all(folder_);
  absl::StatusOr<TrainingResult> first = TrainTo(3);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_GE(first->last.step, 3);
  absl::StatusOr<TrainingResult> second = TrainTo(first->last.step + 2);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_GE(second->last.first_step, 3);
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainingTest,
    ::testing::Combine(::testing::Values(ModelKind::kMlp, ModelKind::kCnn),
                       ::testing::Values(OptimizerKind::kSgd, OptimizerKind::kMomentum,
                                         OptimizerKind::kAdam, OptimizerKind::kAdagrad),
                       ::testing::Bool()));

}  // namespace
}  // namespace sluice::demos
