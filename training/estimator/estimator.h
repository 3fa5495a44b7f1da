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
//
// Thread safety: none. Several processes, such as a trainer and an evaluator, may share a folder.
// Ownership: the estimator copies the functions. It shares ownership of hooks and listeners.
// Errors: those of the functions, the graph and the steps, unchanged. INVALID_ARGUMENT if a spec
// lacks what its mode needs, or if options exclude each other.
// Reference: tf.estimator.Estimator.
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

// The purpose for which a model function builds a graph.
enum class ModeKeys { kTrain, kEval, kPredict };
// Returns "train", "eval" or "infer".
std::string_view ModeName(ModeKeys mode);

// Tensors by name.
using NamedOutputs = std::map<std::string, Output>;
using NamedTensors = std::map<std::string, Tensor>;

// The arguments of a model function. The references are valid during the call.
struct ModelFnInputs {
  Graph& graph;
  const NamedOutputs& features;
  // Empty for prediction.
  const NamedOutputs& labels;
  ModeKeys mode;
  const RunConfig& config;
};

// The parts of a model for one mode. If a part that the mode requires is absent, the call ends with
// INVALID_ARGUMENT "Missing loss." or similar.
struct EstimatorSpec {
  // Required for prediction. The predictions for a batch, by the names under which Predict passes
  // them to its PredictionSink.
  NamedOutputs predictions;
  // A scalar. Required for training and evaluation.
  Output loss;
  // One training step, which must increment the global step. Required for training.
  Operation train_op;
  // Metrics in addition to "loss", which is the mean loss.
  std::map<std::string, Metric> eval_metrics;

  // Signatures of an exported model, by name. If there are none, the model has the signature
  // "serving_default" with all predictions as outputs. A signature without inputs gets the features
  // as inputs.
  std::map<std::string, Signature> export_outputs;
  SessionRunHooks training_hooks, training_chief_hooks, evaluation_hooks, prediction_hooks;
  // Init ops, saver and summaries of the model. Null: the defaults.
  std::shared_ptr<Scaffold> scaffold;
};
// A model function: adds the model to `inputs.graph` and returns its parts. Each call of Train,
// Evaluate, Predict or ExportSavedModel calls it once, with a new graph.
using ModelFn = std::function<absl::StatusOr<EstimatorSpec>(const ModelFnInputs& inputs)>;

// The input part of a graph: the tensors of one batch. Train, Evaluate and Predict end normally
// when a step ends with OUT_OF_RANGE, as it does at the end of the input.
struct InputBatch {
  NamedOutputs features;
  NamedOutputs labels;
  // Hooks that the loop calls in addition, for example one that feeds the batch.
  SessionRunHooks hooks;
};

// An input function: adds the input part to the graph. Each call of Train, Evaluate, Predict or
// ExportSavedModel calls it once, with a new graph.
//
//   absl::StatusOr<InputBatch> TrainInput(Graph& g) {
//     OutputList batch = input::ShuffleBatch({image, label}, 32, 10'000, 1'000);
//     return InputBatch{.features = {{"image", batch[0]}}, .labels = {{"label", batch[1]}}};
//   }
using InputFn = std::function<absl::StatusOr<InputBatch>(Graph& graph)>;

struct TrainOptions {
  SessionRunHooks hooks;

  // The end of training: after a number of further steps, or at a final global step. Set at most
  // one of the two, to a positive number. With neither, training ends with the input. If the latest
  // checkpoint has reached max_steps, Train does nothing.
  std::optional<int64_t> steps;
  std::optional<int64_t> max_steps;
  // Called before and after each checkpoint is saved.
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners;
};

struct EvaluateOptions {
  // The number of batches to evaluate. Nullopt: all until the input ends.
  std::optional<int64_t> steps;
  SessionRunHooks hooks;
  // "": the latest checkpoint in model_dir.
  std::string checkpoint_path;
  // Distinguishes data sets: if not empty, events are written to "<model_dir>/eval_<name>".
  std::string name;
};

struct EvaluationResult {
  // The value of each metric, by name. "loss" is one of them.
  NamedTensors metrics;
  int64_t global_step = 0;
  std::string checkpoint_path;
  // The value of a scalar numeric metric. NOT_FOUND if there is no such metric.
  absl::StatusOr<double> Value(const std::string& metric) const;
};

