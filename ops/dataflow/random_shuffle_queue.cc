#include "ops/dataflow/random_shuffle_queue.h"

#include "graph/status.h"

namespace sluice {

RandomShuffleQueue::RandomShuffleQueue(QueueSpec options)
    : QueueResource(std::move(options)),
      generator_(ReservedGenerator(options_.seed, options_.seed2).Reserve(0)),
      next_(&generator_) {}

// Takes an element at random. The last element moves to its place.
Tensors RandomShuffleQueue::Take() {
  const size_t chosen = next_() % elements_.size();
  std::swap(elements_[chosen], elements_.back());
  Tensors element = std::move(elements_.back());
  elements_.pop_back();
  return element;
}

void RandomShuffleQueue::PutBack(std::vector<Tensors> elements) {
  for (auto element = elements.rbegin(); element != elements.rend(); ++element) {
    elements_.push_back(std::move(*element));
  }
}

absl::Status RandomShuffleQueue::CheckSame(const QueueSpec& requested) const {
  SLUICE_RETURN_IF_ERROR(QueueResource::CheckSame(requested));
  SLUICE_INVALID_IF(requested.min_after_dequeue != options_.min_after_dequeue, "Shared queue '",
                    options_.name, "' has min_after_dequeue ", options_.min_after_dequeue,
                    " but requested min_after_dequeue was ", requested.min_after_dequeue, ".");
  const bool has_seeds = requested.seed != 0 || requested.seed2 != 0;
  SLUICE_INVALID_IF(
      has_seeds && (requested.seed != options_.seed || requested.seed2 != options_.seed2),
      "Shared queue '", options_.name, "' has random seeds (", options_.seed, ", ", options_.seed2,
      ") but requested seeds are (", requested.seed, ", ", requested.seed2, ").");
  return absl::OkStatus();
}

}  // namespace sluice
