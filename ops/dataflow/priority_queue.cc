#include "ops/dataflow/priority_queue.h"

#include "graph/status.h"

namespace sluice {

absl::Status PriorityQueue::CheckElement(const Tensors& element) const {
  SLUICE_RETURN_IF_ERROR(QueueResource::CheckElement(element));
  return ExpectRank(element[0], 0,
                    "Expected the priority element to be a scalar, but received shape: ");
}

absl::Status PriorityQueue::CheckBatch(const Tensors& batch) const {
  SLUICE_RETURN_IF_ERROR(QueueResource::CheckBatch(batch));
  return ExpectRank(batch[0], 1,
                    "Expected the priority elements to be a vector, but received shape: ");
}

void PriorityQueue::Put(Tensors element) {
  const int64_t priority = element[0].scalar<int64_t>();
  elements_.emplace(Key{priority, ++last_}, std::move(element));
}

Tensors PriorityQueue::Take() {
  Tensors element = std::move(elements_.begin()->second);
  elements_.erase(elements_.begin());
  return element;
}

void PriorityQueue::PutBack(std::vector<Tensors> elements) {
  for (auto element = elements.rbegin(); element != elements.rend(); ++element) {
    const int64_t priority = (*element)[0].scalar<int64_t>();
    elements_.emplace(Key{priority, --first_}, std::move(*element));
  }
}

}  // namespace sluice
