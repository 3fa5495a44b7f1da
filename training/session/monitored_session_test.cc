#include "training/session/monitored_session.h"

#include <limits>
#include <thread>

#include "executor/testing/await_report.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/ops.h"
#include "ops/dataflow/queue_handle.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "training/loop/queue_runner.h"
#include "training/session/basic_hooks.h"
#include "training/testing/session.h"

namespace sluice {
namespace {

using ::sluice::testing::CapturedLog;
using ::sluice::testing::MemorySaver;
using ::sluice::testing::RecordingHook;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model whose training increments a counter.
struct Counter {
  Counter() {
    Variable step = GlobalStep(g);
    train = step.AssignAdd(int64_t{1});
    read = step.Read();
    x = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "x");
    y = x + 1.0f;
    abort = Abort(g, {.name = "lost", .error_msg = "machine lost"});
  }
  std::shared_ptr<RecordingHook> Hook(const std::string& name) {
    return std::make_shared<RecordingHook>(name, calls);
  }
  int64_t Step(MonitoredSession& session) {
    const auto out = session.session()->Run({}, {read});
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? (*out)[0].scalar<int64_t>() : -1;
  }

  CapturedLog log;
  Graph g;
  Operation train, abort;
  Output read, x, y;
  std::vector<std::string> calls;
};

// Creates sessions like a chief, but fails a given number of times before that.
class FailingCreator : public ChiefSessionCreator {
 public:
  explicit FailingCreator(absl::Status failure, int times)
      : failure_(std::move(failure)), times_(times) {}
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(
      Graph& graph, CancellationManager* cancellation) override {
    ++calls;
    if (times_-- > 0) return failure_;
    return ChiefSessionCreator::CreateSession(graph, cancellation);
  }
  int calls = 0;

 private:
  absl::Status failure_;
  int times_;
};

TEST(MonitoredSessionTest, HooksAreCalledInTheirOrder) {
  Counter c;
  auto b = c.Hook("b");
  int runs = 0;
  b->after_run = [&](SessionRunContext& context, const SessionRunValues&) {
    if (++runs == 2) context.RequestStop();
    return absl::OkStatus();
  };
  MonitoredSession session(c.g, nullptr, {c.Hook("a"), b});
  ASSERT_TRUE(session.status().ok()) << session.status();
  EXPECT_TRUE(c.g.finalized());
  while (!session.ShouldStop()) ASSERT_TRUE(session.Run({c.train}).ok());
  EXPECT_EQ(c.Step(session), 2);
  EXPECT_TRUE(session.Close().ok());
  EXPECT_THAT(c.calls, ElementsAre("a.begin", "b.begin", "a.after_create_session",
                                   "b.after_create_session", "a.before_run", "b.before_run",
                                   "a.after_run", "b.after_run", "a.before_run", "b.before_run",
                                   "a.after_run", "b.after_run", "a.end", "b.end"));
}

TEST(MonitoredSessionTest, EachGetsTheFetchesThatItAskedFor) {
  Counter c;
  auto hook = c.Hook("h");
  std::vector<int64_t> seen;
  hook->before_run = [&](SessionRunContext& context) {
    EXPECT_EQ(context.original_args().fetches.size(), 1u);
    return SessionRunArgs{.fetches = {c.y, c.read}, .feeds = {{c.x, Tensor::Scalar(4.0f)}}};
  };
  hook->after_run = [&](SessionRunContext&, const SessionRunValues& values) {
    EXPECT_EQ(values.results[0].scalar<float>(), 5.0f);
    seen.push_back(values.results[1].scalar<int64_t>());
    return absl::OkStatus();
  };
  MonitoredSession session(
      c.g, nullptr, {hook, std::make_shared<StopAtStepHook>(StopAtStepOptions{.last_step = 3})});
  const auto out = session.Run({}, {c.y}, {});
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_EQ(out->size(), 1u);
  EXPECT_EQ((*out)[0].scalar<float>(), 5.0f);
  EXPECT_THAT(seen, ElementsAre(0));
}

TEST(MonitoredSessionTest, ATensorIsFedOnce) {
  Counter c;
  const auto feed = [&](SessionRunContext&) {
    return SessionRunArgs{.feeds = {{c.x, Tensor::Scalar(1.0f)}}};
  };
  auto a = c.Hook("a"), b = c.Hook("b");
  a->before_run = feed;
  {
    MonitoredSession session(c.g, nullptr, {a});
    EXPECT_EQ(session.Run({{c.x, Tensor::Scalar(2.0f)}}, {c.y}).status(),
              absl::InvalidArgumentError(
                  "Same tensor is fed by a SessionRunHook and user. Conflict(s): [x:0]"));
  }
  b->before_run = feed;
  MonitoredSession session(c.g, nullptr, {a, b});
  EXPECT_EQ(session.Run({}, {c.y}).status(),
            absl::InvalidArgumentError("Same tensor is fed by two hooks. Conflict(s): [x:0]"));
}

TEST(MonitoredSessionTest, AnErrorEndsTheLoopWithoutEnd) {
  Counter c;
  MonitoredSession session(c.g, nullptr, {c.Hook("a")});
  const absl::Status status = session.Run({}, {c.y}).status();  // x is not fed
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.Run({c.train}), status);
  EXPECT_EQ(session.Close(), status);
  EXPECT_THAT(c.calls, ElementsAre("a.begin", "a.after_create_session", "a.before_run"));
}

