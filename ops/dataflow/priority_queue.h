// The resource of the op PriorityQueue: a queue that returns the element with the smallest priority
// first. Among elements of equal priority, it returns the one that was enqueued first. The priority
// is component 0 of an element, an int64 scalar.
#ifndef SLUICE_OPS_DATAFLOW_PRIORITY_QUEUE_H_
#define SLUICE_OPS_DATAFLOW_PRIORITY_QUEUE_H_

#include <map>
#include <utility>

#include "ops/dataflow/queue.h"

namespace sluice {

class PriorityQueue : public QueueResource {
 public:
  using QueueResource::QueueResource;

 protected:
  int64_t Count() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<int64_t>(elements_.size());
  }
  void Put(Tensors element) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Tensors Take() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PutBack(std::vector<Tensors> elements) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Also check that each priority is a scalar. The shapes of the queue say so only if it has
  // shapes.
  absl::Status CheckElement(const Tensors& element) const override;
  absl::Status CheckBatch(const Tensors& batch) const override;

 private:
  using Key = std::pair<int64_t, int64_t>;  // priority, order of arrival
  std::map<Key, Tensors> elements_ ABSL_GUARDED_BY(mutex_);
  int64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t first_ ABSL_GUARDED_BY(mutex_) = 0;  // decreases with each element that is put back
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_PRIORITY_QUEUE_H_
