#include <utility>

#include "graph/status.h"
#include "training/estimator/estimator.h"
#include "training/loop/log.h"
#include "training/session/step_timer.h"

namespace sluice {
namespace {

absl::StatusOr<EvaluationResult> EvaluateOnce(Estimator& estimator, const EvalSpec& spec) {
  SLUICE_ASSIGN_OR_RETURN(
      EvaluationResult result,
      estimator.Evaluate(spec.input_fn,
                         {.steps = spec.steps, .hooks = spec.hooks, .name = spec.name}));
  if (spec.after) SLUICE_RETURN_IF_ERROR(spec.after(estimator, result));
  return result;
}

// Evaluates checkpoints in the process that trains.
class EvaluateAtCheckpoints : public CheckpointSaverListener {
 public:
  EvaluateAtCheckpoints(Estimator& estimator, const EvalSpec& spec, Clock* clock)
      : estimator_(estimator), spec_(spec), timer_({.secs = spec.throttle_secs}, clock) {}

  absl::StatusOr<bool> AfterSave(Session&, int64_t global_step) override {
    // Skips the first checkpoint, because it contains the untrained model.
    if (!std::exchange(started_, true)) {
      timer_.Done(global_step);
      return false;
    }
    if (!timer_.IsDue(global_step)) {
      LogInfo("Skip the current checkpoint eval due to throttle secs (", spec_.throttle_secs,
              " secs).");
      return false;
    }
    SLUICE_RETURN_IF_ERROR(Evaluate(global_step));
    return false;
  }
  absl::Status End(Session&, int64_t global_step) override {
    return evaluated_step_ == global_step ? absl::OkStatus() : Evaluate(global_step);
  }
  const std::optional<EvaluationResult>& result() const { return result_; }

 private:
  absl::Status Evaluate(int64_t global_step) {
    timer_.Done(global_step);
    SLUICE_ASSIGN_OR_RETURN(result_, EvaluateOnce(estimator_, spec_));
    evaluated_step_ = global_step;
    return absl::OkStatus();
  }

  Estimator& estimator_;
  const EvalSpec& spec_;
  StepTimer timer_;
  bool started_ = false;
  std::optional<int64_t> evaluated_step_;
  std::optional<EvaluationResult> result_;
};

TrainOptions OptionsOf(const TrainSpec& spec) {
  return {
      .hooks = spec.hooks, .max_steps = spec.max_steps, .saving_listeners = spec.saving_listeners};
}

absl::StatusOr<std::optional<EvaluationResult>> RunLocal(Estimator& estimator,
                                                         const TrainSpec& train,
                                                         const EvalSpec& eval, Clock* clock) {
  LogInfo("Start train and evaluate loop. The evaluate will happen after every checkpoint.");
  auto evaluator = std::make_shared<EvaluateAtCheckpoints>(estimator, eval, clock);
  TrainOptions options = OptionsOf(train);
  options.saving_listeners.push_back(evaluator);
  SLUICE_RETURN_IF_ERROR(estimator.Train(train.input_fn, options).status());
  return evaluator->result();
}

// Evaluates each new checkpoint of another process until one has reached max_steps.
absl::StatusOr<std::optional<EvaluationResult>> RunEvaluator(Estimator& estimator,
                                                             const TrainSpec& train,
                                                             const EvalSpec& eval, Clock* clock) {
  std::optional<EvaluationResult> result;
  auto never = std::make_shared<Wake>();
  while (true) {
    const auto latest = estimator.LatestCheckpoint();
    if (latest.ok() && (!result || result->checkpoint_path != *latest)) {
      SLUICE_ASSIGN_OR_RETURN(result, EvaluateOnce(estimator, eval));
      if (train.max_steps && result->global_step >= *train.max_steps) return result;
    } else if (!latest.ok() && latest.status().code() != absl::StatusCode::kNotFound) {
      return latest.status();
    }
    clock->Wait(never, Clock::Duration(eval.throttle_secs));
  }
}

}  // namespace

absl::StatusOr<std::optional<EvaluationResult>> TrainAndEvaluate(Estimator& estimator,
                                                                 const TrainSpec& train,
                                                                 const EvalSpec& eval,
                                                                 Clock* clock) {
  const TaskConfig& task = estimator.config().task;
  SLUICE_INVALID_IF(
      task.task_type == kPsTask,
      "TrainAndEvaluate: a ps task holds variables: run a Server and wait for it to end");
  if (task.task_type == kEvaluatorTask) return RunEvaluator(estimator, train, eval, clock);
  if (task.cluster.empty()) return RunLocal(estimator, train, eval, clock);
  SLUICE_RETURN_IF_ERROR(estimator.Train(train.input_fn, OptionsOf(train)).status());
  return std::optional<EvaluationResult>();
}

}  // namespace sluice