TEST(MonitoredSessionTest, TheEndOfTheInputIsANormalEnd) {
  Counter c;
  auto hook = c.Hook("a");
  hook->before_run = [](SessionRunContext&) -> absl::StatusOr<SessionRunArgs> {
    return absl::OutOfRangeError("no more");
  };
  MonitoredSession session(c.g, nullptr, {hook});
  EXPECT_TRUE(session.Run({c.train}).ok());
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_TRUE(session.Close().ok());
  EXPECT_THAT(c.calls, ElementsAre("a.begin", "a.after_create_session", "a.before_run", "a.end"));
}

TEST(MonitoredSessionTest, AfterTheStopNothingRuns) {
  Counter c;
  MonitoredSession session(c.g, nullptr, {StopAtStep(1)});
  ASSERT_TRUE(session.Run({c.train}).ok());
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.Run({}, {c.read}).status(),
            absl::FailedPreconditionError("Run called even after should_stop requested."));
}

TEST(MonitoredSessionTest, TheFirstErrorOfTheGraphIsToldByRun) {
  Graph g;
  Placeholder(g, DT_FLOAT, {2}, "a") + Placeholder(g, DT_INT32, {2}, "b");
  MonitoredSession session(g);
  EXPECT_FALSE(session.ShouldStop());
  const absl::Status status = session.Run({Operation()});
  EXPECT_EQ(status, g.status());
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.Close(), status);
}

TEST(MonitoredSessionTest, ALostMachineIsANewSessionFromTheLastCheckpoint) {
  Counter c;
  auto saver = std::make_shared<MemorySaver>();
  auto scaffold = std::make_shared<Scaffold>(ScaffoldOptions{.saver = saver});
  auto hook = c.Hook("h");
  int runs = 0;
  hook->before_run = [&](SessionRunContext&) {
    // Makes the fifth step fail.
    return ++runs == 5 ? SessionRunArgs{.targets = {c.abort}} : SessionRunArgs();
  };
  hook->after_run = [&](SessionRunContext& context, const SessionRunValues&) {
    if (runs == 3) return saver->Save(context.session(), "dir/model", 3, false).status();
    return absl::OkStatus();
  };
  MonitoredSession session(c.g,
                           std::make_shared<ChiefSessionCreator>(ChiefSessionCreatorOptions{
                               .scaffold = scaffold, .checkpoint_dir = "dir"}),
                           {hook, StopAtStep(6)});
  while (!session.ShouldStop()) ASSERT_TRUE(session.Run({c.train}).ok());
  EXPECT_EQ(c.Step(session), 6);
  // The runs were 1 2 3, then 4, in which the machine was lost, and 4 5 6 from the checkpoint of
  // step 3. The failed step runs again.
  EXPECT_EQ(runs, 8);
  EXPECT_EQ(std::count(c.calls.begin(), c.calls.end(), "h.after_create_session"), 2);
  EXPECT_THAT(saver->recovered(), ElementsAre("dir/model-3"));
  EXPECT_THAT(c.log.text(), HasSubstr("machine lost"));
  EXPECT_TRUE(session.Close().ok());
}

