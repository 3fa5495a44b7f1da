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
// Each call makes a graph and a session of its own; what passes from one to the next are the
// checkpoints in `model_dir`.
// Reference behaviour: tf.estimator.Estimator.
//
// Thread safety: none; but several processes (a trainer and an evaluator) may share a folder.
// Errors: those of the functions, of the graph and of the steps, as they come; INVALID_ARGUMENT for
// a spec that lacks what its mode needs, or options that exclude each other.
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

// What the model is built for: "train", "eval", "infer".
enum class ModeKeys { kTrain, kEval, kPredict };
std::string_view ModeName(ModeKeys mode);

// Tensors by name.
using NamedOutputs = std::map<std::string, Output>;
using NamedTensors = std::map<std::string, Tensor>;

struct ModelFnInputs {
  Graph& graph;
  const NamedOutputs& features;
  const NamedOutputs& labels;  // empty when predicting
  ModeKeys mode;
  const RunConfig& config;
};

// What a model is, in one mode.
struct EstimatorSpec {
  NamedOutputs predictions;                    // needed to predict
  Output loss;                                 // needed to train and to evaluate; a scalar
  Operation train_op;                          // needed to train
  std::map<std::string, Metric> eval_metrics;  // beside the mean loss
  std::map<std::string, Signature> export_outputs;
  SessionRunHooks training_hooks, training_chief_hooks, evaluation_hooks, prediction_hooks;
  std::shared_ptr<Scaffold> scaffold;
};
using ModelFn = std::function<absl::StatusOr<EstimatorSpec>(const ModelFnInputs& inputs)>;

// Makes the input's part of a graph. Its end (OUT_OF_RANGE) is the end of a call.
struct InputBatch {
  NamedOutputs features;
  NamedOutputs labels;
  SessionRunHooks hooks;  // e.g. one that feeds
};
using InputFn = std::function<absl::StatusOr<InputBatch>(Graph& graph)>;

struct TrainOptions {
  SessionRunHooks hooks;
  // At most one: so many steps more, or until the global step has this value. Neither: until the
  // input ends.
  std::optional<int64_t> steps;
  std::optional<int64_t> max_steps;
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners;
};

struct EvaluateOptions {
  std::optional<int64_t> steps;  // nullopt: until the input ends
  SessionRunHooks hooks;
  std::string checkpoint_path;  // "": the latest of model_dir
  std::string name;             // of this data set, if there are several: "eval_<name>"
};

// By metric, "loss" among them; each a scalar, of the metric's type.
struct EvaluationResult {
  NamedTensors metrics;
  int64_t global_step = 0;
  std::string checkpoint_path;
  // Of a scalar metric that is a number. NOT_FOUND.
  absl::StatusOr<double> Value(const std::string& metric) const;
};

struct PredictOptions {
  std::vector<std::string> keys;  // of the predictions wanted; empty: all
  SessionRunHooks hooks;
  std::string checkpoint_path;
  // One call an example, instead of one a batch: dimension 0 is taken apart.
  bool yield_single_examples = true;
};
// False: enough.
using PredictionSink = std::function<absl::StatusOr<bool>(const NamedTensors& prediction)>;

class Estimator {
 public:
  Estimator(ModelFn model_fn, RunConfig config);
  const std::string& model_dir() const { return config_.model_dir; }
  const RunConfig& config() const { return config_; }

  // Goes on from the latest checkpoint. The loss of the last step.
  absl::StatusOr<double> Train(const InputFn& input_fn, const TrainOptions& options = {});
  // Writes the result to the events of "<model_dir>/eval" too, if there are any. NOT_FOUND "Could
  // not find trained model in model_dir: <dir>." where nothing was trained.
  absl::StatusOr<EvaluationResult> Evaluate(const InputFn& input_fn,
                                            const EvaluateOptions& options = {});
  absl::Status Predict(const InputFn& input_fn, const PredictionSink& sink,
                       const PredictOptions& options = {});
  // A SavedModel in a new folder, named by the time, below `export_dir_base`; its path. `input_fn`
  // makes the placeholders that are fed when it is served.
  absl::StatusOr<std::string> ExportSavedModel(const std::string& export_dir_base,
                                               const InputFn& serving_input_fn,
                                               const std::string& checkpoint_path = "");

  // NOT_FOUND where there is none.
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
  // After each evaluation; exporters stand here.
  std::function<absl::Status(Estimator& estimator, const EvaluationResult& result)> after;
  // Between evaluations: at the checkpoints that are saved after this time.
  double throttle_secs = 600;
};

// What the task that the configuration names has to do. In one process: trains, and evaluates at
// checkpoints (at least at the last one). In a cluster: a chief or worker trains, an evaluator
// evaluates each new checkpoint until one has reached max_steps. The last evaluation, if this task
// evaluates.
// Reference behaviour: tf.estimator.train_and_evaluate.
absl::StatusOr<std::optional<EvaluationResult>> TrainAndEvaluate(Estimator& estimator,
                                                                 const TrainSpec& train,
                                                                 const EvalSpec& eval,
                                                                 Clock* clock = &Clock::Real());

}  // namespace sluice

#endif  // SLUICE_TRAINING_ESTIMATOR_ESTIMATOR_H_
