// Many steps run at once, blocked, cancelled, timed out and closed. Only the tests of the timeout
// itself wait for time to pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "executor/device/pool_allocator.h"
#include "executor/session/session.h"
#include "executor/testing/test_ops.h"
#include "executor/wait/cancellation.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A graph with sums in segments, asynchronous nodes that answer at once, a loop, and a variable.
struct MixedGraph {
  Graph g;
  Output x, y, wait, cancelled;
  MixedGraph() {
    x = Placeholder(g, DT_FLOAT, {}, "x");
    Output sum = x;
    for (int i = 0; i < 20; ++i) sum = Add(sum, i % 5 == 0 ? Instant(x) : x);
    const Output one = Enter(Const(g, 1), "loop", true);
    const Output limit = Enter(sum, "loop", true);
    y = WhileLoop(
        "loop", {Const(g, 0)}, [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
        [&](const OutputList& v) { return OutputList{Instant(Add(v[0], one))}; })[0];
    wait = Wait(y, "never");
    cancelled = Add(Hooked(y, "cancel"), Wait(x, "never"));
  }
};

TEST(Concurrency, ThousandRunsFromEightThreadsWithRandomCancellations) {
  for (const int threads : {1, 3}) {
    MixedGraph m;
    ASSERT_TRUE(m.g.status().ok()) << m.g.status();
    Session session(m.g, {.intra_op_threads = threads, .inter_op_threads = threads});
    std::atomic<int> finished{0}, cancelled{0};
    std::vector<std::thread> workers;
    for (int t = 0; t < 8; ++t) {
      workers.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < 125; ++i) {
          const float fed = static_cast<float>(random() % 3);
          const int fate = random() % 4;
          CancellationManager cancellation;
          // Fate 0 waits for an event that never comes, until it is cancelled.
          const Output fetch = fate == 0 ? m.wait : m.y;
          std::thread canceller;
          if (fate <= 1) canceller = std::thread([&] { cancellation.StartCancel(); });
          absl::StatusOr<Tensors> out = session.Run({{m.x, Tensor::Scalar(fed)}}, {fetch}, {},
                                                    {.cancellation = &cancellation});
          if (canceller.joinable()) canceller.join();
          if (out.ok()) {
            EXPECT_EQ((*out)[0].scalar<float>(), 21 * fed);
            ++finished;
          } else {
            EXPECT_EQ(out.status(), absl::CancelledError("Run call was cancelled"));
            EXPECT_LE(fate, 1);
            ++cancelled;
          }
        }
      });
    }
    for (std::thread& w : workers) w.join();
    EXPECT_EQ(finished + cancelled, 1000);
    EXPECT_GT(cancelled, 0);
  }
}

TEST(Concurrency, TenThousandCancelledStepsLeaveMemoryFlat) {
  MixedGraph m;
  Session session(m.g, {.intra_op_threads = 1, .inter_op_threads = 1});
  const std::vector<Feed> feeds = {{m.x, Tensor::Scalar(1.0f)}};
  int64_t pool = 0, heap = 0;
  for (int i = 0; i < 10000; ++i) {
    if (i == 100) {
      pool = PoolAllocator::Global().SystemBytes();
      heap = Heap().bytes_in_use();
    }
    CancellationManager cancellation;
    // The cancellation comes from inside the step, once it blocks or just before.
    SetHook("cancel", [&] { cancellation.StartCancel(); });
    ASSERT_EQ(session.Run(feeds, {m.cancelled}, {}, {.cancellation = &cancellation}).status(),
              absl::CancelledError("Run call was cancelled"));
  }
  EXPECT_EQ(PoolAllocator::Global().SystemBytes(), pool);
  EXPECT_EQ(Heap().bytes_in_use(), heap);
  absl::StatusOr<Tensors> out = session.Run(feeds, {m.y});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ((*out)[0].scalar<float>(), 21);
  ClearHooks();
}

TEST(Concurrency, ABlockedStepNeedsNoThreadOfThePool) {
  Graph g;
  const Output a = Add(Wait(Const(g, 1), "event"), Const(g, 1));
  Session session(g, {.intra_op_threads = 1, .inter_op_threads = 1});
  std::vector<std::thread> blocked;
  for (int i = 0; i < 4; ++i) {
    blocked.emplace_back([&] {
      absl::StatusOr<Tensors> out = session.Run({}, {a});
      ASSERT_TRUE(out.ok()) << out.status();
      EXPECT_EQ((*out)[0].scalar<float>(), 2);
    });
  }
  Events::Get().AwaitWaiting("event", 4);
  for (int i = 0; i < 4; ++i) Events::Get().Fire("event");
  for (std::thread& t : blocked) t.join();
}

TEST(Concurrency, TheFirstErrorCancelsWhatIsBlocked) {
  Graph g;
  const Output blocked = Wait(Const(g, 1), "blocked");
  const Output bad = Fail(Wait(Const(g, 1), "go"), "bad");
  Session session(g);
  std::thread run([&] {
    const absl::Status status = session.Run({}, {blocked, bad}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), StartsWith("boom"));
  });
  Events::Get().AwaitWaiting("blocked", 1);
  Events::Get().AwaitWaiting("go", 1);
  Events::Get().Fire("go");
  run.join();
  EXPECT_EQ(Events::Get().waiting("blocked"), 0);
}

TEST(Concurrency, TimeoutEndsABlockedStepAndTheNextRuns) {
  Graph g;
  const Output wait = Wait(Const(g, 1), "timeout");
  const Output fine = Add(Const(g, 1), Const(g, 2));
  Session session(g);
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = session.Run({}, {wait}, {}, {.timeout_ms = 5}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(std::string(status.message()), StartsWith("Timed out waiting for notification"));
  }
  EXPECT_TRUE(session.Run({}, {fine}).ok());
  EXPECT_TRUE(session.Run({}, {fine}, {}, {.timeout_ms = 60000}).ok());
}

TEST(Concurrency, TimeoutEndsALoopThatNeverEnds) {
  Graph g;
  const Output one = Enter(Const(g, 1), "loop", true);
  const OutputList loop = WhileLoop(
      "loop", {Const(g, 0)},
      [&](const OutputList& v) { return OutputList{Less(one, Add(one, one))}; },
      [&](const OutputList& v) { return OutputList{Add(v[0], one)}; });
  Session session(g);
  EXPECT_EQ(session.Run({}, {loop[0]}, {}, {.timeout_ms = 5}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(Concurrency, CloseEndsBlockedStepsAndRefusesLaterOnes) {
  Graph g;
  const Output wait = Wait(Const(g, 1), "close");
  Session session(g);
  std::thread run([&] {
    EXPECT_EQ(
        session.Run({}, {wait}).status(),
        absl::CancelledError("Step was cancelled by an explicit call to `Session::Close()`."));
  });
  Events::Get().AwaitWaiting("close", 1);
  ASSERT_TRUE(session.Close().ok());
  run.join();
  EXPECT_EQ(session.Run({}, {wait}).status(), absl::CancelledError("Session has been closed."));
  EXPECT_TRUE(session.Close().ok());
}

}  // namespace
}  // namespace sluice
