// Tests the scheduling of units, errors, cancellation, and the frames of dynamic loops. No test
// waits for a time to pass, except the test of the warning that a step waits for long.
#include "executor/step/step.h"

#include <functional>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "executor/compiler/compile.h"
#include "executor/device/pool_allocator.h"
#include "executor/passes/prune.h"
#include "executor/step/continuations.h"
#include "executor/testing/test_ops.h"
#include "executor/wait/stalls.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Records the calls, and lets a test wait until the step is blocked.
class Recorder final : public StepScheduler {
 public:
  void Blocked(int64_t) override {
    ScopedLock lock(&mutex_);
    calls_.push_back("blocked");
    ++blocked_;
    changed_.NotifyAll();
  }
  void Ready(int64_t) override {
    ScopedLock lock(&mutex_);
    calls_.push_back("ready");
  }
  void Resume(int64_t) override {
    ScopedLock lock(&mutex_);
    calls_.push_back("resume");
  }
  void AwaitBlocked(int times) {
    ScopedLock lock(&mutex_);
    while (blocked_ < times) changed_.Wait(&mutex_);
  }
  std::vector<std::string> calls() {
    ScopedLock lock(&mutex_);
    return calls_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int blocked_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
};

class StepTest : public ::testing::Test {
 protected:
  StepTest() {
    environment_.allocator = &PoolAllocator::Global();
    environment_.resources = {&resources_};
  }
  ~StepTest() override {
    ClearHooks();
    Events::Get().Reset();
  }

  Step& MakeStep(const OutputList& fetches, bool dynamic_loops = false) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    absl::StatusOr<std::unique_ptr<Graph>> graph = Prune({}, fetches, {});
    EXPECT_TRUE(graph.ok()) << graph.status();
    CompileOptions options;
    options.kernel = [this](const Node& node) {
      KernelInit init(node, "", &resources_);
      return KernelRegistry::Global().Make(init, "CPU");
    };
    options.device = device_;
    options.dynamic_loops = dynamic_loops;
    absl::StatusOr<std::shared_ptr<const Plan>> plan = CompilePlan(*std::move(graph), options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    step_ = std::make_unique<Step>(*std::move(plan), environment_);
    return *step_;
  }
  float Fetched(int i = 0) { return step_->fetch(i).scalar<float>(); }

  Graph g_;
  ResourceManager resources_;
  StepEnvironment environment_;
  std::unique_ptr<Step> step_;
  std::function<int(const Node&)> device_;  // all nodes are on device 0 if it is empty
};

// --- threads

TEST_F(StepTest, WithoutAPoolTheCallerRunsTheUnitsThatAnAnswerMakesReady) {
  Step& step = MakeStep({Hooked(Wait(Const(g_, 3), "event"), "after")});
  std::thread::id ran_on;
  SetHook("after", [&] { ran_on = std::this_thread::get_id(); });
  std::thread answers([] {
    Events::Get().AwaitWaiting("event", 1);
    Events::Get().Fire("event");
  });
  EXPECT_TRUE(step.Run({}).ok());
  answers.join();
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_EQ(Fetched(), 3);
}

TEST_F(StepTest, APoolRunsReadyUnitsWhileTheCallerIsBusy) {
  ThreadPool pool("pool", 1);
  environment_.inter_op = &pool;
  const Output first = Hooked(Wait(Const(g_, 1), "one"), "first");
  const Output second = Hooked(Wait(Const(g_, 2), "two"), "second");
  Step& step = MakeStep({Add(first, second)});
  absl::Notification caller_is_busy, second_ran;
  SetHook("first", [&] {
    caller_is_busy.Notify();
    second_ran.WaitForNotification();
  });
  SetHook("second", [&] { second_ran.Notify(); });
  std::thread answers([&] {
    Events::Get().AwaitWaiting("one", 1);
    Events::Get().Fire("one");
    caller_is_busy.WaitForNotification();
    Events::Get().Fire("two");
  });
  EXPECT_TRUE(step.Run({}).ok());
  answers.join();
  EXPECT_EQ(Fetched(), 3);
}

TEST_F(StepTest, TheThreadOfAnAnswerRunsTheUnitsAfterItInAContinuationScope) {
  const Output first = Hooked(Wait(Const(g_, 1), "one"), "first");
  const Output second = Hooked(Wait(Const(g_, 2), "two"), "second");
  Step& step = MakeStep({Add(first, second)});
  absl::Notification caller_is_busy, second_ran;
  SetHook("first", [&] {
    caller_is_busy.Notify();
    second_ran.WaitForNotification();
  });
  std::thread::id ran_on;
  SetHook("second", [&] {
    ran_on = std::this_thread::get_id();
    second_ran.Notify();
  });
  std::thread answers([&] {
    Events::Get().AwaitWaiting("one", 1);
    Events::Get().Fire("one");
    caller_is_busy.WaitForNotification();
    ContinuationScope scope;
    Events::Get().Fire("two");
  });
  const std::thread::id answering = answers.get_id();
  EXPECT_TRUE(step.Run({}).ok());
  answers.join();
  EXPECT_EQ(ran_on, answering);
}

TEST_F(StepTest, ASchedulerDecidesWhenABlockedStepGoesOn) {
  Recorder scheduler;
  environment_.scheduler = &scheduler;
  Step& step = MakeStep({Wait(Const(g_, 3), "event")});
  std::thread answers([&] {
    scheduler.AwaitBlocked(1);
    Events::Get().Fire("event");
  });
  EXPECT_TRUE(step.Run({}).ok());
  answers.join();
  EXPECT_THAT(scheduler.calls(), ElementsAre("blocked", "ready", "resume"));
}

TEST_F(StepTest, ALongWaitIsReportedOnce) {
  Stalls stalls;
  const Stalls::Entry entry = stalls.Open({.step_id = 7,
                                           .node = "queue_get",
                                           .op = "QueueGet",
                                           .resource = "queue 'q'",
                                           .describe = [] { return std::string("0 elements"); }});
  environment_.stalls = &stalls;
  environment_.stall_warning = std::chrono::milliseconds(1);
  std::vector<std::string> warnings;
  environment_.warn = [&](const std::string& text) {
    warnings.push_back(text);
    Events::Get().Fire("event");
  };
  EXPECT_TRUE(MakeStep({Wait(Const(g_, 3), "event")}).Run({.step_id = 7}).ok());
  stalls.Close(entry);
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_THAT(warnings[0], HasSubstr("step 7 waits: 'queue_get' (QueueGet) has waited"));
}

// --- errors

TEST_F(StepTest, AnErrorNamesTheNodeAndEndsBlockedKernels) {
  const Output fails = Fail(Const(g_, 1), "bad");
  const absl::Status status = MakeStep({Wait(Const(g_, 2), "never"), fails}).Run({});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("boom"));
  EXPECT_THAT(status.message(), HasSubstr("bad"));
  EXPECT_EQ(Events::Get().waiting("never"), 0);
}

