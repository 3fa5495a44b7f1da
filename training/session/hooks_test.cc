#include <limits>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/ops.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "training/session/basic_hooks.h"
#include "training/session/global_step_read.h"
#include "training/session/logging_tensor_hook.h"
#include "training/session/monitored_session.h"
#include "training/testing/session.h"

namespace sluice {
namespace {

using ::sluice::testing::CapturedLog;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Training {
  Training() {
    Variable step = GlobalStep(g);
    train = step.AssignAdd(int64_t{1});
    read = step.Read();
    x = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "x");
    loss = x * 2.0f;
  }
  // Trains until the loop ends. Feeds 1, 2, 3, … Returns the number of steps.
  int Loop(MonitoredSession& session, int most = 1000) {
    int steps = 0;
    while (!session.ShouldStop() && steps < most) {
      const float value = static_cast<float>(steps + 1);
      const auto out = session.Run({{x, Tensor::Scalar(value)}}, {loss}, {train});
      if (!out.ok()) break;
      ++steps;
    }
    return steps;
  }

  CapturedLog log;
  Graph g;
  Operation train;
  Output read, x, loss;
};

TEST(StepTimerTest, EverySoManySteps) {
  StepTimer timer({.steps = 3});
  EXPECT_TRUE(timer.IsDue(5));
  EXPECT_FALSE(timer.Done(5).has_value());
  EXPECT_FALSE(timer.IsDue(5));
  EXPECT_FALSE(timer.IsDue(7));
  EXPECT_TRUE(timer.IsDue(8));
  EXPECT_EQ(timer.Done(9)->steps, 4);
  EXPECT_EQ(timer.last_step(), 9);
  timer.Reset();
  EXPECT_TRUE(timer.IsDue(9));
  StepTimer never({.steps = std::numeric_limits<int64_t>::max()});
  never.Done(5);
  EXPECT_FALSE(never.IsDue(6));
}

TEST(StepTimerTest, EverySoManySeconds) {
  ManualClock clock;
  StepTimer timer({.secs = 2.0}, &clock);
  EXPECT_TRUE(timer.IsDue(0));
  timer.Done(0);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(timer.IsDue(100));
  clock.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(timer.IsDue(0));  // never due twice at one step
  EXPECT_TRUE(timer.IsDue(100));
  EXPECT_EQ(timer.Done(100)->time, std::chrono::seconds(2));
}

TEST(StepTimerTest, OneOfTheTwo) {
  EXPECT_EQ(StepTimer({}).Check().message(),
            "Either every_secs or every_steps should be provided.");
  EXPECT_EQ(StepTimer({.steps = 1, .secs = 1.0}).Check().message(),
            "Can not provide both every_secs and every_steps.");
  EXPECT_TRUE(StepTimer({.steps = 1}).Check().ok());
}

TEST(GlobalStepReadTest, IsMadeOnceUnderTheStepsName) {
  Graph g;
  EXPECT_EQ(GlobalStepRead(g, "X").status(),
            absl::FailedPreconditionError("Global step should be created to use X."));
  NameScope scope(g, "elsewhere");
  GlobalStep(g);
  const auto read = GlobalStepRead(g, "X");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->name(), "global_step/add:0");
  EXPECT_EQ(*GlobalStepRead(g, "Y"), *read);
}

TEST(GlobalStepReadTest, IsAnIntegerScalar) {
  Graph g;
  const Variable floats(g, "floats", PartialShape::Scalar(), Ones());
  g.AddToCollection(kGlobalStep, floats.handle().name());
  EXPECT_EQ(GlobalStepRead(g, "X").status().message(),
            "Existing \"global_step\" does not have integer type: float");
  Graph h;
  const Variable steps(h, "steps", {0}, Zeros(), {.dtype = DT_INT64});
  h.AddToCollection(kGlobalStep, steps.handle().name());
  EXPECT_THAT(GlobalStepRead(h, "X").status().message(), HasSubstr("is not scalar: [0]"));
  // A file may have the collection of the read, and an empty one of the step.
  Graph cached;
  NoOp(cached, {.name = "none"});
  cached.AddToCollection("global_step_read_op_cache", "none");
  EXPECT_THAT(GlobalStepRead(cached, "X").status().message(), HasSubstr("is not a tensor"));
}

TEST(StopAtStepHookTest, StopsAtTheLastStep) {
  Training t;
  MonitoredSession session(t.g, nullptr, {StopAtStep(5)});
  EXPECT_EQ(t.Loop(session), 5);
  EXPECT_TRUE(session.Close().ok());
}

