// First-in, first-out queues of tensors: the resources of the ops FIFOQueue and PaddingFIFOQueue.
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

  // For a queue of tokens. A token is a scalar that holds a global step. Before each training step,
  // a replica takes a token, which permits it to compute a gradient for the update of that global
  // step. When a chief (the replica that makes the updates) starts at global step `step`, this
  // function removes the tokens of later steps: if the chief has restored an older model, the
  // updates of these steps were undone.
  virtual void SetGlobalStep(int64_t step);

 protected:
  int64_t Count() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<int64_t>(elements_.size());
  }
  void Put(Tensors element) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    elements_.push_back(std::move(element));
  }
  Tensors Take() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutBack(std::vector<Tensors> elements) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RemoveIf(const std::function<bool(const Tensors&)>& remove)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::erase_if(elements_, remove);
  }

 private:
  std::deque<Tensors> elements_ ABSL_GUARDED_BY(mutex_);
};

// A FIFO queue whose elements may differ in the sizes that the component shapes leave unknown. In a
// batch, elements are padded to the largest of these sizes with zeros, empty strings or false.
class PaddingFifoQueue : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;

 protected:
  absl::StatusOr<Tensors> Stack(Allocator& allocator, std::vector<Tensors> rows) const override;
  // As in TensorFlow, messages about single elements call this queue a FIFOQueue.
  std::string kind_of_one() const override { return "FIFOQueue"; }
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_FIFO_QUEUE_H_
