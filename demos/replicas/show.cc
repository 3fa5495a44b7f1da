#include "demos/replicas/show.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "demos/report/plot.h"
#include "demos/report/progress.h"
#include "demos/report/terminal_plot.h"
#include "executor/files/files.h"
#include "graph/status.h"
#include "training/loop/log.h"

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

absl::StatusOr<std::string> NewFolder() {
  const char* parent = std::getenv("TMPDIR");
  std::string folder = JoinPath(parent == nullptr ? "/tmp" : parent, "sluice-demo-XXXXXX");
  if (mkdtemp(folder.data()) != nullptr) return folder;
  return absl::UnavailableError(StrCat("cannot make the folder '", folder, "' for pictures"));
}

void PrintPlan(const TrainingOptions& options, const std::string& pictures) {
  std::printf(
      "Trains %s on the 60000 images of Fashion-MNIST: %d replicas with %lld images per step. An "
      "update takes the first %d gradients; later ones are dropped.\n"
      "It ends after %lld updates. The line below shows the remaining time (ETA); Ctrl-C ends "
      "training early. Then the accuracy on the 10000 test images follows.\n"
      "Pictures will be in %s\n\n",
      options.model == ModelKind::kMlp ? "a multilayer perceptron" : "a convolutional network",
      options.replicas, static_cast<long long>(options.batch), options.replicas_to_aggregate,
      static_cast<long long>(options.steps), pictures.c_str());
  std::fflush(stdout);
}

std::vector<Panel> Curves(const TrainingResult& result) {
  std::vector<double> percents;
  for (const double accuracy : result.accuracies) percents.push_back(100 * accuracy);
  return {{"loss", "training loss", result.loss_steps, result.losses},
          {"accuracy (%)", "test accuracy (%)", result.accuracy_steps, percents}};
}

absl::Status DrawPictures(const TrainingResult& result, const std::string& folder) {
  const std::string curves = CurvesPlot("Fashion-MNIST", "global step", Curves(result));
  const std::string confusion =
      ConfusionPlot("Test images by class", ClassNames(), result.confusion);
  const std::pair<const char*, const std::string&> pictures[] = {{"learning_curve", curves},
                                                                 {"confusion_matrix", confusion}};
  for (const auto& [name, commands] : pictures) {
    const std::string path = JoinPath(folder, name);
    const absl::Status status = Draw(path, commands);
    if (absl::IsFailedPrecondition(status)) {
      std::printf("%s\n", std::string(status.message()).c_str());
      continue;
    }
    SLUICE_RETURN_IF_ERROR(status);
    std::printf("wrote %s.svg\n", path.c_str());
  }
  return absl::OkStatus();
}

// The program prints its own progress line.
void LogOnlyTroubles(LogSeverity severity, const std::string& line) {
  if (severity != LogSeverity::kInfo) std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace

absl::Status TrainAndShow(TrainingOptions options, const std::string& data, std::string pictures) {
  SetLogSink(LogOnlyTroubles);
  SLUICE_ASSIGN_OR_RETURN(const TrainAndTest images, LoadFashionMnist(data));
  if (pictures.empty()) {
    SLUICE_ASSIGN_OR_RETURN(pictures, NewFolder());
  }
  PrintPlan(options, pictures);
  Progress progress(stdout);
  options.stop = &stop;
  options.on_step = [&](const TrainingState& state) { progress.Show(state); };
  options.on_start = [](int64_t step) {
    if (step > 0) std::printf("going on from step %lld\n", static_cast<long long>(step));
    std::fflush(stdout);
  };
  std::signal(SIGINT, HandleInterrupt);
  SLUICE_ASSIGN_OR_RETURN(const TrainingResult result, Train(images, options));
  progress.Finish(result.last);
  if (stop) std::printf("interrupted after step %lld\n", static_cast<long long>(result.last.step));
  for (const Panel& panel : Curves(result)) std::printf("\n%s", TerminalPlot(panel).c_str());
  std::printf("\ntest accuracy %.2f %% after %lld steps, %.1f s of training\n",
              100 * result.accuracy, static_cast<long long>(result.last.step),
              result.train_seconds);
  std::printf("%s\n", result.ledger.c_str());
  return DrawPictures(result, pictures);
}

}  // namespace sluice::demos
