#include "demos/replicas/training.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

#include "demos/replicas/batches.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/state/variable.h"
#include "training/loop/coordinator.h"
#include "training/session/basic_hooks.h"
#include "training/session/monitored_training_session.h"
#include "training/summary/file_writer.h"
#include "training/sync/sync_replicas_optimizer.h"

namespace sluice::demos {
namespace {

constexpr int64_t kTestBatch = 500;

// Variables go to the parameter device, everything else to the replica's own.
DeviceFunction ReplicaDevices(int replica) {
  const std::string own = StrCat("/device:CPU:", replica + 1);
  return [own](const NodeSpec& spec) -> std::string {
    if (!spec.device.empty()) return spec.device;
    return spec.op == "VariableV2" || spec.op == "VarHandleOp" ? "/device:CPU:0" : own;
  };
}

// Ends the loop when the caller requests it.
class StopWhenAsked : public SessionRunHook {
 public:
  explicit StopWhenAsked(const std::atomic<bool>* asked) : asked_(asked) {}
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues&) override {
    if (asked_ != nullptr && asked_->load()) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  const std::atomic<bool>* const asked_;
};

class Replica {
 public:
  Replica(int index, const TrainingOptions& options, const Dataset& train,
          std::shared_ptr<DeviceSet> devices)
      : index_(index),
        options_(options),
        devices_(std::move(devices)),
        batches_(train, options.batch, static_cast<uint64_t>(options.seed * 1000 + index)),
        optimizer_(MakeOptimizer(options.optimizer, options.learning_rate),
                   {.replicas_to_aggregate = options.replicas_to_aggregate,
                    .total_num_replicas = options.replicas,
                    .replica_id = index,
                    .deterministic = options.deterministic,
                    .whole_checkpoints = !options.checkpoint_dir.empty()}) {
    Build();
  }

  bool is_chief() const { return index_ == 0; }
  MonitoredTrainingSession& session() { return *session_; }
  const Graph& graph() const { return graph_; }

  // Creates the session. The chief comes first, because it initializes or restores the model.
  absl::Status Start() {
    MonitoredTrainingSessionOptions session = {
        .is_chief = is_chief(),
        .target = {.config = {.devices = devices_}},
        .checkpoint_dir = options_.checkpoint_dir,
        .summary_dir = options_.summary_dir,
        .hooks = {optimizer_.MakeSessionRunHook(is_chief(), -1, Report())},
        // The other replicas end when the tokens end.
        .chief_only_hooks = {StopAtStep(options_.steps),
                             std::make_shared<StopWhenAsked>(options_.stop)}};
    if (options_.save_checkpoint_steps > 0) {
      session.save_checkpoint_steps = options_.save_checkpoint_steps;
    }
    session_ = std::make_unique<MonitoredTrainingSession>(graph_, std::move(session));
    SLUICE_RETURN_IF_ERROR(session_->status());
    SLUICE_ASSIGN_OR_RETURN(first_step_, GlobalStepNow());
    next_batch_ = first_step_ * BatchesAnUpdate();
    return absl::OkStatus();
  }
  int64_t first_step() const { return first_step_; }

  struct Step {
    int64_t global_step;
    double loss;
  };
  absl::StatusOr<Step> Train() {
    const Dataset batch = batches_.At(next_batch_++);
    SLUICE_ASSIGN_OR_RETURN(
        Tensors out, session_->Run({{model_.images, batch.images}, {model_.labels, batch.labels}},
                                   {model_.loss, step_value_}, {train_}));
    return Step{out[1].scalar<int64_t>(), out[0].scalar<float>()};
  }

  // A session without hooks, which can also be used after the end of training.
  Session& evaluation() {
    if (evaluation_ == nullptr) {
      evaluation_ = std::make_unique<Session>(graph_, SessionOptions{.devices = devices_});
    }
    return *evaluation_;
  }
  absl::StatusOr<int64_t> GlobalStepNow() {
    SLUICE_ASSIGN_OR_RETURN(const Tensors step, evaluation().Run({}, {step_value_}));
    return step[0].scalar<int64_t>();
  }
  absl::StatusOr<std::vector<std::vector<int64_t>>> Evaluate(const Dataset& test) {
    std::vector<std::vector<int64_t>> confusion(kClasses, std::vector<int64_t>(kClasses));
    const int64_t n = test.labels.num_elements();
    for (int64_t begin = 0; begin < n; begin += kTestBatch) {
      const int64_t end = std::min(begin + kTestBatch, n);
      SLUICE_ASSIGN_OR_RETURN(Tensors out,
                              evaluation().Run({{model_.images, test.images.SliceRows(begin, end)}},
                                               {model_.predictions}, {}));
      for (int64_t i = begin; i < end; ++i) {
        ++confusion[test.labels.data<int32_t>()[i]][out[0].data<int64_t>()[i - begin]];
      }
    }
    return confusion;
  }

