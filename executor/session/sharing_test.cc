// Steps find out whether they are quicker without other threads.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "executor/session/session.h"
#include "executor/testing/test_ops.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h

// A step whose loops take a while where several threads share them, and nothing where one does not.
class SharingTest : public ::testing::Test {
 protected:
  SharingTest() : threads_(Threads(Const(g_, 1), "shared")) {
    SetHook("shared", [this] {
      ++shared_;
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
      while (std::chrono::steady_clock::now() < until) {
      }
    });
  }
  ~SharingTest() override { ClearHooks(); }

  static constexpr int kBeforeTrial = 1000;  // steps for each helper
  // How many of `count` steps had one thread.
  int AloneOf(int count, Session& session, const RunOptions& options = {}) {
    int alone = 0;
    for (int i = 0; i < count; ++i) {
      const absl::StatusOr<Tensors> out = session.Run({}, {threads_}, {}, options);
      EXPECT_TRUE(out.ok()) << out.status();
      if (out.ok() && out->at(0).scalar<float>() == 1) ++alone;
    }
    return alone;
  }

  const int helpers_ = static_cast<int>(std::thread::hardware_concurrency()) - 1;
  Graph g_;
  const Output threads_;
  int shared_ = 0;
};

TEST_F(SharingTest, StepsThatAreQuickerAloneStayAlone) {
  Session session(g_);
  if (helpers_ > 0) {
    EXPECT_EQ(AloneOf(kBeforeTrial * helpers_, session), 0);
  }
  AloneOf(100, session);
  EXPECT_GT(AloneOf(150, session), 140);
}

TEST_F(SharingTest, NotWhatHasToEndInTime) {
  Session session(g_);
  const int alone = AloneOf(kBeforeTrial * helpers_ + 200, session, {.timeout_ms = 60'000});
  EXPECT_EQ(alone, helpers_ > 0 ? 0 : 200);
}

TEST_F(SharingTest, NotWhereTheNumberOfThreadsIsSet) {
  SessionOptions options;
  options.intra_op_threads = 2;
  Session session(g_, options);
  EXPECT_EQ(AloneOf(1400, session), 0);
  EXPECT_EQ(shared_, 1400);
}

TEST_F(SharingTest, TracedStepsRunAsStepsUsuallyDo) {
  if (helpers_ == 0) return;
  Session session(g_);
  RunMetadata metadata;
  for (int i = 0; i < kBeforeTrial * helpers_ + 10; ++i) {  // before, in and after the first trial
    AloneOf(1, session);
    const absl::StatusOr<Tensors> out = session.Run({}, {threads_}, {}, {.trace = true}, &metadata);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_GT(out->at(0).scalar<float>(), 1);
  }
}

}  // namespace
}  // namespace sluice
