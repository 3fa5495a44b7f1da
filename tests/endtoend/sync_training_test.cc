// Synchronous replicas give the same result as one replica with the whole batch.
#include "tests/endtoend/sync_training.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

class SyncTrainingTest : public ::testing::TestWithParam<bool> {};

TEST_P(SyncTrainingTest, ReplicasOnPartsEqualOneOnTheWholeBatch) {
  absl::StatusOr<Tensors> alone = TrainAlone(GetParam());
  ASSERT_TRUE(alone.ok()) << alone.status();
  for (int count : {1, 2, 4}) {
    auto replicas = MakeReplicas(count, GetParam());
    ASSERT_TRUE(replicas.ok()) << replicas.status();
    absl::StatusOr<Tensors> together = TrainTogether(*replicas);
    ASSERT_TRUE(together.ok()) << together.status();
    for (size_t v = 0; v < alone->size(); ++v) {
      for (int64_t i = 0; i < (*alone)[v].num_elements(); ++i) {
        // A single replica takes the mean of one gradient, so the bits are equal.
        EXPECT_NEAR((*together)[v].data<float>()[i], (*alone)[v].data<float>()[i],
                    count == 1 ? 0 : 1e-5)
            << count << " replicas, variable " << v << ", element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RefAndResource, SyncTrainingTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Resource" : "Ref"; });

}  // namespace
}  // namespace sluice
