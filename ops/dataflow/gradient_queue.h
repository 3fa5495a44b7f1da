// A FIFO queue of gradients for synchronous replicas that use queues instead of accumulators. It
// knows the replica and the step of each gradient. With a plain queue, as in TensorFlow, a late
// gradient could get into the update of another step.
//
// An element is a gradient with the declared components, followed by its origin: int64 {replica,
// step}. Dequeuing a batch starts an update:
//
//   G1. A complete batch ends the step of its update. Gradients of that step or of an earlier one
//       are then dropped: those in the queue as surplus, and those that arrive later as stale.
//   G2. The gradients of a batch are in the order of their replicas, and those of one replica in
//       the order of arrival. A batch does not contain the origins.
//
// The chief is the replica that makes the updates. When a chief starts, it sets the step
// (SetGlobalStep). The step can be an earlier one, because the previous chief was lost when it had
// dequeued from some of the queues only, or because an older model was restored:
//
//   G3. The queue goes back to that step. It drops the gradients of updates that were not completed
//       or were undone. If gradients of these updates arrive later, the ledger
//       (gradient_ledger.h) counts them as stale.
//   G4. Waiting dequeues belong to the lost chief. They end with an error and make no update.
//
// If the gradients are sparse ({values, indices}, with any number of rows), a batch concatenates
// the rows of all gradients.
//
// If a step enqueues a stale gradient, the gradient is dropped when the step's turn comes, and the
// step gets no error.
#ifndef SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_

#include <string>
#include <vector>

#include "ops/dataflow/fifo_queue.h"
#include "ops/dataflow/replica_gradients.h"

namespace sluice {

class GradientQueue : public FifoQueue {
 public:
  // `declared` describes the elements without the origin.
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
  // If the gradient is stale, counts it in the ledger and returns true.
  bool DropIfStale(const Tensors& element) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ReplicaGradients replicas_;
  const bool is_sparse_;  // gradients may differ in their number of rows
  int64_t step_ ABSL_GUARDED_BY(mutex_) = 0;
  // The greatest step from which SetGlobalStep went back, or -1 if it never did. The updates after
  // the current step, up to this one, were undone.
  int64_t undone_until_ ABSL_GUARDED_BY(mutex_) = -1;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_
