#include "ops/dataflow/fifo_queue.h"

#include <iterator>

#include "ops/dataflow/rows.h"

namespace sluice {

Tensors FifoQueue::Take() {
  Tensors element = std::move(elements_.front());
  elements_.pop_front();
  return element;
}

void FifoQueue::PutBack(std::vector<Tensors> elements) {
  elements_.insert(elements_.begin(), std::make_move_iterator(elements.begin()),
                   std::make_move_iterator(elements.end()));
}

absl::StatusOr<Tensors> PaddingFifoQueue::Stack(Allocator& allocator,
                                                std::vector<Tensors> rows) const {
  return StackPadded(allocator, rows);
}

}  // namespace sluice
