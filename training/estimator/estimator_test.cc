#include "training/estimator/estimator.h"

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/math/builders.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/state/variable.h"
#include "training/loop/clock.h"
#include "training/optimizer/gradient_descent.h"
#include "training/session/basic_hooks.h"
#include "training/sync/sync_replicas_optimizer.h"
#include "training/testing/session.h"

namespace sluice {
namespace {

using ::sluice::testing::CapturedLog;
using ::testing::Contains;
using ::testing::HasSubstr;

// A model function, whose model learns y = 2 x + 1.
absl::StatusOr<EstimatorSpec> Line(const ModelFnInputs& in) {
  Graph& g = in.graph;
  Variable w(g, "w", 0.0f), b(g, "b", 0.0f);
  const Output y = in.features.at("x") * w + b;
  EstimatorSpec spec = {.predictions = {{"y", y}}};
  if (in.mode == ModeKeys::kPredict) return spec;
  const Output error = y - in.labels.at("y");
  spec.loss = ReduceMean(Square(error));
  spec.eval_metrics["mae"] = metrics::MeanAbsoluteError(in.labels.at("y"), y);
  if (in.mode == ModeKeys::kEval) return spec;
  Variable step = GlobalStep(g);
  spec.train_op =
      GradientDescent({.learning_rate = 0.1f}).Minimize(spec.loss, {.global_step = &step});
  return spec;
}

// Repeats the same batch `batches` times, or without end if `batches` is negative.
InputFn Points(int batches) {
  return [batches](Graph& g) -> absl::StatusOr<InputBatch> {
    InputBatch batch;
    const Output x = Placeholder(g, DT_FLOAT, {4}, "x");
    const Output y = Placeholder(g, DT_FLOAT, {4}, "labels");
    batch.features["x"] = x;
    batch.labels["y"] = y;
    auto left = std::make_shared<int>(batches);
    batch.hooks.push_back(
        std::make_shared<FeedFnHook>([left, x, y]() -> absl::StatusOr<std::vector<Feed>> {
          if ((*left)-- == 0) return absl::OutOfRangeError("no more points");
          return std::vector<Feed>{{x, Tensor::Vector<float>({0, 1, 2, -1})},
                                   {y, Tensor::Vector<float>({1, 3, 5, -1})}};
        }));
    return batch;
  };
}

struct Fixture {
  Fixture() {
    config.model_dir = (std::filesystem::path(::testing::TempDir()) /
                        ::testing::UnitTest::GetInstance()->current_test_info()->name())
                           .string();
    std::filesystem::remove_all(config.model_dir);
  }
  CapturedLog log;
  RunConfig config;
};

TEST(EstimatorTest, TrainsGoesOnEvaluatesAndPredicts) {
  Fixture f;
  Estimator estimator(Line, f.config);
  ASSERT_TRUE(estimator.Train(Points(-1), {.steps = 100}).ok());
  const auto loss = estimator.Train(Points(-1), {.max_steps = 300});
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_LT(*loss, 1e-6);

  const auto result = estimator.Evaluate(Points(3));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step, 300);
  EXPECT_LT(*result->Value("loss"), 1e-6);
  EXPECT_LT(*result->Value("mae"), 1e-3);
  EXPECT_EQ(result->Value("none").status().code(), absl::StatusCode::kNotFound);

  std::vector<float> seen;
  const absl::Status predicted =
      estimator.Predict(Points(2), [&](const NamedTensors& p) -> absl::StatusOr<bool> {
        EXPECT_EQ(p.at("y").rank(), 0);
        seen.push_back(p.at("y").scalar<float>());
        return seen.size() < 6;
      });
  ASSERT_TRUE(predicted.ok()) << predicted;
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_NEAR(seen[2], 5, 1e-2);
  EXPECT_NEAR(seen[4], 1, 1e-2);

  const auto w = estimator.GetVariableValue("w");
  ASSERT_TRUE(w.ok()) << w.status();
  EXPECT_NEAR(w->scalar<float>(), 2, 1e-2);
  EXPECT_THAT(*estimator.GetVariableNames(), Contains("global_step"));
}

int EventFilesIn(const std::string& folder) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    files += file.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
  }
  return files;
}

TEST(EstimatorTest, TrainingAndEvaluationWriteEventFiles) {
  Fixture f;
  Estimator estimator(Line, f.config);
  ASSERT_TRUE(estimator.Train(Points(-1), {.steps = 2}).ok());
  EXPECT_EQ(EventFilesIn(f.config.model_dir), 1);
  ASSERT_TRUE(estimator.Evaluate(Points(1)).ok());
  EXPECT_EQ(EventFilesIn(f.config.model_dir + "/eval"), 1);
  f.config.model_dir += "_silent";
  f.config.open_events = nullptr;
  ASSERT_TRUE(Estimator(Line, f.config).Train(Points(-1), {.steps = 2}).ok());
  EXPECT_EQ(EventFilesIn(f.config.model_dir), 0);
}

