#include "ops/dataflow/fifo_queue.h"

#include <iterator>

#include "ops/state/tuples.h"

namespace sluice {
namespace {

// Returns whether the element is a token for a step after `step`.
bool IsLaterToken(const Tensors& element, int64_t step) {
  if (element.size() != 1 || !element[0].shape().IsScalar()) return false;
  const Tensor& token = element[0];
  return (token.dtype() == DT_INT64 && token.scalar<int64_t>() > step) ||
         (token.dtype() == DT_INT32 && token.scalar<int32_t>() > step);
}

}  // namespace

void FifoQueue::SetGlobalStep(int64_t step) {
  Change(/*takers_end=*/absl::OkStatus(), [&] {
    mutex_.AssertHeld();
    RemoveIf([&](const Tensors& element) { return IsLaterToken(element, step); });
  });
}

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
