// Trains a network on Fashion-MNIST with synchronous replicas:
//
//   bazel run //demos:fashion_mnist -- --model=cnn --replicas=4 --replicas_to_aggregate=3
#include <csignal>
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "demos/replicas/training.h"
#include "demos/report/plot.h"
#include "executor/wait/stall_signal.h"
#include "graph/status.h"
#include "training/loop/log.h"

ABSL_FLAG(std::string, model, "mlp", "mlp or cnn");
ABSL_FLAG(std::string, optimizer, "adam", "sgd, momentum, adam or adagrad");
ABSL_FLAG(double, learning_rate, 0, "0 = the optimizer's usual one");
ABSL_FLAG(int, replicas, 4, "copies of the network, each in a thread");
ABSL_FLAG(int, replicas_to_aggregate, 0,
          "gradients that make an update, the rest are backups; 0 = 3, or all if deterministic");
ABSL_FLAG(int64_t, steps, 0, "updates; 0 = 5000 for the mlp, 9000 for the cnn");
ABSL_FLAG(int64_t, batch, 64, "images per replica and step");
ABSL_FLAG(int64_t, seed, 1, "of the weights and the order of images");
ABSL_FLAG(bool, deterministic, false, "the same flags give the same bits, whatever happens");
ABSL_FLAG(std::string, checkpoint_dir, "",
          "continues from the last checkpoint in it; empty = none");
ABSL_FLAG(int64_t, save_checkpoint_steps, 0, "between checkpoints; 0 = every ten minutes");
ABSL_FLAG(std::string, summary_dir, "", "event files for TensorBoard; empty = none");
ABSL_FLAG(int64_t, evaluate_every, 100, "steps between points of the accuracy curve; 0 = none");
ABSL_FLAG(std::string, data, "/usr/share/datasets/fashion-mnist", "folder of the IDX files");
ABSL_FLAG(std::string, out, "", "folder for the pictures; empty = the working directory");

namespace sluice::demos {
namespace {

std::atomic<bool> stop{false};
void HandleInterrupt(int) { stop = true; }

const std::vector<std::string>& ClassNames() {
  static const auto* names =
      new std::vector<std::string>{"T-shirt", "trouser", "pullover", "dress", "coat",
                                   "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
  return *names;
}

absl::StatusOr<TrainingOptions> OptionsFromFlags() {
  TrainingOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.model, ParseModel(absl::GetFlag(FLAGS_model)));
  SLUICE_ASSIGN_OR_RETURN(options.optimizer, ParseOptimizer(absl::GetFlag(FLAGS_optimizer)));
  options.learning_rate = static_cast<float>(absl::GetFlag(FLAGS_learning_rate));
  if (options.learning_rate <= 0) options.learning_rate = DefaultLearningRate(options.optimizer);
  options.replicas = absl::GetFlag(FLAGS_replicas);
  options.deterministic = absl::GetFlag(FLAGS_deterministic);
  options.replicas_to_aggregate = absl::GetFlag(FLAGS_replicas_to_aggregate);
  if (options.replicas_to_aggregate == 0) {
    options.replicas_to_aggregate = options.deterministic ? options.replicas : 3;
  }
  options.checkpoint_dir = absl::GetFlag(FLAGS_checkpoint_dir);
  options.save_checkpoint_steps = absl::GetFlag(FLAGS_save_checkpoint_steps);
  options.summary_dir = absl::GetFlag(FLAGS_summary_dir);
  options.evaluate_every = absl::GetFlag(FLAGS_evaluate_every);
  options.batch = absl::GetFlag(FLAGS_batch);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.steps = absl::GetFlag(FLAGS_steps);
  if (options.steps <= 0) options.steps = options.model == ModelKind::kMlp ? 5000 : 9000;
  options.stop = &stop;
  return options;
}

absl::Status DrawPictures(const TrainingResult& result, const std::string& folder) {
  const std::string prefix = folder.empty() ? "" : folder + "/";
  std::vector<double> percents;
  for (double accuracy : result.accuracies) percents.push_back(100 * accuracy);
  const std::string curves =
      CurvesPlot("Fashion-MNIST", "global step",
                 {{"loss", "training loss", result.loss_steps, result.losses},
                  {"accuracy (%)", "test accuracy", result.accuracy_steps, percents}});
  const std::string confusion =
      ConfusionPlot("Test images by class", ClassNames(), result.confusion);
  const std::pair<const char*, const std::string&> pictures[] = {{"learning_curve", curves},
                                                                 {"confusion_matrix", confusion}};
  for (const auto& [name, commands] : pictures) {
    const absl::Status status = Draw(prefix + name, commands);
    if (absl::IsFailedPrecondition(status)) {
      std::printf("%s\n", std::string(status.message()).c_str());
      continue;
    }
    SLUICE_RETURN_IF_ERROR(status);
    std::printf("wrote %s%s.svg\n", prefix.c_str(), name);
  }
  return absl::OkStatus();
}

// The program prints its own progress line.
void LogOnlyTroubles(LogSeverity severity, const std::string& line) {
  if (severity != LogSeverity::kInfo) std::fprintf(stderr, "%s\n", line.c_str());
}

absl::Status Main() {
  SetLogSink(LogOnlyTroubles);
  SLUICE_ASSIGN_OR_RETURN(TrainingOptions options, OptionsFromFlags());
  SLUICE_ASSIGN_OR_RETURN(TrainAndTest data, LoadFashionMnist(absl::GetFlag(FLAGS_data)));
  Progress progress(stdout);
  options.on_step = [&](const TrainingState& state) { progress.Show(state); };
  options.on_start = [](int64_t step) {
    if (step > 0) std::printf("going on from step %lld\n", static_cast<long long>(step));
    std::fflush(stdout);
  };
  std::signal(SIGINT, HandleInterrupt);
  SLUICE_ASSIGN_OR_RETURN(TrainingResult result, Train(data, options));
  progress.Finish(result.last);
  if (stop) std::printf("interrupted after step %lld\n", static_cast<long long>(result.last.step));
  std::printf("test accuracy %.2f %% after %lld steps, %.1f s of training\n", 100 * result.accuracy,
              static_cast<long long>(result.last.step), result.train_seconds);
  std::printf("%s\n", result.ledger.c_str());
  return DrawPictures(result, absl::GetFlag(FLAGS_out));
}

}  // namespace
}  // namespace sluice::demos

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Synchronous-replica training on Fashion-MNIST.");
  absl::ParseCommandLine(argc, argv);
  sluice::ReportStallsOnSignal();  // Ctrl-\ or kill -QUIT prints all blocked operations
  if (absl::Status status = sluice::demos::Main(); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
