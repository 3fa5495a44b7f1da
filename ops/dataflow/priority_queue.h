// A queue whose smallest priority comes out first; of equal ones, the one that went in first.
//
// The priority is component 0 of an element, an int64 scalar.
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
  int64_t Count() const override { return static_cast<int64_t>(elements_.size()); }
  void Put(Tensors element) override;
  Tensors Take() override;
  void PutBack(std::vector<Tensors> elements) override;

 private:
  using Key = std::pair<int64_t, int64_t>;  // priority, order of arrival
  // All guarded by the queue's lock.
  std::map<Key, Tensors> elements_;
  int64_t last_ = 0;
  int64_t first_ = 0;  // falls with each element that is put back
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_PRIORITY_QUEUE_H_
