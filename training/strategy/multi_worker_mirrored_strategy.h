// Copies of a model on the devices of several workers, trained as one, without parameter servers:
// every worker has all variables, and the workers' gradients are summed by collective ops.
//
//   MultiWorkerMirroredStrategy strategy(g, {.workers = 4, .worker = task.index, .devices = {
//       "/job:worker/task:1/device:CPU:0"}});
//   auto train = strategy.Run<Operation>([&](ReplicaContext& r) { … });
//   session.Run({InitializeVariables(g)});     // on all workers: worker 0's values count
//
// Every worker runs the same program, with a session of its own. A step of one waits for the same
// step of all others; when a worker fails, the steps of all others end with the reason. Workers
// whose variables may differ from then on (one was started again, or had restored a checkpoint)
// all run BroadcastVariables, and go on with those of worker 0.
// Reference behaviour: tf.distribute.MultiWorkerMirroredStrategy in graph mode.
#ifndef SLUICE_TRAINING_STRATEGY_MULTI_WORKER_MIRRORED_STRATEGY_H_
#define SLUICE_TRAINING_STRATEGY_MULTI_WORKER_MIRRORED_STRATEGY_H_

#include <string>
#include <vector>

#include "training/strategy/mirrored_strategy.h"

namespace sluice {

struct MultiWorkerOptions {
  int workers = 1;
  int worker = 0;                    // this one's number
  std::vector<std::string> devices;  // of this worker, one a replica; as many on every worker
  ReduceOp loss_reduction = ReduceOp::kMean;
  int group_key = 1;  // which no other collectives of the cluster have
};

class MultiWorkerMirroredStrategy : public MirroredStrategy {
 public:
  MultiWorkerMirroredStrategy(Graph& graph, MultiWorkerOptions options);

  // Of all workers.
  int num_replicas() const override { return options_.workers * num_local_replicas(); }
  // Of a replica context's number, which counts on this worker.
  int GlobalReplica(int replica) const { return options_.worker * num_local_replicas() + replica; }
  absl::StatusOr<PerReplica<Grad>> ReduceTo(ReduceOp op, const PerReplica<Grad>& values,
                                            const Variable& variable) override;
  // Gives worker 0's values of all variables, and of the optimizer's slots, to all workers.
  Operation BroadcastVariables();

 protected:
  Initializer SharedInitializer(const Initializer& initializer) override;

 private:
  Output Broadcast(const Output& value, const PartialShape& shape, DataType dtype);
  Output SumOfWorkers(const Output& value);
  IndexedSlices RowsOfWorkers(const IndexedSlices& rows);
  std::string Device() const { return options_.devices[0]; }
  // The same on every worker, since all build the same program.
  int NextInstance() { return ++last_instance_; }

  Graph& graph_;
  const MultiWorkerOptions options_;
  int last_instance_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_STRATEGY_MULTI_WORKER_MIRRORED_STRATEGY_H_
