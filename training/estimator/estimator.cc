#include "training/estimator/estimator.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "executor/files/files.h"
#include "graph/build/group.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/state/variable.h"
#include "training/checkpoint/checkpoint_reader.h"
#include "training/checkpoint/checkpoint_state.h"
#include "training/loop/log.h"
#include "training/session/basic_hooks.h"
#include "training/session/logging_tensor_hook.h"
#include "training/session/monitored_training_session.h"

namespace sluice {
namespace {

absl::Status CheckSpec(const EstimatorSpec& spec, ModeKeys mode) {
  SLUICE_INVALID_IF(mode == ModeKeys::kTrain && !spec.train_op, "Missing train_op.");
  if (mode != ModeKeys::kPredict) {
    SLUICE_INVALID_IF(!spec.loss, "Missing loss.");
    SLUICE_INVALID_IF(spec.loss.shape().rank_known() && spec.loss.shape().num_elements() != 1,
                      "Loss must be scalar, given: ", spec.loss.name(), " of shape ",
                      spec.loss.shape().ToString());
  } else if (spec.predictions.empty()) {
    return InvalidArgument("Missing predictions.");
  }
  for (const auto& [name, metric] : spec.eval_metrics) {
    SLUICE_INVALID_IF(!metric.value || !metric.update, "eval metric '", name,
                      "' must have a value and an update");
  }
  return absl::OkStatus();
}

absl::Status CheckPositive(std::optional<int64_t> value, const char* name) {
  if (!value || *value > 0) return absl::OkStatus();
  return InvalidArgument("Must specify ", name, " > 0, given: ", *value);
}

// Returns the spec's scaffold, with the saver that the configuration describes.
std::shared_ptr<Scaffold> ScaffoldOf(const EstimatorSpec& spec, const RunConfig& config) {
  auto scaffold = spec.scaffold ? spec.scaffold : std::make_shared<Scaffold>();
  if (scaffold->saver()) return scaffold;
  auto saver = std::make_shared<Saver>(
      SaverOptions{.sharded = true,
                   .max_to_keep = config.keep_checkpoint_max,
                   .keep_checkpoint_every_n_hours = config.keep_checkpoint_every_n_hours,
                   .save_relative_paths = true,
                   .allow_empty = true});
  return std::make_shared<Scaffold>(*scaffold, ScaffoldOptions{.saver = std::move(saver)});
}

void Append(const SessionRunHooks& more, SessionRunHooks& hooks) {
  hooks.insert(hooks.end(), more.begin(), more.end());
}

bool HasCheckpointSaver(const SessionRunHooks& hooks) {
  for (const auto& hook : hooks) {
    if (dynamic_cast<const CheckpointSaverHook*>(hook.get()) != nullptr) return true;
  }
  return false;
}

Every CheckpointsEvery(const RunConfig& config) {
  if (!config.save_checkpoints_steps && !config.save_checkpoints_secs) return {.secs = 600};
  Every every;
  if (config.save_checkpoints_steps.value_or(0) > 0) every.steps = config.save_checkpoints_steps;
  if (config.save_checkpoints_secs.value_or(0) > 0) every.secs = config.save_checkpoints_secs;
  return every;
}

SessionTarget TargetOf(const RunConfig& config) {
  return {
      .master = config.task.master, .config = config.session_config, .make = config.make_session};
}

// Returns the number after the last '-', for example 100 for "model.ckpt-100".
int64_t StepOfCheckpoint(const std::string& path) {
  const size_t dash = path.rfind('-');
  return dash == std::string::npos ? 0 : std::atoll(path.c_str() + dash + 1);
}

absl::StatusOr<double> ScalarOf(const Tensor& value) {
  SLUICE_INVALID_IF(value.num_elements() != 1,
                    "a loss or metric must be one number, but its shape ", "is ",
                    value.shape().ToString());
  switch (value.dtype()) {
    case DT_FLOAT:
      return value.scalar<float>();
    case DT_DOUBLE:
      return value.scalar<double>();
    case DT_INT32:
      return value.scalar<int32_t>();
    case DT_INT64:
      return static_cast<double>(value.scalar<int64_t>());
    default:
      return InvalidArgument("a metric of type ", DataTypeName(value.dtype()), " is no number");
  }
}

// Returns row `i` of each tensor.
NamedTensors ExampleOf(const NamedTensors& batch, int64_t i) {
  NamedTensors example;
  for (const auto& [name, tensor] : batch) {
    TensorShape shape;
    for (int d = 1; d < tensor.rank(); ++d) shape.AddDim(tensor.dim(d));
    example[name] = tensor.SliceRows(i, i + 1).Reshaped(shape);
  }
  return example;
}

absl::StatusOr<int64_t> BatchSizeOf(const NamedTensors& batch) {
  std::optional<int64_t> size;
  for (const auto& [name, tensor] : batch) {
    SLUICE_INVALID_IF(tensor.rank() == 0 || size.value_or(tensor.dim(0)) != tensor.dim(0),
                      "Batch length of predictions should be same. Prediction '", name,
                      "' has shape ", tensor.shape().ToString());
    size = tensor.dim(0);
  }
  return size.value_or(0);
}

std::string TemporaryFolder() {
  std::error_code error;  // of a TMPDIR that is no folder
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string pattern = JoinPath(error ? "/tmp" : parent.string(), "estimator_XXXXXX");
  const char* made = mkdtemp(pattern.data());
  return made == nullptr ? std::string() : pattern;
}

}  // namespace

std::string_view ModeName(ModeKeys mode) {
  switch (mode) {
    case ModeKeys::kTrain:
      return "train";
    case ModeKeys::kEval:
      return "eval";
    case ModeKeys::kPredict:
      return "infer";
  }
  return "";
}

absl::StatusOr<double> EvaluationResult::Value(const std::string& metric) const {
  const auto it = metrics.find(metric);
  if (it == metrics.end()) return absl::NotFoundError(StrCat("no metric '", metric, "'"));
  return ScalarOf(it->second);
}

Estimator::Estimator(ModelFn model_fn, RunConfig config)
    : model_fn_(std::move(model_fn)), config_(std::move(config)) {
  if (!config_.model_dir.empty()) return;
  config_.model_dir = TemporaryFolder();
  LogWarning("Using temporary folder as model directory: ", config_.model_dir);
}

absl::StatusOr<EstimatorSpec> Estimator::CallModel(Graph& graph, const InputBatch& batch,
                                                   ModeKeys mode) {
  SLUICE_INVALID_IF(!model_fn_, "model_fn must be provided to Estimator.");
  SLUICE_INVALID_IF(config_.model_dir.empty(),
                    "Estimator: expected a model_dir, because no temporary folder could be made");
  static const auto* none = new NamedOutputs;
  SLUICE_ASSIGN_OR_RETURN(
      EstimatorSpec spec,
      model_fn_({graph, batch.features, mode == ModeKeys::kPredict ? *none : batch.labels, mode,
                 config_}));
  SLUICE_RETURN_IF_ERROR(graph.status());
  SLUICE_RETURN_IF_ERROR(CheckSpec(spec, mode));
  return spec;
}

namespace {

void AddTrainingHooks(const RunConfig& config, const EstimatorSpec& spec, const Variable& step,
                      const TrainOptions& options, SessionRunHooks& hooks) {
  Append(options.hooks, hooks);
  hooks.push_back(StopOnNan(spec.loss));
  if (config.log_step_count_steps > 0) {
    hooks.push_back(std::make_shared<LoggingTensorHook>(
        TaggedTensors{{"loss", spec.loss}, {"step", step.Read()}},
        LoggingTensorOptions{.every = {.steps = config.log_step_count_steps},
                             .last_step = options.max_steps}));
  }
  Append(spec.training_hooks, hooks);
  if (options.steps) hooks.push_back(StopAfterSteps(*options.steps));
  if (options.max_steps) hooks.push_back(StopAtStep(*options.max_steps));
}

// Adds a CheckpointSaverHook, unless there is one or the configuration disables checkpoints.
void AddCheckpointSaver(const RunConfig& config, const TrainOptions& options,
                        MonitoredTrainingSessionOptions& session) {
  const Every every = CheckpointsEvery(config);
  const bool has_saver =
      HasCheckpointSaver(session.hooks) || HasCheckpointSaver(session.chief_only_hooks);
  if ((!every.steps && !every.secs) || has_saver) return;
  session.chief_only_hooks.insert(session.chief_only_hooks.begin(),
                                  std::make_shared<CheckpointSaverHook>(
                                      CheckpointSaverOptions{.checkpoint_dir = config.model_dir,
                                                             .every = every,
                                                             .scaffold = session.scaffold,
                                                             .listeners = options.saving_listeners,
                                                             .open_events = config.open_events}));
}

}  // namespace

absl::StatusOr<double> Estimator::Train(const InputFn& input_fn, const TrainOptions& options) {
  SLUICE_INVALID_IF(options.steps && options.max_steps,
                    "Can not provide both steps and max_steps.");
  SLUICE_RETURN_IF_ERROR(CheckPositive(options.steps, "steps"));
  SLUICE_RETURN_IF_ERROR(CheckPositive(options.max_steps, "max_steps"));
  SLUICE_INVALID_IF(config_.task.num_ps_replicas > 0 && !config_.device_fn,
                    "Estimator: expected RunConfig::device_fn (ReplicaDevices) for a cluster with ",
                    config_.task.num_ps_replicas, " parameter servers, got none");
  if (const auto latest = LatestCheckpoint(); options.max_steps && latest.ok()) {
    if (StepOfCheckpoint(*latest) >= *options.max_steps) {
      LogInfo("Skipping training since max_steps has already saved.");
      return 0.0;
    }
  }
  Graph graph;
  if (config_.tf_random_seed) graph.SetRandomSeed(*config_.tf_random_seed);
  std::optional<DeviceScope> placed;
  if (config_.device_fn) placed.emplace(graph, config_.device_fn());
  const Variable step = GlobalStep(graph);
  SLUICE_ASSIGN_OR_RETURN(const InputBatch batch, input_fn(graph));
  SLUICE_ASSIGN_OR_RETURN(const EstimatorSpec spec, CallModel(graph, batch, ModeKeys::kTrain));

  MonitoredTrainingSessionOptions session_options = {
      .is_chief = config_.task.is_chief,
      .target = TargetOf(config_),
      .checkpoint_dir = config_.model_dir,
      .scaffold = ScaffoldOf(spec, config_),
      .open_events = config_.open_events,
      .hooks = batch.hooks,
      .chief_only_hooks = spec.training_chief_hooks,
      .save_checkpoint_steps = 0,
      .save_summaries_steps = config_.save_summary_steps,
      .log_step_count_steps = config_.log_step_count_steps};
  AddTrainingHooks(config_, spec, step, options, session_options.hooks);
  AddCheckpointSaver(config_, options, session_options);

  MonitoredTrainingSession session(graph, session_options);
  std::optional<double> loss;
  while (!session.ShouldStop()) {
    const auto out = session.Run({}, {spec.loss}, {spec.train_op});
    if (!out.ok()) break;
    SLUICE_ASSIGN_OR_RETURN(loss, ScalarOf((*out)[0]));
  }
  SLUICE_RETURN_IF_ERROR(session.Close());
  if (!loss) LogWarning("Training with estimator made no steps. Perhaps input is empty.");
  return loss.value_or(0);
}

absl::StatusOr<std::string> Estimator::LatestCheckpoint() const {
  return sluice::LatestCheckpoint(config_.model_dir);
}

absl::StatusOr<std::string> Estimator::CheckpointToUse(const std::string& given) const {
  if (!given.empty()) return given;
  absl::StatusOr<std::string> latest = LatestCheckpoint();
  if (latest.status().code() == absl::StatusCode::kNotFound) {
    return absl::NotFoundError(
        StrCat("Could not find trained model in model_dir: ", config_.model_dir, "."));
  }
  return latest;
}

absl::StatusOr<EvaluationResult> Estimator::Evaluate(const InputFn& input_fn,
                                                     const EvaluateOptions& options) {
  SLUICE_RETURN_IF_ERROR(CheckPositive(options.steps, "steps"));
  EvaluationResult result;
  SLUICE_ASSIGN_OR_RETURN(result.checkpoint_path, CheckpointToUse(options.checkpoint_path));
  Graph graph;
  if (config_.tf_random_seed) graph.SetRandomSeed(*config_.tf_random_seed);
  const Variable step = GlobalStep(graph);
  SLUICE_ASSIGN_OR_RETURN(const InputBatch batch, input_fn(graph));
  SLUICE_ASSIGN_OR_RETURN(EstimatorSpec spec, CallModel(graph, batch, ModeKeys::kEval));
  if (spec.eval_metrics.count("loss") == 0) spec.eval_metrics["loss"] = metrics::Mean(spec.loss);

  std::vector<Operation> updates;
  std::vector<Output> values = {step.Read()};
  for (const auto& [name, metric] : spec.eval_metrics) {
    updates.emplace_back(metric.update);
    values.push_back(metric.value);
  }
  const Operation update = Group(graph, updates, "eval_update");
  auto final_ops = std::make_shared<FinalOpsHook>(values);
  SessionRunHooks hooks = batch.hooks;
  Append(options.hooks, hooks);
  Append(spec.evaluation_hooks, hooks);
  hooks.push_back(final_ops);
  MonitoredSession session(graph,
                           std::make_shared<ChiefSessionCreator>(ChiefSessionCreatorOptions{
                               .scaffold = ScaffoldOf(spec, config_),
                               .target = {.config = config_.session_config},
                               .checkpoint_filename_with_path = result.checkpoint_path}),
                           hooks, {.trains = false});
  int64_t batches = 0;
  while (!session.ShouldStop() && (!options.steps || batches < *options.steps)) {
    if (!session.Run({update}).ok()) break;
    ++batches;
  }
  SLUICE_RETURN_IF_ERROR(session.Close());

  const Tensors& found = final_ops->final_ops_values();
  result.global_step = found[0].scalar<int64_t>();
  size_t i = 1;
  for (const auto& [name, metric] : spec.eval_metrics) result.metrics[name] = found[i++];
  SLUICE_RETURN_IF_ERROR(WriteEvaluation(result, options.name));
  return result;
}

absl::Status Estimator::WriteEvaluation(const EvaluationResult& result,
                                        const std::string& name) const {
  const std::string folder = JoinPath(config_.model_dir, name.empty() ? "eval" : "eval_" + name);
  std::shared_ptr<TrainingEvents> events;
  if (config_.open_events) {
    SLUICE_ASSIGN_OR_RETURN(events, config_.open_events(folder));
  }
  std::string line;
  for (const auto& [metric, value] : result.metrics) {
    if (const auto number = ScalarOf(value); events && number.ok()) {
      SLUICE_RETURN_IF_ERROR(
          events->AddScalar(metric, static_cast<float>(*number), result.global_step));
    }
    StrAppend(&line, ", ", metric, " = ", value.SummarizeValues(3));
  }
  LogInfo("Saving dict for global step ", result.global_step,
          ": global_step = ", result.global_step, line);
  return events ? events->Flush() : absl::OkStatus();
}

absl::Status Estimator::Predict(const InputFn& input_fn, const PredictionSink& sink,
                                const PredictOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(const std::string checkpoint, CheckpointToUse(options.checkpoint_path));
  Graph graph;
  if (config_.tf_random_seed) graph.SetRandomSeed(*config_.tf_random_seed);
  GlobalStep(graph);
  SLUICE_ASSIGN_OR_RETURN(const InputBatch batch, input_fn(graph));
  SLUICE_ASSIGN_OR_RETURN(const EstimatorSpec spec, CallModel(graph, batch, ModeKeys::kPredict));
  std::vector<std::string> names;
  std::vector<Output> fetches;
  for (const auto& [name, output] : spec.predictions) {
    const auto& keys = options.keys;
    if (!keys.empty() && std::find(keys.begin(), keys.end(), name) == keys.end()) continue;
    names.push_back(name);
    fetches.push_back(output);
  }
  SLUICE_INVALID_IF(fetches.empty(),
                    "Expected to run at least one output from the model's predictions");
  SessionRunHooks hooks = batch.hooks;
  Append(options.hooks, hooks);
  Append(spec.prediction_hooks, hooks);
  MonitoredSession session(graph,
                           std::make_shared<ChiefSessionCreator>(ChiefSessionCreatorOptions{
                               .scaffold = ScaffoldOf(spec, config_),
                               .target = {.config = config_.session_config},
                               .checkpoint_filename_with_path = checkpoint}),
                           hooks, {.trains = false});
  bool enough = false;
  while (!session.ShouldStop() && !enough) {
    const auto out = session.Run({}, fetches);
    if (!out.ok()) break;
    NamedTensors found;
    for (size_t i = 0; i < names.size(); ++i) found[names[i]] = (*out)[i];
    int64_t examples = 1;
    if (options.yield_single_examples) {
      SLUICE_ASSIGN_OR_RETURN(examples, BatchSizeOf(found));
    }
    for (int64_t i = 0; i < examples && !enough; ++i) {
      SLUICE_ASSIGN_OR_RETURN(const bool more,
                              sink(options.yield_single_examples ? ExampleOf(found, i) : found));
      enough = !more;
    }
  }
  return session.Close();
}

absl::StatusOr<std::string> Estimator::ExportSavedModel(const std::string& export_dir_base,
                                                        const InputFn& serving_input_fn,
                                                        const std::string& checkpoint_path) {
  SLUICE_ASSIGN_OR_RETURN(const std::string checkpoint, CheckpointToUse(checkpoint_path));
  Graph graph;
  if (config_.tf_random_seed) graph.SetRandomSeed(*config_.tf_random_seed);
  GlobalStep(graph);
  SLUICE_ASSIGN_OR_RETURN(const InputBatch batch, serving_input_fn(graph));
  SLUICE_ASSIGN_OR_RETURN(const EstimatorSpec spec, CallModel(graph, batch, ModeKeys::kPredict));
  SavedModelGraphOptions saved;
  saved.signatures = spec.export_outputs;
  if (saved.signatures.empty()) {
    saved.signatures[std::string(kDefaultServingSignature)] = {.outputs = spec.predictions};
  }
  for (auto& [name, signature] : saved.signatures) {
    if (signature.inputs.empty()) signature.inputs = batch.features;
  }
  saved.init_op = DefaultLocalInitOp(graph);
  Saver saver(graph, {.sharded = true, .allow_empty = true});
  saved.saver = &saver;
  SLUICE_RETURN_IF_ERROR(graph.status());
  Session session(graph, config_.session_config);
  SLUICE_RETURN_IF_ERROR(saver.Restore(session, checkpoint));
  SLUICE_RETURN_IF_ERROR(session.Run({saved.init_op}));

  // The folder's name is a time in seconds. If it is taken by another export, the next second is
  // used.
  int64_t seconds = absl::ToUnixSeconds(absl::Now());
  std::string folder;
  do {
    folder = JoinPath(export_dir_base, std::to_string(seconds++));
  } while (FileExists(folder));
  // Writes to another folder and renames it, so that programs that watch for exports see only
  // complete ones.
  const std::string beside = JoinPath(DirectoryOf(folder), StrCat("temp-", seconds - 1));
  SavedModelBuilder builder(beside);
  SLUICE_RETURN_IF_ERROR(builder.AddMetaGraphAndVariables(session, saved));
  SLUICE_RETURN_IF_ERROR(builder.Save().status());
  SLUICE_RETURN_IF_ERROR(RenameFile(beside, folder));
  return folder;
}

absl::StatusOr<std::vector<std::string>> Estimator::GetVariableNames() const {
  SLUICE_ASSIGN_OR_RETURN(const std::string checkpoint, CheckpointToUse(""));
  SLUICE_ASSIGN_OR_RETURN(const auto reader, CheckpointReader::Open(checkpoint));
  std::vector<std::string> names;
  for (const SavedTensor& tensor : reader->tensors()) names.push_back(tensor.name);
  return names;
}

absl::StatusOr<Tensor> Estimator::GetVariableValue(const std::string& name) const {
  SLUICE_ASSIGN_OR_RETURN(const std::string checkpoint, CheckpointToUse(""));
  SLUICE_ASSIGN_OR_RETURN(const auto reader, CheckpointReader::Open(checkpoint));
  return reader->Read(name);
}

}  // namespace sluice