TEST(MonitoredSessionTest, WithoutRecoveryALostMachineIsAnError) {
  Counter c;
  SingularMonitoredSession session(c.g);
  const absl::Status status = session.Run({c.abort});
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.Close(), status);
}

TEST(MonitoredSessionTest, CreationIsTriedAgainWithGrowingPauses) {
  Counter c;
  ManualClock clock;
  auto creator = std::make_shared<FailingCreator>(absl::UnavailableError("refused"), 4);
  std::thread time([&] {
    // The creation is retried at once after the first failure, then after 0.1, 0.2 and 0.4 s.
    const double pauses[] = {0.1, 0.2, 0.4};
    for (int i = 0; i < 3; ++i) {
      clock.AwaitWaits(i + 1);
      clock.Advance(Clock::Duration(pauses[i]));
    }
  });
  MonitoredSession session(c.g, creator, {}, {.clock = &clock});
  time.join();
  EXPECT_TRUE(session.status().ok()) << session.status();
  EXPECT_EQ(creator->calls, 5);
}

TEST(MonitoredSessionTest, CreationIsGivenUpAfterItsTime) {
  Counter c;
  ManualClock clock;
  auto creator = std::make_shared<FailingCreator>(absl::UnavailableError("refused"), 1000);
  MonitoredSession session(c.g, creator, {},
                           {.max_recovery = std::chrono::milliseconds(50), .clock = &clock});
  EXPECT_EQ(session.status(), absl::UnavailableError("refused"));
  EXPECT_EQ(creator->calls, 2);
}

TEST(MonitoredSessionTest, OtherErrorsOfTheCreationAreNotTriedAgain) {
  Counter c;
  auto creator = std::make_shared<FailingCreator>(absl::InternalError("no"), 1);
  MonitoredSession session(c.g, creator);
  EXPECT_EQ(session.status(), absl::InternalError("no"));
  EXPECT_EQ(session.Run({c.train}), absl::InternalError("no"));
}

// The thread fills a queue from a placeholder that is not fed.
TEST(MonitoredSessionTest, TheErrorOfAThreadIsToldBeforeItsEcho) {
  Counter c;
  const Queue queue = Queue::Fifo(c.g, 3, {DT_FLOAT});
  AddQueueRunner(c.g, QueueRunner::Of(queue, {queue.Enqueue({c.x})}).value());
  const Output element = queue.Dequeue()[0];
  MonitoredSession session(c.g, nullptr, {c.Hook("a")});
  const absl::Status status = session.Run({}, {element}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("placeholder tensor 'x'"));
  EXPECT_THAT(status.message(), HasSubstr("then the step ended"));
  EXPECT_EQ(session.Close(), status);
}

TEST(MonitoredSessionTest, QueueRunnersFeedTheLoopUntilTheInputEnds) {
  Counter c;
  Variable counter(c.g, "counter", int64_t{0}, {.trainable = false, .use_resource = false});
  const Queue queue = Queue::Fifo(c.g, 3, {DT_INT64});
  AddQueueRunner(c.g,
                 QueueRunner::Of(queue, {queue.Enqueue({CountUpTo(counter.Ref(), 5)})}).value());
  const Output element = queue.Dequeue()[0];
  MonitoredSession session(c.g);
  std::vector<int64_t> seen;
  while (!session.ShouldStop()) {
    const auto out = session.Run({}, {element});
    if (!out.ok()) break;
    seen.push_back((*out)[0].scalar<int64_t>());
  }
  EXPECT_TRUE(session.Close().ok());
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4));
}

