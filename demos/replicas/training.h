// Trains a Fashion-MNIST network by synchronous replicas in one process.
//
// Parameters are on /device:CPU:0. Replica k computes on /device:CPU:<k+1>, with its own graph,
// MonitoredTrainingSession and thread. Replica 0 is the chief: it runs the updates, saves, and
// writes events. When it ends, all replicas end.
//
// With `deterministic` the same options give the same bits, even if training is interrupted at any
// moment and continues from its last checkpoint. Batches depend only on the step, all replicas take
// part in every update, and all other state is in the checkpoint.
#ifndef SLUICE_DEMOS_REPLICAS_TRAINING_H_
#define SLUICE_DEMOS_REPLICAS_TRAINING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "demos/data/idx.h"
#include "demos/replicas/model.h"
#include "demos/report/progress.h"

namespace sluice::demos {

struct TrainingOptions {
  ModelKind model = ModelKind::kMlp;
  OptimizerKind optimizer = OptimizerKind::kAdam;
  float learning_rate = 0.001f;
  int replicas = 4;
  int replicas_to_aggregate = 3;
  int64_t steps = 1000;  // global updates
  int64_t batch = 64;    // images per replica and step
  int64_t seed = 1;
  bool deterministic = false;
  std::string checkpoint_dir;         // "": saves nothing and starts at step 0
  int64_t save_checkpoint_steps = 0;  // 0: every ten minutes
  std::string summary_dir;            // "": no summaries
  int64_t evaluate_every = 100;       // steps between points of the accuracy curve; 0: none
  // Called with the first step of training.
  std::function<void(int64_t step)> on_start;
  std::function<void(const TrainingState&)> on_step;  // called by one thread at a time
  const std::atomic<bool>* stop = nullptr;            // once true, the current step is the last
};

struct TrainingResult {
  TrainingState last;
  double train_seconds = 0;  // without evaluation
  double accuracy = 0;       // on the test images, after training
  std::vector<double> loss_steps, losses;
  std::vector<double> accuracy_steps, accuracies;
  std::vector<std::vector<int64_t>> confusion;  // [truth][prediction]
  std::string ledger;                           // how many gradients were applied and dropped
};

// Trains until `steps` updates have been made or `stop` is set. Returns the first error of any
// replica.
absl::StatusOr<TrainingResult> Train(const TrainAndTest& data, const TrainingOptions& options);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPLICAS_TRAINING_H_