TEST(StopAtStepHookTest, CountsStepsFromTheFirstSession) {
  Training t;
  auto scaffold = std::make_shared<Scaffold>(ScaffoldOptions{
      .init_fn = [&](const Scaffold&, Session& session) { return session.Run({t.train}); }});
  MonitoredSession session(
      t.g, std::make_shared<ChiefSessionCreator>(ChiefSessionCreatorOptions{.scaffold = scaffold}),
      {StopAfterSteps(4)});
  EXPECT_EQ(t.Loop(session), 4);
  const auto out = session.session()->Run({}, {t.read});
  EXPECT_EQ((*out)[0].scalar<int64_t>(), 5);
}

TEST(StopAtStepHookTest, TheLargestNumberOfStepsIsNoLimit) {
  Training t;
  auto scaffold = std::make_shared<Scaffold>(ScaffoldOptions{
      .init_fn = [&](const Scaffold&, Session& session) { return session.Run({t.train}); }});
  MonitoredSession session(
      t.g, std::make_shared<ChiefSessionCreator>(ChiefSessionCreatorOptions{.scaffold = scaffold}),
      {StopAfterSteps(std::numeric_limits<int64_t>::max())});
  EXPECT_EQ(t.Loop(session, 3), 3);
  EXPECT_FALSE(session.ShouldStop());
}

TEST(StopAtStepHookTest, WantsOneOfTheTwo) {
  Training t;
  EXPECT_EQ(StopAtStepHook({}).Begin(t.g).message(),
            "One of num_steps or last_step must be specified.");
  EXPECT_EQ(StopAtStepHook({.num_steps = 1, .last_step = 1}).Begin(t.g).message(),
            "Only one of num_steps or last_step can be specified.");
  Graph empty;
  EXPECT_EQ(StopAtStep(1)->Begin(empty).message(),
            "Global step should be created to use StopAtStepHook.");
}

TEST(NanTensorHookTest, FailsOrStops) {
  Training t;
  const std::vector<Feed> nan = {{t.x, Tensor::Scalar(std::numeric_limits<float>::quiet_NaN())}};
  {
    MonitoredSession session(t.g, nullptr, {StopOnNan(t.loss)});
    ASSERT_TRUE(session.Run({{t.x, Tensor::Scalar(1.0f)}}, {t.loss}).ok());
    EXPECT_EQ(session.Run(nan, {t.loss}).status(),
              absl::InternalError("NaN loss during training."));
  }
  MonitoredSession session(t.g, nullptr, {std::make_shared<NanTensorHook>(t.loss, false)});
  EXPECT_TRUE(session.Run(nan, {t.loss}).ok());
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_THAT(t.log.text(), HasSubstr("Model diverged with loss = NaN."));
}

TEST(NanTensorHookTest, RefusesWhatHasNoNan) {
  Training t;
  MonitoredSession session(t.g, nullptr, {StopOnNan(t.read)});
  EXPECT_THAT(session.Run({t.train}).message(), HasSubstr("floating type, got int64"));
}

TEST(FinalOpsHookTest, FetchesAtTheEnd) {
  Training t;
  auto final_ops = std::make_shared<FinalOpsHook>(std::vector<Output>{t.read, t.loss},
                                                  std::vector<Feed>{{t.x, Tensor::Scalar(4.0f)}});
  MonitoredSession session(t.g, nullptr, {final_ops, StopAtStep(3)});
  t.Loop(session);
  EXPECT_TRUE(final_ops->final_ops_values().empty());
  ASSERT_TRUE(session.Close().ok());
  ASSERT_EQ(final_ops->final_ops_values().size(), 2u);
  EXPECT_EQ(final_ops->final_ops_values()[0].scalar<int64_t>(), 3);
  EXPECT_EQ(final_ops->final_ops_values()[1].scalar<float>(), 8.0f);
}

TEST(FeedFnHookTest, FeedsEachStepAnew) {
  Training t;
  float next = 0;
  auto feed = std::make_shared<FeedFnHook>([&]() -> absl::StatusOr<std::vector<Feed>> {
    if (next == 3) return absl::OutOfRangeError("no more data");
    return std::vector<Feed>{{t.x, Tensor::Scalar(++next)}};
  });
  MonitoredSession session(t.g, nullptr, {feed});
  std::vector<float> losses;
  while (!session.ShouldStop()) {
    if (const auto out = session.Run({}, {t.loss}); out.ok()) {
      losses.push_back((*out)[0].scalar<float>());
    }
  }
  EXPECT_THAT(losses, ElementsAre(2, 4, 6));
  EXPECT_TRUE(session.Close().ok());
}