  // The number of dropped gradients of all replicas, counted once per step.
  absl::StatusOr<int64_t> Dropped() {
    SLUICE_ASSIGN_OR_RETURN(const Tensors totals, session_->session()->Run({}, {ledger_}));
    int64_t dropped = 0;
    for (int64_t row = 0; row < totals[0].dim(0); ++row) {
      dropped += totals[0].data<int64_t>()[3 * row + 1] + totals[0].data<int64_t>()[3 * row + 2];
    }
    return dropped / std::max<int64_t>(optimizer_.aggregated_gradients().size(), 1);
  }
  const std::string& ledger_text() const { return ledger_text_; }

 private:
  void Build() {
    DeviceScope place(graph_, ReplicaDevices(index_));
    global_step_ = GlobalStep(graph_);
    model_ = BuildModel(graph_, options_.model, options_.seed);
    train_ = optimizer_.Minimize(model_.loss, {.global_step = &*global_step_});
    step_value_ = global_step_->Read();
    if (!is_chief()) return;
    ledger_ = optimizer_.LedgerTotals();
    if (!options_.summary_dir.empty()) {
      AddModelSummaries(model_, Describe());
      optimizer_.AddSummaries();
    }
  }

  // The number of batches per replica between two updates if no gradient is dropped.
  int64_t BatchesAnUpdate() const {
    return (options_.replicas_to_aggregate + options_.replicas - 1) / options_.replicas;
  }

  std::function<void(const std::string&)> Report() {
    if (!is_chief()) return nullptr;
    return [this](const std::string& text) { ledger_text_ = text; };
  }

  std::string Describe() const {
    return StrCat("**", options_.model == ModelKind::kMlp ? "mlp" : "cnn", "**, ",
                  options_.replicas, " replicas, ", options_.replicas_to_aggregate,
                  " gradients an update, batches of ", options_.batch, ", learning rate ",
                  options_.learning_rate, options_.deterministic ? ", deterministic" : "");
  }