TEST(MonitoredSessionTest, AThreadThatLostItsMachineBringsANewSessionBetweenSteps) {
  Counter c;
  auto hook = c.Hook("h");
  int sessions = 0;
  hook->after_create_session = [&](Session&, Coordinator& coordinator) {
    if (++sessions == 1) coordinator.RequestStop(absl::UnavailableError("gone"));
    return absl::OkStatus();
  };
  MonitoredSession session(c.g, nullptr, {hook});
  EXPECT_FALSE(session.ShouldStop());
  EXPECT_EQ(sessions, 2);
  EXPECT_TRUE(session.Run({c.train}).ok());
  EXPECT_TRUE(session.Close().ok());
}

// Once, a step waited for a token of one parameter server when a thread noticed that another server
// had died, and the loop hung.
TEST(MonitoredSessionTest, AStepThatWaitsEndsWhenAThreadLostItsMachine) {
  Counter c;
  const Queue queue = Queue::Fifo(c.g, 3, {DT_FLOAT});
  const Operation put = queue.Enqueue({Constant(c.g, 5.0f)});
  const Output element = queue.Dequeue()[0];
  auto hook = c.Hook("h");
  int sessions = 0;
  hook->after_create_session = [&](Session& session, Coordinator& coordinator) -> absl::Status {
    if (++sessions == 2) return session.Run({put});
    coordinator.Start("loses its machine", [&session] {
      AwaitReport(session, {"fifo_queue"});
      return absl::UnavailableError("gone");
    });
    return absl::OkStatus();
  };
  MonitoredSession session(c.g, nullptr, {hook});
  const auto out = session.Run({}, {element});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 5);
  EXPECT_EQ(sessions, 2);
  EXPECT_TRUE(session.Close().ok());
}

TEST(MonitoredSessionTest, AThreadsErrorStopsTheLoopAndIsTheOneOfClose) {
  Counter c;
  auto hook = c.Hook("h");
  hook->after_create_session = [&](Session&, Coordinator& coordinator) {
    coordinator.RequestStop(absl::DataLossError("disk"));
    return absl::OkStatus();
  };
  MonitoredSession session(c.g, nullptr, {hook});
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.Close(), absl::DataLossError("disk"));
  EXPECT_EQ(c.calls.back(), "h.end");
}

TEST(MonitoredSessionTest, ABlockedStepCanBeCancelled) {
  Counter c;
  const Queue queue = Queue::Fifo(c.g, 3, {DT_FLOAT});
  const Output element = queue.Dequeue()[0];
  MonitoredSession session(c.g);
  std::thread cancels([&] { session.Cancel(); });
  EXPECT_EQ(session.Run({}, {element}).status().code(), absl::StatusCode::kCancelled);
  cancels.join();
  EXPECT_TRUE(session.ShouldStop());
}

TEST(MonitoredSessionTest, TheCallersCancellationReachesTheStep) {
  Counter c;
  const Queue queue = Queue::Fifo(c.g, 3, {DT_FLOAT});
  const Output element = queue.Dequeue()[0];
  MonitoredSession session(c.g);
  CancellationManager cancellation;
  std::thread cancels([&] { cancellation.StartCancel(); });
  EXPECT_EQ(session.Run({}, {element}, {}, {.cancellation = &cancellation}).status().code(),
            absl::StatusCode::kCancelled);
  cancels.join();
}