// Both nodes wait, so both start. Then both answer with an error, as two closed queues do.
std::string ErrorOfTwoThatFail(Step& step, const std::string& first, const std::string& second) {
  std::thread answers([&] {
    Events::Get().AwaitWaiting("one", 1);
    Events::Get().AwaitWaiting("two", 1);
    Events::Get().FailTogether(
        {{"one", absl::OutOfRangeError(first)}, {"two", absl::OutOfRangeError(second)}});
  });
  const absl::Status status = step.Run({});
  answers.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  return std::string(status.message());
}

TEST_F(StepTest, OfEachDeviceTheFirstErrorIsReported) {
  environment_.resources = {&resources_, &resources_};
  const Output one = Wait(Const(g_, 1), "one");
  const Output two = Wait(Const(g_, 2), "two");
  device_ = [&](const Node& node) { return node.name() == two.node->name() ? 1 : 0; };
  Step& step = MakeStep({one, two, Wait(Const(g_, 3), "never")});
  const std::string error = ErrorOfTwoThatFail(step, "closed", "empty");
  EXPECT_THAT(error, StartsWith("2 root error(s) found.\n  (0) OUT_OF_RANGE: empty"));
  EXPECT_THAT(error, HasSubstr("\n  (1) OUT_OF_RANGE: closed"));
  EXPECT_THAT(error, EndsWith("\n1 derived errors ignored."));
  EXPECT_EQ(Events::Get().waiting("never"), 0);
}

TEST_F(StepTest, OfOneDeviceOneErrorIsReported) {
  Step& step = MakeStep({Wait(Const(g_, 1), "one"), Wait(Const(g_, 2), "two")});
  const std::string error = ErrorOfTwoThatFail(step, "closed", "empty");
  EXPECT_THAT(error, AnyOf(StartsWith("closed"), StartsWith("empty")));
}

TEST_F(StepTest, ErrorsAfterACancelAreItsConsequences) {
  Step& step = MakeStep({Const(g_, 1)});
  step.Cancel(absl::DataLossError("first"));
  step.Cancel(absl::InternalError("second"));
  step.Cancel(absl::CancelledError("a consequence"));
  EXPECT_EQ(step.Run({}), absl::DataLossError("first"));
}

TEST_F(StepTest, ACancelBetweenRunsEndsTheNextRunUnlessItIsForgotten) {
  Step& step = MakeStep({Hooked(Const(g_, 1), "hook")});
  step.Cancel(absl::CancelledError("closed"));
  EXPECT_EQ(step.Run({}), absl::CancelledError("closed"));
  EXPECT_TRUE(step.Run({}).ok());
  step.Cancel(absl::CancelledError("late"));
  step.ForgetCancellation();
  EXPECT_TRUE(step.Run({}).ok());
}

