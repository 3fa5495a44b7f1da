// Trains copies of a model on the devices of several workers as one model, without parameter
// servers. Every worker has all variables, and collective ops sum the workers' gradients.
//
//   MultiWorkerMirroredStrategy strategy(g, {.workers = 4, .worker = task.index, .devices = {
//       "/job:worker/task:1/device:CPU:0"}});
//   auto train = strategy.Run<Operation>([&](ReplicaContext& r) { … });
//   session.Run({InitializeVariables(g)});     // on all workers: worker 0's values count
//
// Every worker runs the same program in its own session. A step waits for the same step of all
// other workers. If a worker fails, the current steps of all others end with the reason. Variables
// may then differ between workers, for example if one was restarted or restored a checkpoint. All
// workers then run BroadcastVariables and continue with the values of worker 0.
// Reference: tf.distribute.MultiWorkerMirroredStrategy in graph mode.
#ifndef SLUICE_TRAINING_STRATEGY_MULTI_WORKER_MIRRORED_STRATEGY_H_
#define SLUICE_TRAINING_STRATEGY_MULTI_WORKER_MIRRORED_STRATEGY_H_

#include <string>
#include <vector>

#include "training/strategy/mirrored_strategy.h"

namespace sluice {

struct MultiWorkerOptions {
  int workers = 1;
  int worker = 0;  // number of this worker, in [0, workers)
  // The devices of this worker, one per replica. Each worker has the same number of devices.
  std::vector<std::string> devices;
  ReduceOp loss_reduction = ReduceOp::kMean;
  // The group key of this strategy's collective ops. Other groups of collective ops in the cluster
  // must have other keys.
  int group_key = 1;
};

class MultiWorkerMirroredStrategy : public MirroredStrategy {
 public:
  MultiWorkerMirroredStrategy(Graph& graph, MultiWorkerOptions options);

  // The number of replicas of all workers.
  int num_replicas() const override { return options_.workers * num_local_replicas(); }
  // Converts a replica number of this worker to one of all workers.
  int GlobalReplica(int replica) const { return options_.worker * num_local_replicas() + replica; }
  absl::StatusOr<PerReplica<Grad>> ReduceTo(ReduceOp op, const PerReplica<Grad>& values,
                                            const Variable& variable) override;
  // Returns an op that copies worker 0's values of all variables and optimizer slots to all
  // workers. All workers must run it.
  Operation BroadcastVariables();

 protected:
  Initializer SharedInitializer(const Initializer& initializer) override;

 private:
  Output Broadcast(const Output& value, const PartialShape& shape, DataType dtype);
  Output SumOfWorkers(const Output& value);
  IndexedSlices RowsOfWorkers(const IndexedSlices& rows);
  std::string Device() const { return options_.devices[0]; }
  // The instance key of the next collective op. An op gets the same key on all workers, because all
  // build the same program.
  int NextInstance() { return ++last_instance_; }

  Graph& graph_;
  const MultiWorkerOptions options_;
  int last_instance_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_STRATEGY_MULTI_WORKER_MIRRORED_STRATEGY_H_
