// The clients of the soak test that use the server as documented: those that train, and those that
// wait for something that does not come.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/session/partial_run.h"
#include "sluice.h"
#include "sluice_cluster.h"
#include "tests/attacks/soak_client.h"

namespace sluice::soak {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kAnswerTimeoutMs = 20'000;
constexpr int kRows = 64;  // all points of a 4 x 4 x 4 grid
constexpr int kStepsPerTraining = 10;

absl::StatusOr<std::unique_ptr<Session>> Connect(Graph& g, const ClientOptions& client,
                                                 bool isolated) {
  RemoteSessionOptions options;
  options.connect_timeout_ms = kAnswerTimeoutMs;
  options.session.operation_timeout_ms = kAnswerTimeoutMs;
  options.isolate_session_state = isolated;
  return RemoteSession::Connect(g, client.target, options);
}

// Fits y = x0 - 2 x1 + 3 x2 + 4 by gradient descent. The columns of x are orthogonal, so every loss
// is known: each step halves the error of the weights and leaves 0.6 of that of the bias.
class Trainer {
 public:
  explicit Trainer(const ClientOptions& options)
      : options_(options),
        trainings_per_session_(options.arguments.empty() ? 10 : std::stoi(options.arguments[0])),
        xs_(DT_FLOAT, {kRows, 3}),
        ys_(DT_FLOAT, {kRows, 1}) {
    x_ = Placeholder(g_, DT_FLOAT, {-1, 3}, "x");
    y_ = Placeholder(g_, DT_FLOAT, {-1, 1}, "y");
    Variable w(g_, StrCat("w", options.seed), {3, 1}, Zeros());
    Variable b(g_, StrCat("b", options.seed), {1}, Zeros());
    loss_ = ReduceMean(Square(MatMul(x_, w) + b - y_));
    train_ = GradientDescent({.learning_rate = 0.2f}).Minimize(loss_);
    init_ = InitializeVariables(g_);
    for (int i = 0; i < kRows; ++i) {
      float* row = &xs_.data<float>()[3 * i];
      for (int j = 0; j < 3; ++j) row[j] = static_cast<float>((i >> (2 * j)) % 4) - 1.5f;
      ys_.data<float>()[i] = row[0] - 2 * row[1] + 3 * row[2] + 4;
    }
  }

  // One step. After an error the next one begins in a new session.
  absl::Status Request() {
    if (step_ == 0 && trainings_++ % trainings_per_session_ == 0) session_ = nullptr;
    absl::Status status = Step();
    step_ = (step_ + 1) % (1 + kStepsPerTraining);
    if (!status.ok()) step_ = 0, trainings_ = 0;
    return status;
  }

 private:
  absl::Status Step() {
    if (session_ == nullptr) {
      SLUICE_ASSIGN_OR_RETURN(session_, Connect(g_, options_, options_.seed % 2 == 0));
    }
    if (step_ == 0) return session_->Run({init_});
    SLUICE_ASSIGN_OR_RETURN(const Tensors got,
                            session_->Run({{x_, xs_}, {y_, ys_}}, {loss_}, {train_}));
    const double expected =
        17.5 * std::pow(0.25, step_ - 1) + 16 * std::pow(0.36, step_ - 1);  // before the update
    if (std::abs(got[0].scalar<float>() - expected) <= 1e-3 * expected) return absl::OkStatus();
    return absl::DataLossError(StrCat("expected the loss ", expected, " in step ", step_, ", got ",
                                      got[0].scalar<float>()));
  }

  const ClientOptions options_;
  const int trainings_per_session_;
  Tensor xs_;
  Tensor ys_;
  Graph g_;
  Output x_, y_, loss_;
  Operation train_, init_;
  std::unique_ptr<Session> session_;
  int step_ = 0;
  int trainings_ = 0;
};

Output Numbers(Graph& g, int64_t value) { return Constant(g, Tensor::Scalar<int64_t>(value)); }

// A dataset that looks for its first element forever.
Output Endless(Graph& g) {
  const std::vector<DataType> types = {DT_INT64};
  const std::vector<PartialShape> shapes = {PartialShape::Scalar()};
  const Output nothing = RangeDataset(Numbers(g, 0), Numbers(g, 0), Numbers(g, 1), types, shapes);
  return RepeatDataset(nothing, Numbers(g, int64_t{1} << 62), types, shapes);
}

// What the step of Hang fetches.
Output Awaited(Graph& g, const std::string& kind) {
  const std::vector<DataType> types = {DT_INT64};
  const std::vector<PartialShape> shapes = {PartialShape::Scalar()};
  if (kind == "queue") return Queue::Fifo(g, 1, {DT_FLOAT}).Dequeue()[0];
  if (kind == "endless") return DatasetToSingleElement(Endless(g), types, shapes)[0];
  if (kind == "prefetch") {
    return DatasetToSingleElement(PrefetchDataset(Endless(g), Numbers(g, 2), types, shapes), types,
                                  shapes)[0];
  }
  return Placeholder(g, DT_FLOAT, {}, "x") + 1;
}

}  // namespace

int Train(const ClientOptions& options) {
  Trainer trainer(options);
  Report report;
  Pace pace(options.per_second);
  while (pace.Next()) {
    const auto start = Clock::now();
    const absl::Status status = trainer.Request();
    report.Count(status, start);
    if (!status.ok()) report.AddError(status.ToString());
    report.PrintIfDue();
  }
  return 0;
}

int Hang(const ClientOptions& options) {
  const std::string kind = options.arguments.empty() ? "queue" : options.arguments[0];
  Report report;
  Graph g;
  const Output awaited = Awaited(g, kind);
  auto start = Clock::now();
  auto session = Connect(g, options, /*isolated=*/true);
  report.Count(session.status(), start);
  if (!session.ok()) return 1;
  std::unique_ptr<PartialRun> partial;
  std::thread runner;
  if (kind == "partial") {
    start = Clock::now();
    auto run = (*session)->StartPartialRun({"x:0"}, {StrCat(awaited.node->name(), ":0")});
    report.Count(run.status(), start);
    if (run.ok()) partial = *std::move(run);
  } else if (kind != "idle") {
    report.Count(absl::OkStatus(), Clock::now());  // it is sent, and never answered
    runner = std::thread([&] { (*session)->Run({}, {awaited}).status().IgnoreError(); });
  }
  report.Print();
  while (!InputEnds(1000)) {
  }
  (*session)->Close().IgnoreError();
  if (runner.joinable()) runner.join();
  return 0;
}

}  // namespace sluice::soak
