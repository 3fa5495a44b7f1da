// A queue whose elements come out in the order in which they went in.
#ifndef SLUICE_OPS_DATAFLOW_FIFO_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_FIFO_QUEUE_H_

#include <deque>
#include <functional>
#include <vector>

#include "ops/dataflow/queue.h"

namespace sluice {

class FifoQueue : public QueueResource {
 public:
  using QueueResource::QueueResource;

  // A chief of synchronous replicas starts, at this global step. Of tokens (scalars) those of later
  // steps go: they are of updates that were undone because an older model was restored.
  virtual void SetGlobalStep(int64_t step);

 protected:
  int64_t Count() const override { return static_cast<int64_t>(elements_.size()); }
  void Put(Tensors element) override { elements_.push_back(std::move(element)); }
  Tensors Take() override;
  void PutBack(std::vector<Tensors> elements) override;
  // With the lock held.
  void RemoveIf(const std::function<bool(const Tensors&)>& remove) {
    std::erase_if(elements_, remove);
  }

 private:
  std::deque<Tensors> elements_;  // guarded by the queue's lock
};

// Shapes of elements may differ in sizes that the component's shape leaves open; a batch has the
// largest of each, and what an element does not fill is zero, empty or false.
class PaddingFifoQueue : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;

 protected:
  absl::StatusOr<Tensors> Stack(Allocator& allocator, std::vector<Tensors> rows) const override;
  // TensorFlow's messages about single elements come from the plain queue.
  std::string kind_of_one() const override { return "FIFOQueue"; }
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_FIFO_QUEUE_H_