// Passes the hook to the estimator, as the documentation of TensorFlow's SyncReplicasOptimizer
// does.
TEST(EstimatorTest, SynchronousReplicasTrainThroughTheirHook) {
  Fixture f;
  std::shared_ptr<SyncReplicasOptimizer> optimizer;
  const ModelFn model = [&](const ModelFnInputs& in) -> absl::StatusOr<EstimatorSpec> {
    SLUICE_ASSIGN_OR_RETURN(EstimatorSpec spec, Line(in));
    optimizer = std::make_shared<SyncReplicasOptimizer>(
        GradientDescent({.learning_rate = 0.1f}), SyncReplicasOptions{.replicas_to_aggregate = 1});
    const Variable step = GlobalStep(in.graph);
    if (spec.loss) spec.train_op = optimizer->Minimize(spec.loss, {.global_step = &step});
    if (in.mode != ModeKeys::kTrain) return spec;
    spec.training_hooks = {optimizer->MakeSessionRunHook(in.config.task.is_chief)};
    return spec;
  };
  Estimator estimator(model, f.config);
  const auto loss = estimator.Train(Points(-1), {.max_steps = 300});
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_LT(*loss, 1e-6);
  EXPECT_THAT(estimator.LatestCheckpoint().value_or("none"), HasSubstr("model.ckpt-300"));
  // Evaluation works without the hook's queue runner.
  const auto result = estimator.Evaluate(Points(3));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step, 300);
}

TEST(EstimatorTest, TrainingThatHasItsStepsIsSkipped) {
  Fixture f;
  Estimator estimator(Line, f.config);
  ASSERT_TRUE(estimator.Train(Points(-1), {.max_steps = 5}).ok());
  ASSERT_TRUE(estimator.Train(Points(-1), {.max_steps = 5}).ok());
  EXPECT_THAT(f.log.text(), HasSubstr("Skipping training since max_steps has already saved."));
}

TEST(EstimatorTest, TheEndOfTheInputEndsTraining) {
  Fixture f;
  Estimator estimator(Line, f.config);
  ASSERT_TRUE(estimator.Train(Points(7)).ok());
  const auto result = estimator.Evaluate(Points(1));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->global_step, 7);
}

TEST(EstimatorTest, ExportsAModelThatOthersServe) {
  Fixture f;
  Estimator estimator(Line, f.config);
  ASSERT_TRUE(estimator.Train(Points(-1), {.steps = 200}).ok());
  const auto folder = estimator.ExportSavedModel(f.config.model_dir + "/export", Points(0));
  ASSERT_TRUE(folder.ok()) << folder.status();
  Graph g;
  const auto model = LoadSavedModel(*folder, {"serve"}, g);
  ASSERT_TRUE(model.ok()) << model.status();
  Session session(g);
  ASSERT_TRUE(model->Restore(session).ok());
  const auto signature = model->FindSignature("serving_default");
  ASSERT_TRUE(signature.ok()) << signature.status();
  const auto out = session.Run({{signature->inputs.at("x"), Tensor::Vector<float>({3, 4, 5, 6})}},
                               {signature->outputs.at("y")});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_NEAR((*out)[0].data<float>()[0], 7, 0.1);
}

TEST(EstimatorTest, TrainsAndEvaluatesInOneProcess) {
  Fixture f;
  f.config.save_checkpoints_steps = 10;
  Estimator estimator(Line, f.config);
  std::vector<int64_t> steps;
  const auto result = TrainAndEvaluate(estimator, {.input_fn = Points(-1), .max_steps = 30},
                                       {.input_fn = Points(2),
                                        .after =
                                            [&](Estimator&, const EvaluationResult& r) {
                                              steps.push_back(r.global_step);
                                              return absl::OkStatus();
                                            },
                                        .throttle_secs = 0});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(steps, ::testing::ElementsAre(10, 20, 30));
  EXPECT_EQ((*result)->global_step, 30);
}

// Returns a spec whose evaluations record their steps in `steps`.
EvalSpec EvaluationInto(std::vector<int64_t>& steps, double throttle_secs) {
  return {.input_fn = Points(2),
          .after =
              [&steps](Estimator&, const EvaluationResult& result) {
                steps.push_back(result.global_step);
                return absl::OkStatus();
              },
          .throttle_secs = throttle_secs};
}

