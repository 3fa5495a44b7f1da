#include "training/session/session_manager.h"

#include <future>

#include "executor/device/device_set.h"
#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/ops.h"
#include "ops/state/variable.h"
#include "training/testing/session.h"

namespace sluice {
namespace {

using ::sluice::testing::CapturedLog;
using ::sluice::testing::MemorySaver;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using SessionOr = absl::StatusOr<std::unique_ptr<Session>>;

// Has a graph with a global and a local variable. Its sessions share the devices, like tasks of a
// cluster.
struct Model {
  Model() {
    Variable v(g, "v", 3.0f);
    Variable local(g, "local", 5.0f, {.trainable = false, .collections = {"local_variables"}});
    init = InitializeVariables(g);
    local_init = InitializeLocalVariables(g);
    ready = Operation(ReportUninitializedVariables(g));
    ready_for_local = Operation(ReportUninitializedVariables(g, GlobalVariables(g)));
    assign_v = v.Assign(Constant(g, 7.0f));
    read = v.Read();
    target.config.devices = DeviceSet::Cpus(1);
    EXPECT_TRUE(saver.Build(g).ok());
  }
  SessionManager Manager(Clock* clock = &Clock::Real()) const {
    return SessionManager({.local_init_op = local_init,
                           .ready_op = ready,
                           .ready_for_local_init_op = ready_for_local,
                           .clock = clock});
  }
  float Value(Session& session) {
    const auto out = session.Run({}, {read});
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? (*out)[0].scalar<float>() : 0;
  }
  // Saves a checkpoint of the model with v = 7.
  void SaveSeven() {
    Session session(g);
    ASSERT_TRUE(session.Run({init}).ok());
    ASSERT_TRUE(session.Run({assign_v}).ok());
    ASSERT_TRUE(saver.Save(session, "dir/model", 7, false).ok());
  }

  CapturedLog log;
  Graph g;
  Operation init, local_init, ready, ready_for_local, assign_v;
  Output read;
  SessionTarget target;
  MemorySaver saver;
};

TEST(SessionManagerTest, InitialisesAModelWithoutACheckpoint) {
  Model m;
  const SessionOr session = m.Manager().PrepareSession(m.g, m.target, {.init_op = m.init});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 3.0f);
}

TEST(SessionManagerTest, RestoresTheLatestCheckpointInsteadOfInitialising) {
  Model m;
  m.SaveSeven();
  bool called = false;
  const SessionOr session =
      m.Manager().PrepareSession(m.g, m.target,
                                 {.init_op = m.init,
                                  .init_fn =
                                      [&](Session&) {
                                        called = true;
                                        return absl::OkStatus();
                                      },
                                  .restore = {.saver = &m.saver, .checkpoint_dir = "dir"}});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 7.0f);
  EXPECT_FALSE(called);
  EXPECT_THAT(m.saver.recovered(), ElementsAre("dir/model-7"));
}

TEST(SessionManagerTest, RestoresAGivenFile) {
  Model m;
  m.SaveSeven();
  const SessionOr session = m.Manager().PrepareSession(
      m.g, m.target,
      {.restore = {.saver = &m.saver, .checkpoint_filename_with_path = "dir/model-7"}});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 7.0f);
}

TEST(SessionManagerTest, AnInitFunctionRunsAfterTheInitOp) {
  Model m;
  const SessionOr session = m.Manager().PrepareSession(
      m.g, m.target,
      {.init_op = m.init, .init_fn = [&](Session& s) { return s.Run({m.assign_v}); }});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 7.0f);
}