  const int index_;
  const TrainingOptions& options_;
  const std::shared_ptr<DeviceSet> devices_;
  Batches batches_;
  SyncReplicasOptimizer optimizer_;
  Graph graph_;
  std::optional<Variable> global_step_;
  Model model_;
  Operation train_;
  Output step_value_, ledger_;
  int64_t first_step_ = 0;
  int64_t next_batch_ = 0;
  std::string ledger_text_;
  std::unique_ptr<Session> evaluation_;
  std::unique_ptr<MonitoredTrainingSession> session_;  // destroyed before the objects that it uses
};

double Accuracy(const std::vector<std::vector<int64_t>>& confusion) {
  int64_t right = 0;
  int64_t all = 0;
  for (int i = 0; i < kClasses; ++i) {
    right += confusion[i][i];
    all += std::accumulate(confusion[i].begin(), confusion[i].end(), int64_t{0});
  }
  return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

// The state that the replicas' threads share.
class Run {
 public:
  Run(const TrainAndTest& data, const TrainingOptions& options)
      : data_(data), options_(options), devices_(DeviceSet::Cpus(options.replicas + 1)) {
    for (int i = 0; i < options.replicas; ++i) {
      replicas_.push_back(std::make_unique<Replica>(i, options, data.train, devices_));
    }
  }

  absl::StatusOr<TrainingResult> Train();

 private:
  absl::Status Start();
  absl::Status Loop(Replica& replica);
  absl::Status Steps(Replica& replica);
  void Record(const Replica::Step& step);
  absl::Status CountDropped(Replica& chief);
  absl::Status EvaluateIfDue(Replica& chief, int64_t step);
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  const TrainAndTest& data_;
  const TrainingOptions& options_;
  std::shared_ptr<DeviceSet> devices_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::shared_ptr<TrainingEvents> events_;  // null: none
  std::chrono::steady_clock::time_point start_;
  double counted_s_ = 0;   // time of the chief's last ledger query
  int64_t evaluated_ = 0;  // step of the chief's last evaluation
  std::mutex mutex_;
  TrainingResult result_;         // guarded by mutex_
  int64_t batches_computed_ = 0;  // guarded by mutex_
};

void Run::Record(const Replica::Step& step) {
  std::lock_guard<std::mutex> lock(mutex_);
  TrainingState& state = result_.last;
  state.seconds = Seconds();
  state.images = ++batches_computed_ * options_.batch;
  state.loss = batches_computed_ == 1 ? step.loss : 0.95 * state.loss + 0.05 * step.loss;
  if (step.global_step > state.step) {
    state.step = step.global_step;
    result_.loss_steps.push_back(static_cast<double>(step.global_step));
    result_.losses.push_back(state.loss);
  }
  if (options_.on_step) options_.on_step(state);
}

absl::Status Run::CountDropped(Replica& chief) {
  if (Seconds() < counted_s_ + 0.1) return absl::OkStatus();
  counted_s_ = Seconds();
  SLUICE_ASSIGN_OR_RETURN(const int64_t dropped, chief.Dropped());
  std::lock_guard<std::mutex> lock(mutex_);
  result_.last.dropped_gradients = dropped;
  return absl::OkStatus();
}

absl::Status Run::EvaluateIfDue(Replica& chief, int64_t step) {
  if (options_.evaluate_every <= 0 || step <= evaluated_) return absl::OkStatus();
  evaluated_ = step;
  if (step % options_.evaluate_every != 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(auto confusion, chief.Evaluate(data_.test));
  if (events_) {
    SLUICE_RETURN_IF_ERROR(
        events_->AddScalar("test/accuracy", static_cast<float>(Accuracy(confusion)), step));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  result_.accuracy_steps.push_back(static_cast<double>(step));
  result_.accuracies.push_back(Accuracy(confusion));
  return absl::OkStatus();
}

absl::Status Run::Steps(Replica& replica) {
  while (!replica.session().ShouldStop()) {
    absl::StatusOr<Replica::Step> step = replica.Train();
    if (!step.ok()) break;  // Close returns the error; the end of tokens is none
    Record(*step);
    if (!replica.is_chief()) continue;
    SLUICE_RETURN_IF_ERROR(CountDropped(replica));
    SLUICE_RETURN_IF_ERROR(EvaluateIfDue(replica, step->global_step));
  }
  return absl::OkStatus();
}

absl::Status Run::Loop(Replica& replica) {
  absl::Status status = Steps(replica);
  if (replica.is_chief()) {
    std::lock_guard<std::mutex> lock(mutex_);
    result_.train_seconds = Seconds();
  }
  status.Update(replica.session().Close());
  if (!status.ok()) {
    for (auto& other : replicas_) other->session().Cancel();
  }
  return status;
}

absl::Status Run::Start() {
  for (auto& replica : replicas_) SLUICE_RETURN_IF_ERROR(replica->Start());
  if (!options_.summary_dir.empty()) {
    SLUICE_ASSIGN_OR_RETURN(events_, OpenEventFile(options_.summary_dir));
    // The session writes the graph to the folder of its checkpoints.
    if (options_.checkpoint_dir != options_.summary_dir) {
      SLUICE_RETURN_IF_ERROR(events_->AddGraph(replicas_[0]->graph()));
    }
  }
  const int64_t first = replicas_[0]->first_step();
  result_.last = {.first_step = first, .step = first, .steps = options_.steps};
  evaluated_ = first;
  if (options_.on_start) options_.on_start(first);
  start_ = std::chrono::steady_clock::now();
  return absl::OkStatus();
}

absl::StatusOr<TrainingResult> Run::Train() {
  SLUICE_RETURN_IF_ERROR(Start());
  Coordinator coordinator;
  const bool is_over = result_.last.first_step >= options_.steps;
  for (size_t i = 0; i < replicas_.size(); ++i) {
    coordinator.Start(StrCat("replica ", i), [this, i, is_over] {
      return is_over ? replicas_[i]->session().Close() : Loop(*replicas_[i]);
    });
  }
  SLUICE_RETURN_IF_ERROR(coordinator.Join());
  SLUICE_ASSIGN_OR_RETURN(result_.last.step, replicas_[0]->GlobalStepNow());
  result_.ledger = replicas_[0]->ledger_text();
  SLUICE_ASSIGN_OR_RETURN(result_.confusion, replicas_[0]->Evaluate(data_.test));
  result_.accuracy = Accuracy(result_.confusion);
  return result_;
}

}  // namespace

absl::StatusOr<TrainingResult> Train(const TrainAndTest& data, const TrainingOptions& options) {
  SLUICE_INVALID_IF(options.replicas < 1 || options.replicas_to_aggregate < 1 || options.batch < 1,
                    "replicas, replicas_to_aggregate and batch must be positive");
  SLUICE_INVALID_IF(data.train.labels.num_elements() == 0, "there are no images");
  return Run(data, options).Train();
}

}  // namespace sluice::demos