struct PredictOptions {
  // The names of the predictions to compute. Empty: all.
  std::vector<std::string> keys;
  SessionRunHooks hooks;
  // "": the latest checkpoint in model_dir.
  std::string checkpoint_path;
  // Whether the sink is called once per example, with a row of each prediction along dimension 0.
  // Otherwise it is called once per batch.
  bool yield_single_examples = true;
};
// Receives the predictions for one example or batch. Returns false to end the prediction.
using PredictionSink = std::function<absl::StatusOr<bool>(const NamedTensors& prediction)>;

class Estimator {
 public:
  // Without a `model_dir`, uses a new temporary folder and logs its name.
  Estimator(ModelFn model_fn, RunConfig config);
  const std::string& model_dir() const { return config_.model_dir; }
  const RunConfig& config() const { return config_; }

  // Trains from the latest checkpoint, or from initial values if there is none, and saves a
  // checkpoint at the end, unless the configuration disables checkpoints. Returns the loss of the
  // last step, and 0 if there was no step. INTERNAL "NaN loss during training." if the loss becomes
  // NaN.
  absl::StatusOr<double> Train(const InputFn& input_fn, const TrainOptions& options = {});

  // Restores a checkpoint and computes the metrics over the input. If events are enabled, also
  // writes the result to an event file in "<model_dir>/eval" (see EvaluateOptions::name). NOT_FOUND
  // "Could not find trained model in model_dir: <dir>." if there is no checkpoint.
  absl::StatusOr<EvaluationResult> Evaluate(const InputFn& input_fn,
                                            const EvaluateOptions& options = {});

  // Calls `sink` with the predictions of each example or batch, until the input ends or the sink
  // returns false. An error of the sink ends the call. NOT_FOUND as for Evaluate.
  absl::Status Predict(const InputFn& input_fn, const PredictionSink& sink,
                       const PredictOptions& options = {});

  // Writes a SavedModel to a new folder below `export_dir_base`, named by the time in seconds, and
  // returns its path. The folder appears when it is complete. `serving_input_fn` creates the
  // placeholders that a server feeds. Variables have the values of `checkpoint_path`, or of the
  // latest checkpoint; NOT_FOUND as for Evaluate.
  absl::StatusOr<std::string> ExportSavedModel(const std::string& export_dir_base,
                                               const InputFn& serving_input_fn,
                                               const std::string& checkpoint_path = "");

  // The path of the latest checkpoint in model_dir, the names of its variables, and the value of a
  // variable. NOT_FOUND if there is no checkpoint.
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

// The training part of TrainAndEvaluate: the input function of Train, and fields of TrainOptions.
struct TrainSpec {
  InputFn input_fn;
  std::optional<int64_t> max_steps;
  SessionRunHooks hooks;
  std::vector<std::shared_ptr<CheckpointSaverListener>> saving_listeners;
};

// The evaluation part of TrainAndEvaluate. `name` and `hooks` are those of EvaluateOptions.
struct EvalSpec {
  InputFn input_fn;
  // Batches per evaluation. Nullopt: until the input ends.
  std::optional<int64_t> steps = 100;
  std::string name;
  SessionRunHooks hooks;
  // Called after each evaluation, for example to export the model.
  std::function<absl::Status(Estimator& estimator, const EvaluationResult& result)> after;
  // A process that also trains evaluates a saved checkpoint only if this time has passed since the
  // start or its last evaluation. An evaluator looks for a new checkpoint at intervals of this
  // length.
  double throttle_secs = 600;
};

// Trains or evaluates, depending on the task that RunConfig::task assigns to this process. Returns
// the result of the last evaluation, or nullopt if this task evaluated nothing.
// - One process: trains, and evaluates some of the saved checkpoints, at least the last one.
// - Cluster: a chief or worker trains. An evaluator evaluates each new checkpoint until one has
//   reached max_steps, or without end if max_steps is not set.
//
//   SLUICE_ASSIGN_OR_RETURN(RunConfig config, RunConfig::FromEnvironment());   // TF_CONFIG
//   config.model_dir = "/models/m";
//   Estimator estimator(Model, config);
//   auto last = TrainAndEvaluate(estimator, {.input_fn = TrainInput, .max_steps = 10'000},
//                                {.input_fn = TestInput});
//
// The program is the same for all tasks. Errors: those of Train and Evaluate. INVALID_ARGUMENT on a
// parameter server, which runs a Server instead. Reference: tf.estimator.train_and_evaluate.
absl::StatusOr<std::optional<EvaluationResult>> TrainAndEvaluate(Estimator& estimator,
                                                                 const TrainSpec& train,
                                                                 const EvalSpec& eval,
                                                                 Clock* clock = &Clock::Real());

}  // namespace sluice

#endif  // SLUICE_TRAINING_ESTIMATOR_ESTIMATOR_H_
