// A queue that gives out one of its elements at random; while it is open, `min_after_dequeue`
// elements stay in it, so that they are mixed well.
//
// Equal seeds and equal contents give TensorFlow's order. Seeds (0, 0) differ in every program.
#ifndef SLUICE_OPS_DATAFLOW_RANDOM_SHUFFLE_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_RANDOM_SHUFFLE_QUEUE_H_

#include <algorithm>
#include <vector>

#include "ops/dataflow/queue.h"
#include "ops/random/philox.h"

namespace sluice {

class RandomShuffleQueue : public QueueResource {
 public:
  explicit RandomShuffleQueue(QueueSpec options);

  absl::Status CheckSame(const QueueSpec& requested) const override;

 protected:
  int64_t Count() const override { return static_cast<int64_t>(elements_.size()); }
  int64_t Available(bool closed) const override {
    return closed ? Count() : std::max<int64_t>(Count() - options_.min_after_dequeue, 0);
  }
  void Put(Tensors element) override { elements_.push_back(std::move(element)); }
  Tensors Take() override;
  void PutBack(std::vector<Tensors> elements) override;

 private:
  // All guarded by the queue's lock.
  std::vector<Tensors> elements_;
  Philox generator_;
  SingleNumbers next_;  // draws from generator_
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_RANDOM_SHUFFLE_QUEUE_H_
