// The code in docs/sessions.md.

#include <memory>

#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/math/builders.h"
#include "ops/state/variable.h"
#include "training/optimizer/gradient_descent.h"
#include "training/session/basic_hooks.h"
#include "training/session/logging_tensor_hook.h"
#include "training/session/monitored_session.h"

namespace sluice {
namespace {

// [hook]
// Keeps the lowest loss that any step had.
class LowestLoss : public SessionRunHook {
 public:
  explicit LowestLoss(Output loss) : loss_(loss) {}
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext&) override {
    return SessionRunArgs{.fetches = {loss_}};
  }
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    lowest_ = std::min(lowest_, values.results[0].scalar<float>());
    if (lowest_ < 1e-6f) context.RequestStop();
    return absl::OkStatus();
  }
  float lowest() const { return lowest_; }

 private:
  Output loss_;
  float lowest_ = 1e9f;
};
// [/hook]

absl::Status Train(Graph& g, Output loss, Operation train, std::shared_ptr<LowestLoss> lowest) {
  // [loop]
  auto log = std::make_shared<LoggingTensorHook>(TaggedTensors{{"loss", loss}},
                                                 LoggingTensorOptions{.every = {.steps = 100}});
  MonitoredSession session(g, std::make_shared<ChiefSessionCreator>(),
                           {StopAtStep(1000), StopOnNan(loss), log, lowest});
  while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({train}));
  return session.Close();
  // [/loop]
}

TEST(SessionSamples, ALoopWithHooks) {
  Graph g;
  Variable step = GlobalStep(g);
  Variable w(g, "w", 5.0f);
  Output loss = Square(w - 2.0f);
  Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss, {.global_step = &step});
  auto lowest = std::make_shared<LowestLoss>(loss);
  const absl::Status status = Train(g, loss, train, lowest);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_LT(lowest->lowest(), 1e-6f);
}

TEST(SessionSamples, ALoopThatFetches) {
  Graph g;
  Variable step = GlobalStep(g);
  Operation count = step.AssignAdd(int64_t{1});
  Output read = step;
  int64_t last = 0;
  const auto train = [&]() -> absl::Status {
    // [fetch]
    MonitoredSession session(g, nullptr, {StopAfterSteps(3)});
    while (!session.ShouldStop()) {
      absl::StatusOr<Tensors> out = session.Run({}, {read}, {count});
      if (!out.ok()) break;  // Close tells which error it was, and that the end of input is none
      last = (*out)[0].scalar<int64_t>();
    }
    return session.Close();
    // [/fetch]
  };
  EXPECT_TRUE(train().ok());
  EXPECT_GE(last, 2);
}

}  // namespace
}  // namespace sluice
