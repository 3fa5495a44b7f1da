// Tests that a node waits while another step holds the lock (the claim) of its variable, and that
// its thread meanwhile runs other nodes.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "executor/session/session.h"
#include "executor/step/step.h"
#include "executor/testing/test_ops.h"
#include "executor/wait/cancellation.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h

// A step that holds the variable until it is released.
class Holder {
 public:
  Holder(Session& session, Output held) {
    SetHook("held", [this] {
      has_it_.Notify();
      EXPECT_TRUE(may_go_on_.WaitForNotificationWithTimeout(absl::Seconds(60)));
    });
    thread_ = std::thread(
        [&session, held] { EXPECT_TRUE(session.Run({}, {held}).ok()) << "of the holder"; });
    has_it_.WaitForNotification();
  }
  ~Holder() {
    thread_.join();
    ClearHooks();
  }
  void GoOn() { may_go_on_.Notify(); }

 private:
  absl::Notification has_it_, may_go_on_;
  std::thread thread_;
};

// Reports when a step has run all nodes that are ready.
class Observer final : public StepScheduler {
 public:
  void Blocked(int64_t) override {
    if (!is_blocked_.HasBeenNotified()) is_blocked_.Notify();
  }
  void Ready(int64_t) override {}
  void Resume(int64_t) override {}
  bool AwaitBlocked() { return is_blocked_.WaitForNotificationWithTimeout(absl::Seconds(60)); }

 private:
  absl::Notification is_blocked_;
};

struct Use {
  std::string name;
  std::function<Output(Output)> make;  // of the variable
  float result;
};

class TakenVariables : public ::testing::TestWithParam<Use> {
 protected:
  void Start(Session& session) { ASSERT_TRUE(session.Run({}, {}, {init_}).ok()); }

  Graph g_;
  Output variable_ = Variable(g_, "variable");
  Operation init_ = Operation(Assign(variable_, Const(g_, 1)).node);
  Output held_ = Held(variable_, "held");
};

// The step has one thread, the caller's. Only the step's other node releases the holder.
TEST_P(TakenVariables, DoNotHoldUpOtherNodesOfTheStep) {
  const Output use = GetParam().make(variable_);
  const Output other = Hooked(Wait(Const(g_, 2), "others"), "go_on");
  Observer observer;
  Session session(g_, {.intra_op_threads = 1, .inter_op_threads = 1, .scheduler = &observer});
  Start(session);
  Holder holder(session, held_);
  SetHook("go_on", [&] { holder.GoOn(); });
  std::thread run([&] {
    absl::StatusOr<Tensors> out = session.Run({}, {use, other});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ((*out)[0].scalar<float>(), GetParam().result);
  });
  EXPECT_TRUE(observer.AwaitBlocked()) << "its thread waits for the variable";
  Events::Get().Fire("others");
  run.join();
}

TEST_P(TakenVariables, AreWaitedForWhereThereIsNothingElse) {
  const Output use = GetParam().make(variable_);
  Session session(g_, {.intra_op_threads = 1, .inter_op_threads = 1});
  Start(session);
  Holder holder(session, held_);
  std::thread waiting([&] {
    absl::StatusOr<Tensors> out = session.Run({}, {use});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ((*out)[0].scalar<float>(), GetParam().result);
  });
  holder.GoOn();
  waiting.join();
}

TEST_P(TakenVariables, AreNotTouchedByAStepThatWasCancelledMeanwhile) {
  const Output use = GetParam().make(variable_);
  const Output other = Hooked(Instant(Const(g_, 2)), "cancel");
  Session session(g_, {.intra_op_threads = 1, .inter_op_threads = 1});
  Start(session);
  {
    Holder holder(session, held_);
    CancellationManager cancellation;
    SetHook("cancel", [&] {
      cancellation.StartCancel();
      holder.GoOn();
    });
    EXPECT_EQ(session.Run({}, {use, other}, {}, {.cancellation = &cancellation}).status(),
              absl::CancelledError("Run call was cancelled"));
  }
  absl::StatusOr<Tensors> out = session.Run({}, {Output(variable_)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Uses, TakenVariables,
    ::testing::Values(
        Use{"Value", [](Output v) { return Add(v, Instant(Const(*v.graph(), 2))); }, 3},
        Use{"Update", [](Output v) { return AssignAdd(v, Instant(Const(*v.graph(), 4))); }, 5},
        Use{"ValueOfAnAsynchronousNode", [](Output v) { return Instant(v); }, 1}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sluice
