// Tests that a session measures whether its steps are faster without the threads of the intra-op
// pool.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "executor/session/session.h"
#include "graph/build/node_builder.h"
#include "graph/infer/shape_context.h"

namespace sluice {
namespace {

// Returns the number of threads that may share the kernel's loops. The loops take some time with
// several threads, and none with one.
OP(Threads, "").Output("threads", DT_FLOAT).Shape(ScalarOutput()).Stateful();
class ThreadsKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (c.num_threads() > 1 && std::chrono::steady_clock::now() < until) {
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * threads, c.AllocateOutput(0, TensorShape()));
    threads->scalar<float>() = static_cast<float>(c.num_threads());
    return absl::OkStatus();
  }
};
KERNEL(Threads, ThreadsKernel);

class SharingTest : public ::testing::Test {
 protected:
  static constexpr int kBeforeTrial = 1000;  // steps for each helper
  // Runs `count` steps and returns how many had one thread.
  int AloneOf(int count, Session& session, const RunOptions& options = {}) {
    int alone = 0;
    for (int i = 0; i < count; ++i) {
      const absl::StatusOr<Tensors> out = session.Run({}, {threads_}, {}, options);
      EXPECT_TRUE(out.ok()) << out.status();
      if (out.ok()) ++(out->at(0).scalar<float>() == 1 ? alone : shared_);
    }
    return alone;
  }

  const int helpers_ = static_cast<int>(std::thread::hardware_concurrency()) - 1;
  Graph g_;
  int shared_ = 0;
  const Output threads_{NodeBuilder(&g_, "Threads", At::current()).Finish(), 0};
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
  for (int i = 0; i < kBeforeTrial * helpers_ + 10;
       ++i) {  // before, during and after the first trial
    AloneOf(1, session);
    const absl::StatusOr<Tensors> out = session.Run({}, {threads_}, {}, {.trace = true}, &metadata);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_GT(out->at(0).scalar<float>(), 1);
  }
}

}  // namespace
}  // namespace sluice