TEST(MonitoredSessionTest, AStepFunctionMixesStepsWithAndWithoutHooks) {
  Counter c;
  MonitoredSession session(c.g, nullptr, {c.Hook("h"), StopAtStep(10)});
  ASSERT_TRUE(session
                  .RunStep([&](HookedStep& context) -> absl::Status {
                    EXPECT_TRUE(context.session().Run({c.train}).ok());
                    return context.Run({.targets = {c.train}}).status();
                  })
                  .ok());
  EXPECT_EQ(c.Step(session), 2);
  EXPECT_EQ(std::count(c.calls.begin(), c.calls.end(), "h.before_run"), 1);
  EXPECT_FALSE(session.ShouldStop());
  EXPECT_TRUE(session.RunStep([](HookedStep& context) { return context.RequestStop(); }).ok());
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_TRUE(session.Close().ok());
  EXPECT_EQ(c.calls.back(), "h.end");
}

TEST(MonitoredSessionTest, AStepFunctionIsCalledAgainAfterALostMachine) {
  Counter c;
  MonitoredSession session(c.g);
  int calls = 0;
  ASSERT_TRUE(session
                  .RunStep([&](HookedStep& context) -> absl::Status {
                    if (++calls == 1) return context.Run({.targets = {c.abort}}).status();
                    return context.Run({.targets = {c.train}}).status();
                  })
                  .ok());
  EXPECT_EQ(calls, 2);
}

// An example is a checkpoint whose file is too short.
TEST(MonitoredSessionTest, ARecoveryThatIsOutOfRangeIsNotTheEndOfTheInput) {
  Counter c;
  int inits = 0;
  auto scaffold = std::make_shared<Scaffold>(
      ScaffoldOptions{.init_fn = [&](const Scaffold&, Session&) -> absl::Status {
        return inits++ == 0 ? absl::OkStatus() : absl::OutOfRangeError("too short");
      }});
  MonitoredSession session(
      c.g, std::make_shared<ChiefSessionCreator>(ChiefSessionCreatorOptions{.scaffold = scaffold}),
      {c.Hook("a")});
  EXPECT_EQ(session.Run({}, {}, {c.abort}).status(), absl::OutOfRangeError("too short"));
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.Close(), absl::OutOfRangeError("too short"));
}

TEST(MonitoredSessionTest, HooksCanAskForATraceOfTheStep) {
  Counter c;
  auto hook = c.Hook("h");
  bool traced = false;
  hook->before_run = [](SessionRunContext&) {
    return SessionRunArgs{.options = {.timeout_ms = 60'000, .trace = true}};
  };
  hook->after_run = [&](SessionRunContext&, const SessionRunValues& values) {
    traced = values.metadata.step_stats != nullptr;
    EXPECT_EQ(values.options.timeout_ms, 60'000);
    return absl::OkStatus();
  };
  MonitoredSession session(c.g, nullptr, {hook});
  RunMetadata metadata;
  ASSERT_TRUE(session.Run({}, {}, {c.train}, {.timeout_ms = 1000}, &metadata).ok());
  EXPECT_TRUE(traced);
  EXPECT_NE(metadata.step_stats, nullptr);
}

TEST(MonitoredSessionTest, HooksCanAskForACheckOfNumbers) {
  Counter c;
  auto hook = c.Hook("h");
  hook->before_run = [](SessionRunContext&) {
    return SessionRunArgs{.options = {.check_numerics = true}};
  };
  MonitoredSession session(c.g, nullptr, {hook});
  const Tensor nan = Tensor::Scalar(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(session.Run({{c.x, nan}}, {c.y}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MonitoredSessionTest, AClosedSessionStaysClosed) {
  Counter c;
  MonitoredSession session(c.g);
  EXPECT_TRUE(session.Close().ok());
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.Close(), absl::FailedPreconditionError("Session is already closed."));
  EXPECT_EQ(session.Run({c.train}), absl::FailedPreconditionError("Session is already closed."));
}

}  // namespace
}  // namespace sluice
