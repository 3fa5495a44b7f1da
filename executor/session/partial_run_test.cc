#include "executor/session/partial_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/testing/test_ops.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;

class PartialRunTest : public ::testing::Test {
 protected:
  Graph g_;
  Output x_ = Placeholder(g_, DT_FLOAT, {}, "x");
  Output y_ = Placeholder(g_, DT_FLOAT, {}, "y");
  Output a_ = Add(x_, x_, "a");
  Output b_ = Add(a_, y_, "b");
  Session session_{g_};
};

TEST_F(PartialRunTest, PiecesAreFedAndFetchedOneAfterTheOther) {
  auto run = session_.StartPartialRun({"x", "y"}, {"a:0", "b:0"});
  ASSERT_TRUE(run.ok()) << run.status();
  auto a = (*run)->Run({{"x:0", Tensor::Scalar(3.0f)}}, {"a"});
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ((*a)[0].scalar<float>(), 6);
  EXPECT_FALSE((*run)->has_ended());
  auto b = (*run)->Run({{"y", Tensor::Scalar(1.0f)}}, {"b:0"});
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_EQ((*b)[0].scalar<float>(), 7);
  EXPECT_TRUE((*run)->has_ended());
}

TEST_F(PartialRunTest, WhatWasFedMayBeFetchedAfterTheStepHasEnded) {
  auto run = session_.StartPartialRun({"x", "y"}, {"a:0", "b:0"});
  ASSERT_TRUE((*run)->Run({{"x", Tensor::Scalar(3.0f)}, {"y", Tensor::Scalar(1.0f)}}, {}).ok());
  EXPECT_EQ((*(*run)->Run({}, {"b:0"}))[0].scalar<float>(), 7);
  EXPECT_EQ((*(*run)->Run({}, {"a:0"}))[0].scalar<float>(), 6);
}

TEST_F(PartialRunTest, WhatWaitsForAPlaceholderRunsAfterItsFeed) {
  Logged(Const(g_, 5), "c", {x_});
  auto run = session_.StartPartialRun({"x", "y"}, {"c:0", "b:0"});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(std::string((*run)->Run({}, {"c:0"}).status().message()),
              HasSubstr("can't be computed from the feeds that have been fed so far: x:0"));
  auto first = (*run)->Run({{"x", Tensor::Scalar(3.0f)}}, {"c:0"});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)[0].scalar<float>(), 5);
  EXPECT_EQ((*(*run)->Run({{"y", Tensor::Scalar(1.0f)}}, {"b:0"}))[0].scalar<float>(), 7);
}

TEST_F(PartialRunTest, AFedNodeRunsForItsControlEdgesWhenItsInputsAreFed) {
  Logged(Const(g_, 5), "c", {a_});
  auto run = session_.StartPartialRun({"x", "a"}, {"c:0"});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(std::string((*run)->Run({{"a", Tensor::Scalar(1.0f)}}, {"c:0"}).status().message()),
              HasSubstr("can't be computed from the feeds that have been fed so far: x:0"));
  auto out = (*run)->Run({{"a", Tensor::Scalar(1.0f)}, {"x", Tensor::Scalar(3.0f)}}, {"c:0"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 5);
}

TEST_F(PartialRunTest, PiecesThatDoNotFitSayWhyAndLeaveTheStepGoing) {
  auto run = session_.StartPartialRun({"x", "y"}, {"a:0", "b:0"});
  const auto message = [&](absl::Span<const NamedFeed> feeds,
                           absl::Span<const std::string> fetches) {
    return std::string((*run)->Run(feeds, fetches).status().message());
  };
  EXPECT_EQ(message({{"z:0", Tensor::Scalar(0.0f)}}, {}),
            "The feed z:0 was not specified in partial_run_setup.");
  EXPECT_EQ(message({}, {"c:0"}), "The fetch c:0 was not specified in partial_run_setup.");
  EXPECT_THAT(message({{"x:0", Tensor::Scalar(3.0f)}}, {"b:0"}),
              HasSubstr("Fetch b:0 can't be computed from the feeds that have been fed so far"));
  EXPECT_EQ(message({{"x:0", Tensor::Scalar(3.0f)}}, {"a:0"}), "");
  EXPECT_EQ(message({{"x:0", Tensor::Scalar(3.0f)}}, {}), "The feed x:0 has already been fed.");
  EXPECT_EQ(message({}, {"a:0"}), "The fetch a:0 has already been fetched.");
  EXPECT_EQ(message({{"y:0", Tensor::Scalar(1.0f)}}, {"b:0"}), "");
  EXPECT_EQ(message({}, {}), "Must run 'setup' before performing partial runs!");
}

TEST_F(PartialRunTest, AnErrorEndsTheStepAndIsTheOneThatIsReported) {
  const Output bad = Fail(b_, "bad");
  auto run = session_.StartPartialRun({"x", "y"}, {"a:0", bad.name()});
  ASSERT_TRUE((*run)->Run({{"x", Tensor::Scalar(3.0f)}}, {"a:0"}).ok());
  auto failed = (*run)->Run({{"y", Tensor::Scalar(1.0f)}}, {bad.name()});
  EXPECT_THAT(failed.status().message(), HasSubstr("boom"));
  EXPECT_TRUE((*run)->has_ended());
}

TEST_F(PartialRunTest, ClosingTheSessionEndsIt) {
  const Output waits = Wait(a_, "waits");
  auto run = session_.StartPartialRun({"x"}, {waits.name()});
  std::thread closer([&] {
    Events::Get().AwaitWaiting("waits", 1);
    session_.Close().IgnoreError();
  });
  auto ended = (*run)->Run({{"x", Tensor::Scalar(3.0f)}}, {waits.name()});
  closer.join();
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kCancelled);
}

TEST_F(PartialRunTest, CancellingOnePieceEndsTheStep) {
  const Output waits = Wait(a_, "waits");
  auto run = session_.StartPartialRun({"x"}, {waits.name()});
  CancellationManager cancellation;
  std::thread canceller([&] {
    Events::Get().AwaitWaiting("waits", 1);
    cancellation.StartCancel();
  });
  auto ended = (*run)->Run({{"x", Tensor::Scalar(3.0f)}}, {waits.name()}, &cancellation);
  canceller.join();
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE((*run)->has_ended());
}

TEST_F(PartialRunTest, OneThatIsGivenUpIsCancelled) {
  auto run = session_.StartPartialRun({"x"}, {"a:0"});
  run->reset();  // must return although the step waits for its feed
}

}  // namespace
}  // namespace sluice