TEST(SessionManagerTest, SaysWhatKeepsTheModelFromBeingReady) {
  Model m;
  EXPECT_EQ(SessionManager().PrepareSession(m.g, m.target, {}).status(),
            absl::FailedPreconditionError(
                "Model is not initialized and no init_op or init_fn or local_init_op was given"));
  EXPECT_EQ(
      m.Manager().PrepareSession(m.g, m.target, {}).status(),
      absl::FailedPreconditionError(
          "Init operations did not make model ready for local_init.  Init op: None, init fn: None, "
          "error: Variables not initialized: v"));
  const SessionManager without_local({.ready_op = m.ready});
  EXPECT_EQ(without_local.PrepareSession(m.g, m.target, {.init_op = m.init}).status(),
            absl::FailedPreconditionError(
                "Init operations did not make model ready.  Init op: init, init fn: None, "
                "local_init_op: None, error: Variables not initialized: local"));
  EXPECT_EQ(m.Manager()
                .PrepareSession(m.g, m.target,
                                {.restore = {.saver = &m.saver,
                                             .checkpoint_dir = "a",
                                             .checkpoint_filename_with_path = "b"}})
                .status(),
            absl::InvalidArgumentError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."));
  EXPECT_THAT(
      SessionManager({.ready_for_local_init_op = m.ready})
          .PrepareSession(m.g, m.target, {.init_op = m.init})
          .status()
          .message(),
      HasSubstr("If you pass a ready_for_local_init_op you must also pass a local_init_op"));
}

TEST(SessionManagerTest, AReadinessOpThatReadsIsNotReadyWhileTheVariableHasNoValue) {
  Model m;
  const SessionManager manager({.ready_op = Operation(m.read)});
  const absl::Status status =
      manager.PrepareSession(m.g, m.target, {.init_op = m.local_init}).status();
  EXPECT_THAT(status.message(), HasSubstr("Init operations did not make model ready."));
  EXPECT_THAT(status.message(), HasSubstr("uninitialized"));
}

TEST(SessionManagerTest, RecoversOnlyWhereThereIsACheckpoint) {
  Model m;
  const RestoreFrom from = {.saver = &m.saver, .checkpoint_dir = "dir"};
  const auto without = m.Manager().RecoverSession(m.g, m.target, from);
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_FALSE(without->initialized);
  m.SaveSeven();
  const auto with = m.Manager().RecoverSession(m.g, m.target, from);
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_TRUE(with->initialized);
  EXPECT_EQ(m.Value(*with->session), 7.0f);
}

TEST(SessionManagerTest, OthersGoOnAtOnceWhenTheChiefIsReady) {
  Model m;
  ManualClock clock;  // does not advance, so a periodic check cannot help
  std::future<SessionOr> worker = std::async(
      std::launch::async, [&] { return m.Manager(&clock).WaitForSession(m.g, m.target); });
  clock.AwaitWaiting(1);
  ASSERT_TRUE(m.Manager().PrepareSession(m.g, m.target, {.init_op = m.init}).ok());
  const SessionOr session = worker.get();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 3.0f);
}

// Another process initializes the model, so nothing is announced in this one. See row 23 of
// docs/demands.md.
TEST(SessionManagerTest, OthersAreToldByWhatTheyWatch) {
  Model m;
  std::promise<std::function<void()>> watched;
  bool is_watched = false;
  m.target.watch_ready = [&](std::function<void()> ready) {
    is_watched = true;
    watched.set_value(std::move(ready));
    return std::shared_ptr<bool>(&is_watched, [](bool* watch) { *watch = false; });
  };
  ManualClock clock;  // does not advance
  std::future<SessionOr> other = std::async(std::launch::async, [&] {
    return m.Manager(&clock).WaitForSession(m.g, m.target, std::nullopt);
  });
  const std::function<void()> ready = watched.get_future().get();
  clock.AwaitWaiting(1);
  ready();  // too early: the waiter checks and waits again
  clock.AwaitWaits(2);
  Session chief(m.g, {.devices = m.target.config.devices});
  ASSERT_TRUE(chief.Run({m.init}).ok());
  ready();
  const SessionOr session = other.get();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 3.0f);
  EXPECT_FALSE(is_watched);
}

TEST(SessionManagerTest, AChiefTellsThatTheModelIsReady) {
  Model m;
  int told = 0;
  m.target.announce_ready = [&] { ++told; };
  ASSERT_TRUE(m.Manager().PrepareSession(m.g, m.target, {.init_op = m.init}).ok());
  EXPECT_EQ(told, 1);
}

