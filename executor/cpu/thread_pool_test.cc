#include "executor/cpu/thread_pool.h"

#include <atomic>
#include <future>
#include <new>
#include <vector>

#include "executor/wait/session_scope.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(ThreadPool, ParallelForCallsEveryElementOnce) {
  for (int threads : {0, 1, 4}) {
    ThreadPool pool("test", threads);
    std::vector<std::atomic<int>> calls(10007);
    pool.ParallelFor(10007, 1000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) calls[i].fetch_add(1);
    });
    for (const auto& c : calls) ASSERT_EQ(c.load(), 1);
  }
}

TEST(ThreadPool, SmallWorkIsOneCallInTheCaller) {
  ThreadPool pool("test", 2);
  int calls = 0;
  pool.ParallelFor(1000, 1, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 1000);
  });
  EXPECT_EQ(calls, 1);
  pool.ParallelFor(0, 1e9, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

// A single one of these loops is not worth waking a helper.
TEST(ThreadPool, ShortLoopsThatComeThickAreShared) {
  ThreadPool pool("test", 1);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> is_shared{false};
  for (int i = 0; i < 1'000'000 && !is_shared; ++i) {
    pool.ParallelFor(8, 5000, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != caller) is_shared = true;
    });
  }
  EXPECT_EQ(is_shared, std::thread::hardware_concurrency() > 1);
}

TEST(ThreadPool, ParallelForNestsAndNeedsNoFreeThread) {
  ThreadPool pool("test", 1);
  std::atomic<int64_t> sum{0};
  pool.ParallelFor(8, 1e6, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      pool.ParallelFor(100, 1e6, [&](int64_t b, int64_t e) { sum.fetch_add(e - b); });
    }
  });
  EXPECT_EQ(sum.load(), 800);
}

// The callers run more loops at once than the pool has places for.
TEST(ThreadPool, ManyCallersShareThePool) {
  constexpr int kCallers = 40;
  ThreadPool pool("test", 2);
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < kCallers; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        pool.ParallelFor(64, 1e4, [&](int64_t b, int64_t e) { sum.fetch_add(e - b); });
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum.load(), kCallers * 50 * 64);
}

// The only thread sleeps, works, or spins when a closure arrives.
TEST(ThreadPool, ClosuresRunBetweenLoops) {
  ThreadPool pool("test", 1);
  for (int i = 0; i < 1000; ++i) {
    std::atomic<int64_t> sum{0};
    std::promise<void> ran;
    pool.ParallelFor(8, i % 2 == 0 ? 1e5 : 1e3,
                     [&](int64_t b, int64_t e) { sum.fetch_add(e - b); });
    pool.Schedule([&] { ran.set_value(); });
    pool.ParallelFor(8, 1e5, [&](int64_t b, int64_t e) { sum.fetch_add(e - b); });
    ran.get_future().wait();
    ASSERT_EQ(sum.load(), 16);
  }
}

// Later sessions use the pool that the first one started.
TEST(ThreadPool, ClosuresDoNotWorkForTheSessionThatStartedThePool) {
  const SessionScope scope(7);
  ThreadPool pool("test", 1);
  std::promise<int64_t> session;
  pool.Schedule([&] { session.set_value(SessionScope::Current()); });
  EXPECT_EQ(session.get_future().get(), 0);
}

TEST(ThreadPool, DestructorRunsWhatWasScheduled) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool("test", 2);
    for (int i = 0; i < 100; ++i) pool.Schedule([&] { ran.fetch_add(1); });
  }
  EXPECT_EQ(ran.load(), 100);
}

// A failed allocation on a thread of the pool ended the process.
TEST(ThreadPool, AnAllocationThatFailsInALoopFailsInItsCaller) {
  ThreadPool pool("test", 3);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(pool.ParallelFor(100, 1e6,
                                  [](int64_t begin, int64_t end) {
                                    if (begin <= 99 && 99 < end) throw std::bad_alloc();
                                  }),
                 std::bad_alloc);
  }
}

}  // namespace
}  // namespace sluice