TEST(GlobalStepWaiterHookTest, HoldsTheFirstStepBack) {
  Training t;
  ManualClock clock;
  auto waiter = std::make_shared<GlobalStepWaiterHook>(2, &clock);
  MonitoredSession session(t.g, nullptr, {waiter});
  std::thread chief([&] {
    for (int i = 0; i < 2; ++i) {
      clock.AwaitWaits(i + 1);
      EXPECT_TRUE(session.session()->Run({t.train}).ok());
      clock.Advance(std::chrono::milliseconds(500));
    }
  });
  ASSERT_TRUE(session.Run({t.train}).ok());
  chief.join();
  const auto out = session.session()->Run({}, {t.read});
  EXPECT_EQ((*out)[0].scalar<int64_t>(), 3);
  ASSERT_TRUE(session.Run({t.train}).ok());  // does not wait again
}

TEST(GlobalStepWaiterHookTest, AStopEndsTheWait) {
  Training t;
  ManualClock clock;
  MonitoredSession session(t.g, nullptr, {std::make_shared<GlobalStepWaiterHook>(2, &clock)});
  std::thread stops([&] {
    clock.AwaitWaiting(1);
    session.coordinator()->RequestStop();
  });
  EXPECT_EQ(session.Run({t.train}).code(), absl::StatusCode::kCancelled);
  stops.join();
}

TEST(LoggingTensorHookTest, PrintsEverySoManySteps) {
  Training t;
  ManualClock clock;
  auto logging = std::make_shared<LoggingTensorHook>(
      TaggedTensors{{"loss", t.loss}, {"again", t.loss}},
      LoggingTensorOptions{.every = {.steps = 2}, .terminal = false, .clock = &clock});
  MonitoredSession session(t.g, nullptr, {logging, StopAtStep(4)});
  t.Loop(session);
  EXPECT_THAT(t.log.text(), HasSubstr("loss = 2, again = 2\n"));
  EXPECT_THAT(t.log.text(), HasSubstr("loss = 6, again = 6 (0.000 sec)\n"));
  EXPECT_THAT(t.log.text(), ::testing::Not(HasSubstr("loss = 4")));
}

TEST(LoggingTensorHookTest, PrintsAtTheEndAsItIsTold) {
  Training t;
  auto logging = std::make_shared<LoggingTensorHook>(
      TaggedTensors{{"step", t.read}},
      LoggingTensorOptions{.at_end = true,
                           .formatter =
                               [](const TaggedValues& values) {
                                 return StrCat("ended at ", values[0].second.scalar<int64_t>());
                               },
                           .terminal = false});
  MonitoredSession session(t.g, nullptr, {logging, StopAtStep(4)});
  t.Loop(session);
  ASSERT_TRUE(session.Close().ok());
  EXPECT_THAT(t.log.text(), HasSubstr("ended at 4\n"));
}

TEST(LoggingTensorHookTest, WantsToKnowWhen) {
  Graph g;
  EXPECT_THAT(
      LoggingTensorHook({}, {}).Begin(g).message(),
      "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.");
  EXPECT_THAT(LoggingTensorHook({}, {.every = {.steps = 1, .secs = 1.0}}).Begin(g).message(),
              HasSubstr("exactly one"));
  EXPECT_THAT(LoggingTensorHook({}, {.every = {.steps = 0}}).Begin(g).message(),
              "invalid every_n_iter=0.");
}

TEST(LoggingTensorHookTest, OnATerminalABarIsRewritten) {
  Training t;
  ManualClock clock;
  ::testing::internal::CaptureStderr();
  {
    auto logging = std::make_shared<LoggingTensorHook>(
        TaggedTensors{{"loss", t.loss}},
        LoggingTensorOptions{
            .every = {.steps = 1}, .last_step = 4, .terminal = true, .clock = &clock});
    auto tick = std::make_shared<FeedFnHook>([&]() -> absl::StatusOr<std::vector<Feed>> {
      clock.Advance(std::chrono::seconds(1));
      return std::vector<Feed>();
    });
    MonitoredSession session(t.g, nullptr, {tick, logging, StopAtStep(4)});
    t.Loop(session);
    EXPECT_TRUE(session.Close().ok());
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kstep "));
  EXPECT_THAT(text, HasSubstr("loss = 8, 1 steps/s"));
  EXPECT_THAT(text, HasSubstr("/4 [###############-----] 75 %  loss = "));
  EXPECT_TRUE(text.ends_with("\n"));
}

}  // namespace
}  // namespace sluice