TEST(SessionManagerTest, OthersLookAgainNowAndThen) {
  Model m;
  ManualClock clock;
  std::future<SessionOr> worker = std::async(
      std::launch::async, [&] { return m.Manager(&clock).WaitForSession(m.g, m.target); });
  clock.AwaitWaiting(1);
  // Acts like another process, without notifying this one.
  Session session(m.g, m.target.config);
  ASSERT_TRUE(session.Run({m.init}).ok());
  clock.Advance(std::chrono::seconds(30));
  EXPECT_TRUE(worker.get().ok());
}

TEST(SessionManagerTest, TheWaitHasAnEnd) {
  Model m;
  ManualClock clock;
  std::future<SessionOr> worker = std::async(std::launch::async, [&] {
    return m.Manager(&clock).WaitForSession(m.g, m.target, std::chrono::seconds(45));
  });
  clock.AwaitWaiting(1);
  clock.Advance(std::chrono::seconds(45));
  EXPECT_EQ(worker.get().status(),
            absl::DeadlineExceededError("Session was not ready after waiting 45 secs."));
  EXPECT_THAT(m.log.text(), HasSubstr("Waiting for model to be ready.  Ready_for_local_init_op:  "
                                      "Variables not initialized: v, ready: None"));
}

TEST(SessionManagerTest, TheWaitCanBeCancelled) {
  Model m;
  ManualClock clock;
  CancellationManager cancellation;
  std::future<SessionOr> worker = std::async(std::launch::async, [&] {
    return m.Manager(&clock).WaitForSession(m.g, m.target, std::nullopt, &cancellation);
  });
  clock.AwaitWaiting(1);
  cancellation.StartCancel();
  EXPECT_EQ(worker.get().status(), absl::CancelledError("the wait for the session was cancelled"));
}

TEST(SessionManagerTest, ACheckpointCanBeWaitedFor) {
  Model m;
  ManualClock clock;
  PrepareSessionOptions options = {
      .restore = {.saver = &m.saver, .checkpoint_dir = "dir", .wait_for_checkpoint = true}};
  std::future<SessionOr> chief = std::async(
      std::launch::async, [&] { return m.Manager(&clock).PrepareSession(m.g, m.target, options); });
  clock.AwaitWaiting(1);
  m.SaveSeven();
  clock.Advance(std::chrono::seconds(30));
  const SessionOr session = chief.get();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 7.0f);
}

TEST(SessionManagerTest, TheWaitForACheckpointEndsAndCanBeCancelled) {
  Model m;
  ManualClock clock;
  CancellationManager cancellation;
  PrepareSessionOptions options = {.init_op = m.init,
                                   .restore = {.saver = &m.saver,
                                               .checkpoint_dir = "dir",
                                               .wait_for_checkpoint = true,
                                               .max_wait = std::chrono::seconds(10)},
                                   .cancellation = &cancellation};
  const auto prepare = [&] { return m.Manager(&clock).PrepareSession(m.g, m.target, options); };
  std::future<SessionOr> late = std::async(std::launch::async, prepare);
  clock.AwaitWaiting(1);
  clock.Advance(std::chrono::seconds(10));
  const SessionOr session = late.get();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(m.Value(**session), 3.0f);  // initialized in spite of the checkpoint

  std::future<SessionOr> cancelled = std::async(std::launch::async, prepare);
  clock.AwaitWaiting(1);
  cancellation.StartCancel();
  EXPECT_EQ(cancelled.get().status(),
            absl::CancelledError("the wait for a checkpoint was cancelled"));
}

TEST(SessionManagerTest, AMasterNeedsAFactory) {
  Model m;
  m.target.master = "grpc://localhost:2222";
  EXPECT_THAT(m.Manager().PrepareSession(m.g, m.target, {.init_op = m.init}).status().message(),
              HasSubstr("{target: \"grpc://localhost:2222\"}"));
  m.target.make = [](Graph& graph, const SessionTarget& target) -> SessionOr {
    return std::make_unique<Session>(graph, target.config);
  };
  EXPECT_TRUE(m.Manager().PrepareSession(m.g, m.target, {.init_op = m.init}).ok());
}

}  // namespace
}  // namespace sluice
