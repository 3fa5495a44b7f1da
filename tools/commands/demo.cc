#include "absl/flags/flag.h"
#include "demos/replicas/show.h"
#include "demos/replicas/training.h"
#include "graph/status.h"
#include "tools/commands/command.h"

ABSL_FLAG(int, replicas, 4, "demo: copies of the network, each in a thread");
ABSL_FLAG(int64_t, updates, 2000, "demo: updates of the parameters");
ABSL_FLAG(std::string, data, std::string(sluice::demos::kDataFolder), "demo: folder of the images");
ABSL_FLAG(std::string, pictures, "", "demo: folder for the pictures; \"\": a new temporary one");

namespace sluice {

absl::Status DemoCommand(const Arguments& arguments) {
  if (!arguments.empty()) return UsageError("'demo' takes no arguments, only options");
  demos::TrainingOptions options;
  options.replicas = absl::GetFlag(FLAGS_replicas);
  options.steps = absl::GetFlag(FLAGS_updates);
  if (options.replicas < 1 || options.steps < 1) {
    return UsageError("'demo' needs at least one replica and one update");
  }
  // One replica is a backup, so that dropped gradients can be seen.
  options.replicas_to_aggregate = options.replicas > 1 ? options.replicas - 1 : 1;
  options.learning_rate = demos::DefaultLearningRate(options.optimizer);
  return demos::TrainAndShow(options, absl::GetFlag(FLAGS_data), absl::GetFlag(FLAGS_pictures));
}

}  // namespace sluice
