#include "demos/replicas/training.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>

#include "graph/status.h"

namespace sluice::demos {
namespace {

constexpr int kClasses = 10;
constexpr int64_t kTestBatch = 500;

// Variables go to the parameter device, everything else to the replica's own.
DeviceFunction ReplicaDevices(int replica) {
  const std::string own = StrCat("/device:CPU:", replica + 1);
  return [own](const NodeSpec& spec) -> std::string {
    if (!spec.device.empty()) return spec.device;
    return spec.op == "VariableV2" || spec.op == "VarHandleOp" ? "/device:CPU:0" : own;
  };
}

// Batches in an order of the replica's own, without end; each pass sees every image once.
class Batches {
 public:
  Batches(const Dataset& data, int64_t batch, uint64_t seed)
      : data_(data), batch_(batch), random_(seed), order_(data.labels.num_elements()) {
    std::iota(order_.begin(), order_.end(), 0);
  }
  Dataset Next() {
    std::vector<int64_t> rows;
    while (static_cast<int64_t>(rows.size()) < batch_) {
      if (next_ == 0) std::shuffle(order_.begin(), order_.end(), random_);
      rows.push_back(order_[next_]);
      next_ = (next_ + 1) % order_.size();
    }
    return Gather(data_, rows);
  }

 private:
  const Dataset& data_;
  const int64_t batch_;
  std::mt19937_64 random_;
  std::vector<int64_t> order_;
  size_t next_ = 0;
};

class Replica {
 public:
  Replica(int index, const TrainingOptions& options, const Dataset& train,
          std::shared_ptr<DeviceSet> devices)
      : index_(index),
        options_(options),
        batches_(train, options.batch, static_cast<uint64_t>(options.seed * 1000 + index)),
        optimizer_(MakeOptimizer(options.optimizer, options.learning_rate),
                   {.replicas_to_aggregate = options.replicas_to_aggregate,
                    .total_num_replicas = options.replicas}) {
    Build();
    session_ = std::make_unique<Session>(graph_, SessionOptions{.devices = std::move(devices)});
  }

  Session& session() { return *session_; }
  const Model& model() const { return model_; }

  // The chief's part before the first step: variables, accumulators' step, the first tokens.
  absl::Status InitializeAsChief() {
    SLUICE_RETURN_IF_ERROR(session_->Run({init_}));
    SLUICE_RETURN_IF_ERROR(session_->Run({optimizer_.chief_init_op()}));
    return session_->Run({init_tokens_});
  }
  absl::Status Initialize() { return session_->Run({optimizer_.local_step_init_op()}); }

  absl::Status StartUpdates(Coordinator& coordinator) {
    SLUICE_ASSIGN_OR_RETURN(QueueRunner runner, optimizer_.ChiefQueueRunner());
    runner.Start(*session_, coordinator);
    return absl::OkStatus();
  }

  struct Step {
    int64_t global_step;
    double loss;
  };
  absl::StatusOr<Step> Train() {
    const Dataset batch = batches_.Next();
    SLUICE_ASSIGN_OR_RETURN(
        Tensors out, session_->Run({{model_.images, batch.images}, {model_.labels, batch.labels}},
                                   {model_.loss, step_value_}, {train_}));
    return Step{out[1].scalar<int64_t>(), out[0].scalar<float>()};
  }

  absl::StatusOr<std::vector<std::vector<int64_t>>> Evaluate(const Dataset& test) {
    std::vector<std::vector<int64_t>> confusion(kClasses, std::vector<int64_t>(kClasses));
    const int64_t n = test.labels.num_elements();
    for (int64_t begin = 0; begin < n; begin += kTestBatch) {
      const int64_t end = std::min(begin + kTestBatch, n);
      SLUICE_ASSIGN_OR_RETURN(Tensors out,
                              session_->Run({{model_.images, test.images.SliceRows(begin, end)}},
                                            {model_.predictions}, {}));
      for (int64_t i = begin; i < end; ++i) {
        ++confusion[test.labels.data<int32_t>()[i]][out[0].data<int64_t>()[i - begin]];
      }
    }
    return confusion;
  }

 private:
  void Build() {
    DeviceScope place(graph_, ReplicaDevices(index_));
    global_step_ = GlobalStep(graph_);
    model_ = BuildModel(graph_, options_.model, options_.seed);
    train_ = optimizer_.Minimize(model_.loss, {.global_step = &*global_step_});
    if (absl::StatusOr<Operation> tokens = optimizer_.InitTokensOp(); tokens.ok()) {
      init_tokens_ = *tokens;
    }
    init_ = InitializeVariables(graph_);
    step_value_ = global_step_->Read();
    graph_.Finalize();
  }