TEST(EstimatorTest, AnEvaluatorEvaluatesEachNewCheckpointUntilOneHasAllSteps) {
  Fixture f;
  Estimator trainer(Line, f.config);
  f.config.task.task_type = kEvaluatorTask;
  f.config.task.is_chief = false;
  Estimator evaluator(Line, f.config);
  ManualClock clock;
  std::vector<int64_t> steps;
  absl::StatusOr<std::optional<EvaluationResult>> result;
  std::thread evaluating([&] {
    result = TrainAndEvaluate(evaluator, {.input_fn = Points(-1), .max_steps = 20},
                              EvaluationInto(steps, /*throttle_secs=*/60), &clock);
  });
  clock.AwaitWaits(1);  // there is no checkpoint yet
  EXPECT_THAT(steps, ::testing::IsEmpty());
  ASSERT_TRUE(trainer.Train(Points(-1), {.max_steps = 10}).ok());
  clock.Advance(std::chrono::seconds(60));
  clock.AwaitWaits(2);
  EXPECT_THAT(steps, ::testing::ElementsAre(10));
  clock.Advance(std::chrono::seconds(60));
  clock.AwaitWaits(3);  // there is no new checkpoint
  EXPECT_THAT(steps, ::testing::ElementsAre(10));
  ASSERT_TRUE(trainer.Train(Points(-1), {.max_steps = 20}).ok());
  clock.Advance(std::chrono::seconds(60));
  evaluating.join();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(steps, ::testing::ElementsAre(10, 20));
  EXPECT_EQ((*result)->global_step, 20);
}

TEST(EstimatorTest, ATaskOfAClusterTrainsAtItsServerAndLeavesEvaluationToTheEvaluator) {
  Fixture f;
  f.config.task = *TaskConfig::Parse(R"({"cluster": {"chief": ["a:1"], "worker": ["b:1"]},
                                         "task": {"type": "chief", "index": 0}})");
  std::vector<std::string> masters;
  f.config.make_session = [&](Graph& graph, const SessionTarget& target) {
    masters.push_back(target.master);
    return std::make_unique<Session>(graph, target.config);
  };
  std::vector<int64_t> steps;
  Estimator chief(Line, f.config);
  const auto result = TrainAndEvaluate(chief, {.input_fn = Points(-1), .max_steps = 5},
                                       EvaluationInto(steps, /*throttle_secs=*/0));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->has_value());
  EXPECT_THAT(masters, ::testing::ElementsAre("grpc://a:1"));
  EXPECT_THAT(steps, ::testing::IsEmpty());
  EXPECT_THAT(chief.LatestCheckpoint().value_or("none"), HasSubstr("model.ckpt-5"));
}

// Each worker's global step was once a variable of its own task, so that workers other than the
// chief waited forever for its first value.
TEST(EstimatorTest, ParameterServersNeedAFunctionThatPlacesVariables) {
  Fixture f;
  const char* cluster = R"({"cluster": {"chief": ["a:1"], "ps": ["b:1", "c:1"]},
                            "task": {"type": "%s", "index": 0}})";
  f.config.task = *TaskConfig::Parse(absl::StrReplaceAll(cluster, {{"%s", "chief"}}));
  EXPECT_EQ(Estimator(Line, f.config).Train(Points(1)).status(),
            absl::InvalidArgumentError("Estimator: expected RunConfig::device_fn (ReplicaDevices) "
                                       "for a cluster with 2 parameter servers, got none"));
  f.config.task = *TaskConfig::Parse(absl::StrReplaceAll(cluster, {{"%s", "ps"}}));
  Estimator ps(Line, f.config);
  EXPECT_EQ(
      TrainAndEvaluate(ps, {.input_fn = Points(1)}, {.input_fn = Points(1)}).status(),
      absl::InvalidArgumentError("TrainAndEvaluate: a ps task holds variables: run a Server and "
                                 "wait for it to end"));
}

TEST(EstimatorTest, SaysWhatIsMissing) {
  Fixture f;
  Estimator estimator(Line, f.config);
  EXPECT_EQ(estimator.Evaluate(Points(1)).status().message(),
            StrCat("Could not find trained model in model_dir: ", f.config.model_dir, "."));
  EXPECT_EQ(estimator.Train(Points(1), {.steps = 1, .max_steps = 1}).status().message(),
            "Can not provide both steps and max_steps.");
  EXPECT_EQ(estimator.Train(Points(1), {.steps = 0}).status().message(),
            "Must specify steps > 0, given: 0");
  Estimator empty(
      [](const ModelFnInputs&) -> absl::StatusOr<EstimatorSpec> { return EstimatorSpec(); },
      f.config);
  EXPECT_EQ(empty.Train(Points(1)).status().message(), "Missing train_op.");
  const EvaluationResult result{.metrics = {{"none", Tensor(DT_FLOAT, TensorShape({0}))},
                                            {"one", Tensor::Vector<float>({3})}}};
  EXPECT_THAT(std::string(result.Value("none").status().message()),
              HasSubstr("must be one number, but its shape is [0]"));
  EXPECT_EQ(*result.Value("one"), 3);
}

TEST(EstimatorTest, ATemporaryFolderNeedsNoTmpdir) {
  const CapturedLog log;
  const char* const before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  setenv("TMPDIR", "/no/such/folder", 1);
  const Estimator estimator(Line, {});
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", old.c_str(), 1);
  EXPECT_TRUE(std::filesystem::is_directory(estimator.config().model_dir));
  std::filesystem::remove(estimator.config().model_dir);
}

}  // namespace
}  // namespace sluice
