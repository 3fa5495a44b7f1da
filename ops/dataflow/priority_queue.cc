#include "ops/dataflow/priority_queue.h"

namespace sluice {

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
