// A first-in first-out queue of gradients that knows whose each one is and at which step it was
// computed: the queue form of synchronous replicas, without its race.
//
// An element is a gradient (as the queue was declared) and, last, its origin: int64 {replica,
// step}. A batch that somebody takes is an update:
//   G1. with its last element, the update's step is over: what was computed at it or before is
//       dropped, that which waits in the queue as surplus, that which comes later as stale;
//   G2. a batch has its gradients in replica order, those of one replica as they came, and no
//       origins.
// A chief that starts says which step it is (SetGlobalStep). The one before it may have been lost
// when it had taken this queue's batch and not yet another's, or an older model was restored:
//   G3. the queue goes back to that step: of updates that were begun and not made, or undone,
//       nothing is kept, what comes late is stale, and the ledger says so;
//   G4. who still waits to take is the lost chief's: he ends, and makes no update.
// A queue of gradients of some rows ({values, indices}, each with any number of rows) gives the
// rows of all, one after the other.
//
// A stale element is dropped although whoever puts it in has succeeded; its turn it waits for.
#ifndef SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_

#include <string>
#include <vector>

#include "ops/dataflow/fifo_queue.h"
#include "ops/dataflow/replica_gradients.h"

namespace sluice {

class GradientQueue : public FifoQueue {
 public:
  // `declared` without the origin.
  GradientQueue(QueueSpec declared, ReplicaGradients replicas);

  absl::Span<const DataType> taken_types() const override;
  absl::Status CheckSame(const QueueSpec& requested) const override;
  // Elements of earlier steps are dropped from now on.
  int64_t step() const;
  void SetGlobalStep(int64_t step) override;

 protected:
  void Put(Tensors element) override;
  void PutBack(std::vector<Tensors> elements) override;
  void Completed(const std::vector<Tensors>& rows) override;
  absl::StatusOr<Tensors> Stack(Allocator& allocator, std::vector<Tensors> rows) const override;
  bool HasShapes() const override { return true; }
  Tensors EmptyBatch() const override;
  std::string DescribeRows(const std::vector<Tensors>& rows) const override;

 private:
  struct Origin {
    int replica;
    int64_t step;
  };
  static Origin OriginOf(const Tensors& element);
  // Lock held.
  bool IsStale(const Origin& origin) const {
    return origin.step < step_ || (origin.step > step_ && origin.step <= undone_until_);
  }
  bool DropIfStale(const Tensors& element);

  const ReplicaGradients replicas_;
  const bool of_rows_;  // elements differ in their number of rows
  int64_t step_ = 0;    // guarded by the queue's lock
  // The last step that SetGlobalStep went back from; guarded by the queue's lock.
  int64_t undone_until_ = -1;
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_GRADIENT_QUEUE_H_