  const int index_;
  const TrainingOptions& options_;
  Batches batches_;
  SyncReplicasOptimizer optimizer_;
  Graph graph_;
  std::optional<Variable> global_step_;
  Model model_;
  Operation train_;
  Operation init_;
  Operation init_tokens_;
  Output step_value_;
  std::unique_ptr<Session> session_;
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

// What the replicas' threads share.
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
  absl::Status Loop(Replica& replica);
  // True when training is over.
  bool Record(const Replica::Step& step);
  absl::Status EvaluateIfDue(Replica& replica, int64_t step);

  const TrainAndTest& data_;
  const TrainingOptions& options_;
  std::shared_ptr<DeviceSet> devices_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  Coordinator coordinator_;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  TrainingResult result_;         // guarded by mutex_
  int64_t batches_computed_ = 0;  // guarded by mutex_
};

bool Run::Record(const Replica::Step& step) {
  std::lock_guard<std::mutex> lock(mutex_);
  TrainingState& state = result_.last;
  const int64_t batches = ++batches_computed_;
  state.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  state.steps = options_.steps;
  state.images = batches * options_.batch;
  state.loss = state.step == 0 ? step.loss : 0.95 * state.loss + 0.05 * step.loss;
  if (step.global_step > state.step) {
    state.step = step.global_step;
    result_.loss_steps.push_back(static_cast<double>(step.global_step));
    result_.losses.push_back(state.loss);
  }
  // Every gradient is in an update, in an accumulator, or was dropped as stale.
  state.dropped_gradients = std::max<int64_t>(
      batches - state.step * options_.replicas_to_aggregate - options_.replicas, 0);
  if (options_.on_step) options_.on_step(state);
  return state.step >= options_.steps || (options_.stop != nullptr && options_.stop->load());
}

absl::Status Run::EvaluateIfDue(Replica& replica, int64_t step) {
  if (options_.evaluate_every <= 0 || step % options_.evaluate_every != 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(auto confusion, replica.Evaluate(data_.test));
  std::lock_guard<std::mutex> lock(mutex_);
  result_.accuracy_steps.push_back(static_cast<double>(step));
  result_.accuracies.push_back(Accuracy(confusion));
  return absl::OkStatus();
}

absl::Status Run::Loop(Replica& replica) {
  int64_t evaluated = 0;
  while (!coordinator_.ShouldStop()) {
    absl::StatusOr<Replica::Step> step = replica.Train();
    if (!step.ok()) {
      // The stop closes the token queue under the replicas that wait for it.
      return coordinator_.ShouldStop() ? absl::OkStatus() : step.status();
    }
    if (Record(*step)) coordinator_.RequestStop();
    const bool is_first = &replica == replicas_[0].get();
    if (is_first && step->global_step > evaluated) {
      evaluated = step->global_step;
      SLUICE_RETURN_IF_ERROR(EvaluateIfDue(replica, evaluated));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainingResult> Run::Train() {
  SLUICE_RETURN_IF_ERROR(replicas_[0]->InitializeAsChief());
  for (size_t i = 1; i < replicas_.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(replicas_[i]->Initialize());
  }
  start_ = std::chrono::steady_clock::now();
  SLUICE_RETURN_IF_ERROR(replicas_[0]->StartUpdates(coordinator_));
  for (size_t i = 0; i < replicas_.size(); ++i) {
    coordinator_.Start(StrCat("replica ", i), [this, i] { return Loop(*replicas_[i]); });
  }
  SLUICE_RETURN_IF_ERROR(coordinator_.Join());
  result_.train_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  SLUICE_ASSIGN_OR_RETURN(result_.confusion, replicas_[0]->Evaluate(data_.test));
  result_.accuracy = Accuracy(result_.confusion);
  return result_;
}

}  // namespace

absl::StatusOr<TrainingResult> Train(const TrainAndTest& data, const TrainingOptions& options) {
  if (options.replicas < 1 || options.replicas_to_aggregate < 1 || options.batch < 1) {
    return InvalidArgument("replicas, replicas_to_aggregate and batch must be positive");
  }
  return Run(data, options).Train();
}

}  // namespace sluice::demos
