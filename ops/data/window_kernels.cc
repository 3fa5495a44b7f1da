// Datasets of windows of elements.
#include <deque>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/batch.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"

namespace sluice {
namespace {

using MadeDataset = absl::StatusOr<DatasetPointer>;

struct WindowSpec {
  int64_t size, shift, stride;
  bool drop_remainder;
  int64_t span() const { return (size - 1) * stride + 1; }  // elements from first to last
};

// The elements of a window as datasets, one for each component.
absl::Status SetWindow(const std::vector<Tensors>& window, Tensors* element) {
  for (const Tensors& row : window) {
    if (row.size() == window[0].size()) continue;
    return InvalidArgument("expected elements of ", window[0].size(), " components in a window, ",
                           "got one of ", row.size());
  }
  element->clear();
  for (size_t k = 0; k < window[0].size(); ++k) {
    std::vector<Tensors> component;
    for (const Tensors& row : window) component.push_back({row[k]});
    element->push_back(TensorOf(DatasetOf({}, std::move(component))));
  }
  return absl::OkStatus();
}

// The elements of a window stacked.
absl::Status SetBatch(const std::vector<Tensors>& window, Tensors* element) {
  SLUICE_ASSIGN_OR_RETURN(*element, BatchOf(window));
  return absl::OkStatus();
}

// Sets an element to what `set(elements of a window)` makes of them.
class WindowIterator : public DatasetIterator {
 public:
  using Set = absl::Status (*)(const std::vector<Tensors>&, Tensors*);
  WindowIterator(IteratorPointer inner, const WindowSpec& spec, Set set, const Reading& reading)
      : inner_(std::move(inner)), spec_(spec), set_(set), reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (inner_ != nullptr && size() < spec_.span()) Take();
    if (ahead_.empty() || (spec_.drop_remainder && size() < spec_.span())) return false;
    std::vector<Tensors> window;
    absl::Status first_error;
    for (int64_t i = 0; i < size() && first_error.ok(); i += spec_.stride) {
      const absl::StatusOr<Tensors>& next = ahead_[static_cast<size_t>(i)];
      if (next.ok()) window.push_back(*next);
      first_error.Update(next.status());
    }
    Shift();
    SLUICE_RETURN_IF_ERROR(first_error);
    SLUICE_RETURN_IF_ERROR(set_(window, element));
    return true;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(ahead_.size()); }

  // Stores an error like an element. Windows that contain it fail.
  void Take() {
    Tensors next;
    const absl::StatusOr<bool> any = inner_->Next(&next);
    if (!any.ok()) {
      if (!CheckNotCancelled(reading_).ok()) inner_ = nullptr;
      ahead_.push_back(any.status());
    } else if (*any) {
      ahead_.push_back(std::move(next));
    } else {
      inner_ = nullptr;
    }
  }

  void Shift() {
    for (int64_t i = 0; i < spec_.shift; ++i) {
      if (ahead_.empty() && inner_ != nullptr) Take();
      if (ahead_.empty()) return;
      ahead_.pop_front();
    }
  }

  IteratorPointer inner_;  // null at the end
  const WindowSpec spec_;
  const Set set_;
  const Reading& reading_;
  std::deque<absl::StatusOr<Tensors>> ahead_;
};

// Reads inputs `<prefix>size`, `<prefix>shift` and `<prefix>stride`.
absl::StatusOr<WindowSpec> WindowSpecOf(const KernelContext& c, const std::string& prefix,
                                        bool drop_remainder) {
  WindowSpec spec;
  SLUICE_ASSIGN_OR_RETURN(spec.size, ScalarInput<int64_t>(c, prefix + "size"));
  SLUICE_ASSIGN_OR_RETURN(spec.shift, ScalarInput<int64_t>(c, prefix + "shift"));
  SLUICE_ASSIGN_OR_RETURN(spec.stride, ScalarInput<int64_t>(c, prefix + "stride"));
  spec.drop_remainder = drop_remainder;
  SLUICE_INVALID_IF(spec.size <= 0, "Window size must be greater than zero.");
  SLUICE_INVALID_IF(spec.shift <= 0, "Window shift must be greater than zero.");
  SLUICE_INVALID_IF(spec.stride <= 0, prefix.empty() ? "Window stride" : "window_stride",
                    " must be greater than zero.");
  int64_t span;
  SLUICE_INVALID_IF(__builtin_mul_overflow(spec.size - 1, spec.stride, &span) ||
                        __builtin_add_overflow(span, int64_t{1}, &span),
                    "window size ", spec.size, " with stride ", spec.stride, " is too large");
  return spec;
}

DatasetPointer Windows(const DatasetPointer& input, const WindowSpec& spec,
                       WindowIterator::Set set) {
  const auto windows_of = [spec](int64_t n) -> int64_t {
    if (!spec.drop_remainder) return n / spec.shift + (n % spec.shift == 0 ? 0 : 1);
    return n < spec.span() ? 0 : (n - spec.span()) / spec.shift + 1;
  };
  return MakeDatasetOver(input, input->facts().OfOtherElements().Scaled(windows_of),
                         [spec, set](IteratorPointer inner, Reading& reading) {
                           return std::make_unique<WindowIterator>(std::move(inner), spec, set,
                                                                   reading);
                         });
}

MadeDataset WindowDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const bool drop, ScalarInput<bool>(c, "drop_remainder"));
  SLUICE_ASSIGN_OR_RETURN(const WindowSpec spec, WindowSpecOf(c, "", drop));
  return Windows(input, spec, SetWindow);
}

MadeDataset SlidingWindowDataset(const KernelContext& c, const DatasetPointer& input) {
  const bool drop = c.node().AttrOr<bool>("drop_remainder", true);
  SLUICE_ASSIGN_OR_RETURN(const WindowSpec spec, WindowSpecOf(c, "window_", drop));
  return Windows(input, spec, SetBatch);
}

KERNEL(ExperimentalSlidingWindowDataset, DatasetKernel<SlidingWindowDataset>);
KERNEL(SlidingWindowDataset, DatasetKernel<SlidingWindowDataset>);
KERNEL(WindowDataset, DatasetKernel<WindowDataset>);

}  // namespace
}  // namespace sluice
