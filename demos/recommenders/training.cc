#include "demos/recommenders/training.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "demos/recommenders/log_files.h"
#include "demos/tasks/worker.h"
#include "graph/status.h"
#include "sluice.h"
#include "sluice_cluster.h"

namespace sluice::recommenders {
namespace {

using Clock = std::chrono::steady_clock;

// All batches of a log, in order.
absl::StatusOr<std::vector<Tensors>> LoadLog(const Log& log, const ReadOptions& options) {
  Graph g;
  const OutputList columns = ReadLog(g, log, options);
  SLUICE_RETURN_IF_ERROR(g.status());
  Session session(g);
  for (const std::string& name : g.Collection(kTableInitializers)) {
    SLUICE_RETURN_IF_ERROR(session.Run({Operation(g.Find(name))}));
  }
  std::vector<Tensors> batches;
  while (true) {
    absl::StatusOr<Tensors> batch = session.Run({}, columns, {});
    if (absl::IsOutOfRange(batch.status())) return batches;
    SLUICE_RETURN_IF_ERROR(batch.status());
    batches.push_back(*std::move(batch));
  }
}

class Trainer {
 public:
  explicit Trainer(const TrainingOptions& options) : options_(options) {
    const Log log = MakeLog(options.model->log, {});
    graph_.SetRandomSeed(options.seed);
    std::optional<DeviceScope> place;
    if (options.cluster != nullptr) place.emplace(graph_, ReplicaDevices(*options.cluster));
    ReadOptions read = {.files = {options.train_file}, .batch = options.batch};
    if (options.cluster != nullptr) {
      read.shards = options.cluster->spec.NumTasks("worker");
      read.shard = options.cluster->task.index;
    }
    columns_ = ReadLog(graph_, log, read);
    Tables tables(graph_, options.tables);
    model_ = options.model->build(tables, FeaturesOf(options.model->log, columns_));
    const Variable step = GlobalStep(graph_);
    train_ = Minimize(*options.model, model_, &step);
    step_value_ = step.Read();
  }

  absl::StatusOr<TrainingResult> Run() {
    SLUICE_RETURN_IF_ERROR(graph_.status());
    if (is_chief()) SLUICE_RETURN_IF_ERROR(LoadTest());
    MonitoredTrainingSession session(graph_, SessionOptionsNow());
    SLUICE_RETURN_IF_ERROR(Steps(session));
    SLUICE_RETURN_IF_ERROR(session.Close());
    return std::move(result_);
  }

 private:
  bool is_chief() const { return options_.cluster == nullptr || options_.cluster->is_chief(); }

  absl::Status LoadTest() {
    SLUICE_ASSIGN_OR_RETURN(
        test_, LoadLog(MakeLog(options_.model->log, {}),
                       {.files = {options_.test_file}, .batch = options_.batch, .repeat = false}));
    SLUICE_INVALID_IF(test_.empty(), "the test log '", options_.test_file, "': expected at least ",
                      options_.batch, " rows");
    return absl::OkStatus();
  }

  MonitoredTrainingSessionOptions SessionOptionsNow() {
    MonitoredTrainingSessionOptions options;
    options.is_chief = is_chief();
    if (options_.server != nullptr) {
      options.target = demos::WorkerTarget(*options_.server, *options_.cluster);
    }
    options.open_events = nullptr;
    options.log_step_count_steps = 0;
    options.save_summaries_steps = 0;
    return options;
  }

  absl::Status Steps(MonitoredTrainingSession& session) {
    const int64_t every = std::max<int64_t>(options_.steps / options_.evaluations, 1);
    // The part of the training since the last evaluation, or since the first step, which is
    // compiled.
    int64_t first = 0;
    auto begin = Clock::now();
    int64_t steps = 0;
    Clock::duration time = {};
    for (int64_t local = 1, step = 0, next = every; step < options_.steps; ++local) {
      SLUICE_ASSIGN_OR_RETURN(const Tensors out,
                              session.Run({}, {model_.loss, step_value_}, {train_}));
      step = out[1].scalar<int64_t>();
      Record(step, local, out[0].scalar<float>());
      const bool is_last = step >= options_.steps;
      const bool is_due = is_chief() && (step >= next || is_last);
      if (local == 1 || is_due || is_last) {
        if (local > 1) {
          steps += step - first;
          time += Clock::now() - begin;
        }
        first = step;
        if (is_due) {
          next = (step / every + 1) * every;
          SLUICE_RETURN_IF_ERROR(Evaluate(*session.session(), step));
          SLUICE_ASSIGN_OR_RETURN(const Tensors now, session.session()->Run({}, {step_value_}, {}));
          first = now[0].scalar<int64_t>();
        }
        begin = Clock::now();
      }
    }
    const double seconds = std::chrono::duration<double>(time).count();
    if (steps > 0) result_.samples_per_s = static_cast<double>(steps * options_.batch) / seconds;
    return absl::OkStatus();
  }

  void Record(int64_t step, int64_t local, double loss) {
    loss_ = local == 1 ? loss : 0.98 * loss_ + 0.02 * loss;
    result_.loss_steps.push_back(static_cast<double>(step));
    result_.losses.push_back(loss_);
    if (options_.on_step) options_.on_step(step, local, loss);
  }

  // Any tensor can be fed, so the test log takes the place of the training log.
  absl::Status Evaluate(Session& session, int64_t step) {
    std::vector<float> all_labels, all_scores;
    for (const Tensors& batch : test_) {
      std::vector<Feed> feeds;
      for (size_t c = 0; c < columns_.size(); ++c) feeds.push_back({columns_[c], batch[c]});
      SLUICE_ASSIGN_OR_RETURN(const Tensors out, session.Run(feeds, {model_.logits}, {}));
      const auto append = [](std::vector<float>& to, const Tensor& from) {
        to.insert(to.end(), from.data<float>(), from.data<float>() + from.num_elements());
      };
      append(all_labels, batch[0]);
      append(all_scores, out[0]);
    }
    const int64_t tasks = model_.logits.shape().dim(1), columns = test_[0][0].dim(1);
    const auto rows = static_cast<int64_t>(test_.size()) * options_.batch;
    const Tensor labels = Tensor::Of<float>({rows, columns}, all_labels);
    const Tensor scores = Tensor::Of<float>({rows, tasks}, all_scores);
    result_.auc_steps.push_back(static_cast<double>(step));
    result_.aucs.resize(static_cast<size_t>(tasks));
    std::vector<double> aucs;
    for (int64_t task = 0; task < tasks; ++task) {
      aucs.push_back(AreaUnderCurve(labels, scores, task));
      result_.aucs[task].push_back(aucs.back());
    }
    if (options_.on_evaluation) options_.on_evaluation(step, aucs);
    return absl::OkStatus();
  }

  const TrainingOptions& options_;
  Graph graph_;
  OutputList columns_;
  Model model_;
  Operation train_;
  Output step_value_;
  std::vector<Tensors> test_;
  double loss_ = 0;
  TrainingResult result_;
};

}  // namespace

absl::StatusOr<TrainingResult> Train(const TrainingOptions& options) {
  SLUICE_INVALID_IF(options.batch < 1 || options.steps < 1 || options.evaluations < 1,
                    "batch, steps and evaluations must be positive");
  return Trainer(options).Run();
}

double PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

}  // namespace sluice::recommenders