TEST_F(StepTest, TheDeadlineEndsABlockedStep) {
  Step& step = MakeStep({Wait(Const(g_, 1), "event")});
  const absl::Status status = step.Run({.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(status, absl::DeadlineExceededError("Timed out waiting for notification"));
  Events::Get().Fire("event");
  EXPECT_TRUE(step.Run({}).ok());
}

TEST_F(StepTest, ADeadFetchIsAnErrorAndLeavesNothingBehind) {
  const Output dead = Switch(Const(g_, 1), ConstBool(g_, false)).if_true;
  Step& step = MakeStep({Instant(dead), Const(g_, 2)});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(step.Run({}), absl::InvalidArgumentError("Retval[0] does not have value"));
  }
}

// --- frames

class FramesTest : public StepTest {
 protected:
  // Counts to `limit`. Each iteration waits for "event" with the counter's value.
  Output WaitingLoop(float limit, int parallel_iterations) {
    const Output one = Enter(Const(g_, 1), "loop", true, parallel_iterations);
    const Output end = Enter(Const(g_, limit), "loop", true, parallel_iterations);
    return WhileLoop(
        "loop", {Const(g_, 0), Const(g_, 0)},
        [&](const OutputList& v) { return OutputList{Less(v[0], end)}; },
        [&](const OutputList& v) {
          return OutputList{Add(v[0], one), Wait(v[0], "event")};
        },
        parallel_iterations)[1];
  }
};

TEST_F(FramesTest, AtMostParallelIterationsAreOpen) {
  constexpr int kIterations = 8;
  Recorder scheduler;
  environment_.scheduler = &scheduler;
  Step& step = MakeStep({WaitingLoop(kIterations, 3)}, /*dynamic_loops=*/true);
  std::vector<int> waiting;
  std::thread answers([&] {
    for (int i = 1; i <= kIterations; ++i) {
      scheduler.AwaitBlocked(i);
      waiting.push_back(Events::Get().waiting("event"));
      Events::Get().Fire("event");
    }
  });
  EXPECT_TRUE(step.Run({}).ok());
  answers.join();
  EXPECT_THAT(waiting, ElementsAre(3, 3, 3, 3, 3, 3, 2, 1));
  EXPECT_EQ(Fetched(), kIterations - 1);
}

TEST_F(FramesTest, OneIterationIsOpenAtATimeIfTheLoopSaysSo) {
  Recorder scheduler;
  environment_.scheduler = &scheduler;
  Step& step = MakeStep({WaitingLoop(3, 1)}, /*dynamic_loops=*/true);
  std::thread answers([&] {
    for (int i = 1; i <= 3; ++i) {
      scheduler.AwaitBlocked(i);
      EXPECT_EQ(Events::Get().waiting("event"), 1);
      Events::Get().Fire("event");
    }
  });
  EXPECT_TRUE(step.Run({}).ok());
  answers.join();
}

TEST_F(FramesTest, AStepThatFailedInALoopRunsAgain) {
  Step& step = MakeStep({WaitingLoop(5, 10)}, /*dynamic_loops=*/true);
  EXPECT_EQ(step.Run({.deadline = std::chrono::steady_clock::now()}).code(),
            absl::StatusCode::kDeadlineExceeded);
  for (int run = 0; run < 2; ++run) {
    for (int i = 0; i < 5; ++i) Events::Get().Fire("event");
    EXPECT_TRUE(step.Run({}).ok());
    EXPECT_EQ(Fetched(), 4);
  }
}

TEST_F(FramesTest, TheInnerLoopsOfSeveralIterationsAreOpenAtOnce) {
  const Output one = Enter(Const(g_, 1), "outer", true);
  const Output end = Enter(Const(g_, 3), "outer", true);
  const Output inner_one = Enter(one, "inner", true), inner_end = Enter(end, "inner", true);
  const auto count_on = [&](Output from) {  // waits in each iteration
    return WhileLoop(
        "inner", {from}, [&](const OutputList& v) { return OutputList{Less(v[0], inner_end)}; },
        [&](const OutputList& v) { return OutputList{Add(Wait(v[0], "event"), inner_one)}; })[0];
  };
  const Output last = WhileLoop(
      "outer", {Const(g_, 0), Const(g_, 0)},
      [&](const OutputList& v) { return OutputList{Less(v[0], end)}; },
      [&](const OutputList& v) {
        return OutputList{Add(v[0], one), count_on(v[0])};
      })[1];
  Recorder scheduler;
  environment_.scheduler = &scheduler;
  Step& step = MakeStep({last}, /*dynamic_loops=*/true);
  std::thread answers([&] {
    scheduler.AwaitBlocked(1);
    EXPECT_EQ(Events::Get().waiting("event"), 3);
    for (int i = 0; i < 3 + 2 + 1; ++i) Events::Get().Fire("event");
  });
  EXPECT_TRUE(step.Run({}).ok());
  answers.join();
  EXPECT_EQ(Fetched(), 3);
}

}  // namespace
}  // namespace sluice
