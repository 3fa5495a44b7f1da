// A FIFO queue of gradients for the queue form of synchronous replicas. It knows the replica and
// the step of each gradient, so that the race of the original form cannot occur.
//
// An element is a gradient with the declared components, followed by its origin: int64 {replica,
// step}. A batch that is dequeued is an update:
//
//   G1. The last element of a batch completes the update's step. Gradients of that step or of an
//       earlier one are dropped: those in the queue as surplus, and later ones as stale.
//   G2. A batch has its gradients in replica order, those of one replica in the order of arrival.
//       It has no origins.
//
// A chief that starts sets the step (SetGlobalStep). The previous chief may have been lost after it
// dequeued from this queue and before it dequeued from another one, or an older model was restored:
//
//   G3. The queue goes back to that step. It drops the gradients of updates that were not completed
//       or were undone. Late gradients of these updates are entered in the ledger as stale.
//   G4. Waiting dequeues belong to the lost chief. They end with an error and make no update.
//
// A queue of sparse gradients ({values, indices}, each with any number of rows) concatenates the
// rows of all gradients.
//
// A stale gradient is dropped when its turn comes, and the attempt to enqueue it succeeds.
#ifndef SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_

#include <string>
#include <vector>

#include "ops/dataflow/fifo_queue.h"
#include "ops/dataflow/replica_gradients.h"

namespace sluice {

class GradientQueue : public FifoQueue {
 public:
  // `declared` lacks the origin.
  GradientQueue(QueueSpec declared, ReplicaGradients replicas);

  absl::Span<const DataType> taken_types() const override;
  absl::Status CheckSame(const QueueSpec& requested) const override;
  // The current step. Gradients of earlier steps are stale.
  int64_t step() const;
  void SetGlobalStep(int64_t step) override;

 protected:
  void Put(Tensors element) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutBack(std::vector<Tensors> elements) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Completed(const std::vector<Tensors>& rows) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Tensors> Stack(Allocator& allocator, std::vector<Tensors> rows) const override;
  bool HasShapes() const override { return true; }
  Tensors EmptyBatch() const override;
  std::string DescribeRows(const std::vector<Tensors>& rows) const override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

 private:
  struct Origin {
    int replica;
    int64_t step;
  };
  static Origin OriginOf(const Tensors& element);
  bool IsStale(const Origin& origin) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return origin.step < step_ || (origin.step > step_ && origin.step <= undone_until_);
  }
  // Enters a stale gradient in the ledger. False if it is not stale.
  bool DropIfStale(const Tensors& element) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ReplicaGradients replicas_;
  const bool is_sparse_;  // gradients may differ in their number of rows
  int64_t step_ ABSL_GUARDED_BY(mutex_) = 0;
  // The last step from which SetGlobalStep went back.
  int64_t undone_until_ ABSL_GUARDED_BY(mutex_) = -1;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_
