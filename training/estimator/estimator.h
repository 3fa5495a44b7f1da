// Trains, evaluates and exports a model that a function describes.
//
//   absl::StatusOr<EstimatorSpec> Model(const ModelFnInputs& in) {
//     Output loss = …, predictions = …;
//     return EstimatorSpec{.loss = loss, .train_op = Adam({}).Minimize(loss, {…}), …};
//   }
//   Estimator estimator(Model, {.model_dir = "/models/m"});
//   SLUICE_RETURN_IF_ERROR(estimator.Train(TrainInput, {.max_steps = 10'000}));
//   absl::StatusOr<EvaluationResult> result = estimator.Evaluate(TestInput);
//
// Each call builds its own graph and session. Calls share only the checkpoints in `model_dir`.
// Reference: tf.estimator.Estimator.
//
// Thread safety: none. Several processes, such as a trainer and an evaluator, may share a folder.
// Errors: those of the functions, the graph and the steps, unchanged. INVALID_ARGUMENT if a spec
// lacks what its mode needs, or if options exclude each other.
#ifndef SLUICE_TRAINING_ESTIMATOR_ESTIMATOR_H_
#define SLUICE_TRAINING_ESTIMATOR_ESTIMATOR_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "training/checkpoint/saved_model.h"
#include "training/estimator/run_config.h"
#include "training/metrics/metrics.h"
#include "training/session/checkpoint_saver_hook.h"
#include "training/session/scaffold.h"
#include "training/session/session_run_hook.h"

namespace sluice {

// Purpose of a graph: "train", "eval", "infer".
enum class ModeKeys { kTrain, kEval, kPredict };
std::string_view ModeName(ModeKeys mode);

// Tensors by name.
using NamedOutputs = std::map<std::string, Output>;
using NamedTensors = std::map<std::string, Tensor>;

struct ModelFnInputs {
  Graph& graph;
  const NamedOutputs& features;
  const NamedOutputs& labels;  // empty for prediction
  ModeKeys mode;
  const RunConfig& config;
};

// The parts of a model for one mode.
struct EstimatorSpec {
  NamedOutputs predictions;                    // required for prediction
  Output loss;                                 // required for training and evaluation; a scalar
  Operation train_op;                          // required for training
  std::map<std::string, Metric> eval_metrics;  // in addition to the mean loss
  std::map<std::string, Signature> export_outputs;
  SessionRunHooks training_hooks, training_chief_hooks, evaluation_hooks, prediction_hooks;
  std::shared_ptr<Scaffold> scaffold;
};
using ModelFn = std::function<absl::StatusOr<EstimatorSpec>(const ModelFnInputs& inputs)>;

// The input part of a graph. OUT_OF_RANGE from it ends the call normally.
struct InputBatch {
  NamedOutputs features;
  NamedOutputs labels;
  SessionRunHooks hooks;  // for example a hook that feeds
};
using InputFn = std::function<absl::StatusOr<InputBatch>(Graph& graph)>;

struct TrainOptions {
  SessionRunHooks hooks;
  // At most one of the two: a number of further steps, or a final global step. Neither: until the
  // input ends.
  std::optional<int64_t> steps;
  std::optional<int64_t> max_steps;
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners;
};

struct EvaluateOptions {
  std::optional<int64_t> steps;  // nullopt: until the input ends
  SessionRunHooks hooks;
  std::string checkpoint_path;  // "": the latest in model_dir
  std::string name;             // distinguishes data sets: "eval_<name>"
};

// A scalar per metric, of the metric's type, including "loss".
struct EvaluationResult {
  NamedTensors metrics;
  int64_t global_step = 0;
  std::string checkpoint_path;
  // The value of a scalar numeric metric. NOT_FOUND.
  absl::StatusOr<double> Value(const std::string& metric) const;
};

struct PredictOptions {
  std::vector<std::string> keys;  // of the requested predictions; empty: all
  SessionRunHooks hooks;
  std::string checkpoint_path;
  // Calls the sink once per example instead of once per batch: splits dimension 0.
  bool yield_single_examples = true;
};
// Returns false to end the prediction.
using PredictionSink = std::function<absl::StatusOr<bool>(const NamedTensors& prediction)>;

class Estimator {
 public:
  Estimator(ModelFn model_fn, RunConfig config);
  const std::string& model_dir() const { return config_.model_dir; }
  const RunConfig& config() const { return config_; }

  // Continues from the latest checkpoint. Returns the loss of the last step.
  absl::StatusOr<double> Train(const InputFn& input_fn, const TrainOptions& options = {});
  // Also writes the result to the events of "<model_dir>/eval", if events are enabled. NOT_FOUND
  // "Could not find trained model in model_dir: <dir>." if there is no checkpoint.
  absl::StatusOr<EvaluationResult> Evaluate(const InputFn& input_fn,
                                            const EvaluateOptions& options = {});
  absl::Status Predict(const InputFn& input_fn, const PredictionSink& sink,
                       const PredictOptions& options = {});
  // Writes a SavedModel to a new folder below `export_dir_base`, named by the time, and returns its
  // path. `serving_input_fn` creates the placeholders that a server feeds.
  absl::StatusOr<std::string> ExportSavedModel(const std::string& export_dir_base,
                                               const InputFn& serving_input_fn,
                                               const std::string& checkpoint_path = "");

  // NOT_FOUND if there is none.
  absl::StatusOr<std::string> LatestCheckpoint() const;
  absl::StatusOr<std::vector<std::string>> GetVariableNames() const;
  absl::StatusOr<Tensor> GetVariableValue(const std::string& name) const;

 private:
  absl::StatusOr<EstimatorSpec> CallModel(Graph& graph, const InputBatch& batch, ModeKeys mode);
  absl::StatusOr<std::string> CheckpointToUse(const std::string& given) const;
  absl::Status WriteEvaluation(const EvaluationResult& result, const std::string& name) const;

  const ModelFn model_fn_;
  RunConfig config_;
};

struct TrainSpec {
  InputFn input_fn;
  std::optional<int64_t> max_steps;
  SessionRunHooks hooks;
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners;
};

struct EvalSpec {
  InputFn input_fn;
  std::optional<int64_t> steps = 100;
  std::string name;
  SessionRunHooks hooks;
  // Called after each evaluation, for example to export the model.
  std::function<absl::Status(Estimator& estimator, const EvaluationResult& result)> after;
  // Minimum time between two evaluations in one process. Evaluations follow saved checkpoints.
  double throttle_secs = 600;
};

// Runs the part of the task that the configuration names. Returns the last evaluation if this task
// evaluates.
// - One process: trains, and evaluates at checkpoints, at least at the last one.
// - Cluster: a chief or worker trains. An evaluator evaluates each new checkpoint until one has
//   reached max_steps.
// Reference: tf.estimator.train_and_evaluate.
absl::StatusOr<std::optional<EvaluationResult>> TrainAndEvaluate(Estimator& estimator,
                                                                 const TrainSpec& train,
                                                                 const EvalSpec& eval,
                                                                 Clock* clock = &Clock::Real());

}  // namespace sluice

#endif  // SLUICE_TRAINING_ESTIMATOR_ESTIMATOR_H_
