// Trains a recommender from the files of its log, in this process or as a worker of a cluster.
// Every worker reads a part of the rows and updates the variables without waiting for the others.
// The chief evaluates the model on a test log.
//
// Thread safety: none.
// Errors: those of files and of training. INVALID_ARGUMENT if the test log does not fill a batch,
// or if `batch`, `steps` or `evaluations` is below 1.
#ifndef SLUICE_DEMOS_RECOMMENDERS_TRAINING_H_
#define SLUICE_DEMOS_RECOMMENDERS_TRAINING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "demos/recommenders/model.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/server/server.h"

namespace sluice::recommenders {

struct TrainingOptions {
  const ModelKind* model = nullptr;
  std::string train_file, test_file;
  TableOptions tables;
  int64_t batch = 512;       // rows per worker and step
  int64_t steps = 1000;      // updates of all workers
  int64_t evaluations = 10;  // at least 1; evenly spaced, the last at the end
  int64_t seed = 1;          // of the initial values
  // Called after every step: updates so far, steps of this worker, and the loss.
  std::function<void(int64_t global_step, int64_t local_step, double loss)> on_step;
  // Called at each evaluation with one AUC per label of the model.
  std::function<void(int64_t global_step, const std::vector<double>& aucs)> on_evaluation;
  // The server in this process, and its cluster. Null: trains in this process alone.
  Server* server = nullptr;
  const Cluster* cluster = nullptr;
};

struct TrainingResult {
  std::vector<double> loss_steps, losses;  // points of the smoothed loss curve
  std::vector<double> auc_steps;
  std::vector<std::vector<double>> aucs;  // of each label, one per evaluation
  double samples_per_s = 0;               // of all workers, without evaluations
};

absl::StatusOr<TrainingResult> Train(const TrainingOptions& options);

// The highest resident memory of this process so far.
double PeakMegabytes();

}  // namespace sluice::recommenders

#endif  // SLUICE_DEMOS_RECOMMENDERS_TRAINING_H_
