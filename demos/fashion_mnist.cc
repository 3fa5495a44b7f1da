// Trains a network on Fashion-MNIST with synchronous replicas:
//
//   bazel run //demos:fashion_mnist -- --model=cnn --replicas=4 --replicas_to_aggregate=3
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "demos/replicas/show.h"
#include "demos/replicas/training.h"
#include "executor/wait/stall_signal.h"
#include "graph/status.h"

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
ABSL_FLAG(std::string, data, std::string(sluice::demos::kDataFolder), "folder of the IDX files");
ABSL_FLAG(std::string, out, "", "folder for the pictures; empty = a new temporary one");

namespace sluice::demos {
namespace {

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
  return options;
}

absl::Status Main() {
  SLUICE_ASSIGN_OR_RETURN(const TrainingOptions options, OptionsFromFlags());
  return TrainAndShow(options, absl::GetFlag(FLAGS_data), absl::GetFlag(FLAGS_out));
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
