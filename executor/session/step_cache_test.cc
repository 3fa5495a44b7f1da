#include "executor/session/step_cache.h"

#include <thread>

#include "executor/testing/test_ops.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

class FakeStep final : public PreparedStep {
 public:
  FakeStep() : PreparedStep({}, 0) {}
  absl::Status Run(const StepCall&) override { return absl::OkStatus(); }
  void CancelRuns(const absl::Status&) override {}
};

class StepCacheTest : public ::testing::Test {
 protected:
  StepCacheTest() {
    for (int i = 0; i < 100; ++i) outputs_.push_back(testing::Const(g_, 0));
  }
  StepRequest Fetch(size_t i) const {
    StepRequest request;
    request.fetches = absl::MakeConstSpan(&outputs_[i], 1);
    return request;
  }
  PreparedStep* Insert(const StepRequest& request) {
    return cache_.Insert(request, std::make_unique<FakeStep>());
  }

  Graph g_;
  OutputList outputs_;
  StepCache cache_;
};

TEST_F(StepCacheTest, FindsEveryStepAfterTheTableHasGrown) {
  std::vector<PreparedStep*> steps;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    EXPECT_EQ(cache_.Find(Fetch(i)), nullptr);
    steps.push_back(Insert(Fetch(i)));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) EXPECT_EQ(cache_.Find(Fetch(i)), steps[i]);
  size_t count = 0;
  cache_.ForEach([&](PreparedStep&) { ++count; });
  EXPECT_EQ(count, outputs_.size());
}

TEST_F(StepCacheTest, ATensorThatIsFedFetchedOrATargetIsAnotherRequest) {
  StepRequest fed, target, partial = Fetch(0);
  fed.first_feed = outputs_.data();
  fed.num_feeds = 1;
  const Operation operation = outputs_[0];
  target.targets = absl::MakeConstSpan(&operation, 1);
  partial.is_partial = true;
  PreparedStep* const of_fetch = Insert(Fetch(0));
  PreparedStep* const of_feed = Insert(fed);
  PreparedStep* const of_target = Insert(target);
  PreparedStep* const of_partial = Insert(partial);
  EXPECT_EQ(cache_.Find(Fetch(0)), of_fetch);
  EXPECT_EQ(cache_.Find(fed), of_feed);
  EXPECT_EQ(cache_.Find(target), of_target);
  EXPECT_EQ(cache_.Find(partial), of_partial);
}

TEST_F(StepCacheTest, TheOrderOfFetchesMatters) {
  StepRequest forward, backward;
  const OutputList reversed = {outputs_[1], outputs_[0]};
  forward.fetches = absl::MakeConstSpan(outputs_).first(2);
  backward.fetches = reversed;
  Insert(forward);
  EXPECT_EQ(cache_.Find(backward), nullptr);
}

TEST_F(StepCacheTest, ReadersNeedNoLock) {
  std::atomic<bool> all_in{false};
  std::thread reader([&] {
    while (!all_in) {
      for (size_t i = 0; i < outputs_.size(); ++i) cache_.Find(Fetch(i));
    }
  });
  for (size_t i = 0; i < outputs_.size(); ++i) Insert(Fetch(i));
  all_in = true;
  reader.join();
  EXPECT_NE(cache_.Find(Fetch(99)), nullptr);
}

}  // namespace
}  // namespace sluice
