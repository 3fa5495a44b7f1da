// Synchronous-replica training of a Fashion-MNIST network in one process.
//
// Parameters live on /device:CPU:0; replica k computes on /device:CPU:<k+1>, with a graph and a
// session of its own, in a thread of its own.
#ifndef SLUICE_DEMOS_REPLICAS_TRAINING_H_
#define SLUICE_DEMOS_REPLICAS_TRAINING_H_

#include <atomic>
#include <cstdint>
#include <functional>
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
  int64_t batch = 64;    // images a replica and step
  int64_t seed = 1;
  int64_t evaluate_every = 100;                       // steps between points of the accuracy curve
  std::function<void(const TrainingState&)> on_step;  // called by one thread at a time
  const std::atomic<bool>* stop = nullptr;            // set from outside: end after this step
};

struct TrainingResult {
  TrainingState last;
  double train_seconds = 0;  // evaluation apart
  double accuracy = 0;       // on the test images, at the end
  std::vector<double> loss_steps, losses;
  std::vector<double> accuracy_steps, accuracies;
  std::vector<std::vector<int64_t>> confusion;  // [truth][prediction]
};

// Trains until `steps` updates are made or `stop` is set. The first error of any replica.
absl::StatusOr<TrainingResult> Train(const TrainAndTest& data, const TrainingOptions& options);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPLICAS_TRAINING_H_
