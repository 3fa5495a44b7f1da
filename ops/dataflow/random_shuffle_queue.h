// The resource of the op RandomShuffleQueue: a queue that returns its elements in random order.
// While the queue is open, `min_after_dequeue` elements stay in it, so that they are mixed well.
//
// Equal seeds and equal contents yield TensorFlow's order. Seeds (0, 0) stand for random ones.
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
  int64_t Count() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<int64_t>(elements_.size());
  }
  int64_t Available(bool closed) const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed ? Count() : std::max<int64_t>(Count() - options_.min_after_dequeue, 0);
  }
  void Put(Tensors element) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    elements_.push_back(std::move(element));
  }
  Tensors Take() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutBack(std::vector<Tensors> elements) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

 private:
  std::vector<Tensors> elements_ ABSL_GUARDED_BY(mutex_);
  Philox generator_ ABSL_GUARDED_BY(mutex_);
  SingleNumbers next_ ABSL_GUARDED_BY(mutex_);  // returns the numbers of generator_ one by one
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_RANDOM_SHUFFLE_QUEUE_H_
