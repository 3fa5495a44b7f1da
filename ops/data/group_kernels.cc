// Datasets that group elements by a key, which a function computes, or in windows, and datasets
// whose function passes a state from element to element. Also the op that reduces a dataset to a
// state.
#include <deque>
#include <map>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/batch.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"

namespace sluice {
namespace {

// Reduces all elements with the same key to one element. Reads the whole input before the first
// result.
class ReducedGroupsIterator : public DatasetIterator {
 public:
  struct Functions {
    Closure key, init, reduce, finalize;
  };
  ReducedGroupsIterator(IteratorPointer inner, Functions functions, Reading& reading)
      : inner_(std::move(inner)), functions_(std::move(functions)), reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (inner_ != nullptr) {
      Tensors taken;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&taken));
      if (any) {
        SLUICE_RETURN_IF_ERROR(Add(taken));
      } else {
        inner_ = nullptr;
      }
    }
    if (states_.empty()) return false;
    const Tensors state = std::move(states_.begin()->second);
    states_.erase(states_.begin());
    SLUICE_ASSIGN_OR_RETURN(*element, functions_.finalize(state, reading_));
    return true;
  }

 private:
  absl::Status Add(const Tensors& element) {
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, functions_.key(element, reading_));
    SLUICE_ASSIGN_OR_RETURN(const int64_t key, ReturnedScalar(made, "key_func"));
    auto state = states_.find(key);
    if (state == states_.end()) {
      SLUICE_ASSIGN_OR_RETURN(Tensors first, functions_.init(made, reading_));
      state = states_.emplace(key, std::move(first)).first;
    }
    SLUICE_ASSIGN_OR_RETURN(state->second,
                            functions_.reduce(Joined(state->second, element), reading_));
    return absl::OkStatus();
  }

  IteratorPointer inner_;  // null after the end of the input
  const Functions functions_;
  Reading& reading_;
  std::map<int64_t, Tensors> states_;  // by key
};

absl::StatusOr<DatasetPointer> GroupByReducerDataset(const KernelContext& c,
                                                     std::vector<Closure> f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  const ReducedGroupsIterator::Functions functions = {
      .key = f[0], .init = f[1], .reduce = f[2], .finalize = f[3]};
  return MakeDatasetOver(input, {.options = input->facts().options},
                         [functions](IteratorPointer inner, Reading& reading) {
                           return std::make_unique<ReducedGroupsIterator>(std::move(inner),
                                                                          functions, reading);
                         });
}

// Collects windows of elements that have the same key. A function turns each window into a dataset,
// which is read to its end before the next window.
class WindowedGroupsIterator : public DatasetIterator {
 public:
  struct Functions {
    Closure key, reduce, window_size;
  };
  WindowedGroupsIterator(IteratorPointer inner, Functions functions, Reading& reading)
      : inner_(std::move(inner)), functions_(std::move(functions)), reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (true) {
      if (window_ != nullptr) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, window_->Next(element));
        if (any) return true;
        window_ = nullptr;
      }
      while (inner_ != nullptr && window_ == nullptr) {
        Tensors taken;
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&taken));
        if (any) {
          SLUICE_RETURN_IF_ERROR(Add(std::move(taken)));
        } else {
          inner_ = nullptr;
        }
      }
      if (window_ != nullptr) continue;
      if (groups_.empty()) return false;
      SLUICE_RETURN_IF_ERROR(Open(groups_.begin()));  // the incomplete windows, by key
    }
  }

 private:
  using Groups = std::map<int64_t, std::vector<Tensors>>;  // elements by key

  absl::Status Add(Tensors element) {
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, functions_.key(element, reading_));
    SLUICE_ASSIGN_OR_RETURN(const int64_t key, ReturnedScalar(made, "key_func"));
    auto size = sizes_.find(key);
    if (size == sizes_.end()) {
      SLUICE_ASSIGN_OR_RETURN(const Tensors returned, functions_.window_size(made, reading_));
      SLUICE_ASSIGN_OR_RETURN(const int64_t count, ReturnedScalar(returned, "window_size_func"));
      SLUICE_INVALID_IF(count <= 0, "Window size must be greater than zero, but got ", count, ".");
      size = sizes_.emplace(key, count).first;
    }
    const auto group = groups_.try_emplace(key).first;
    group->second.push_back(std::move(element));
    if (static_cast<int64_t>(group->second.size()) < size->second) return absl::OkStatus();
    return Open(group);
  }

  // Removes the group, and starts to read the dataset that the function makes of it.
  absl::Status Open(Groups::iterator group) {
    const Tensor key = Tensor::Scalar<int64_t>(group->first);
    const Tensor window = TensorOf(DatasetOf({}, std::move(group->second)));
    groups_.erase(group);
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, functions_.reduce({key, window}, reading_));
    SLUICE_INVALID_IF(made.size() != 1 || made[0].dtype() != DT_VARIANT || made[0].rank() != 0,
                      "`reduce_func` must return a single scalar of dtype DT_VARIANT.");
    SLUICE_ASSIGN_OR_RETURN(window_, IterateReturned(made[0], reading_));
    return absl::OkStatus();
  }

  IteratorPointer inner_;  // null after the end of the input
  const Functions functions_;
  Reading& reading_;
  Groups groups_;
  std::map<int64_t, int64_t> sizes_;  // window sizes by key
  IteratorPointer window_;            // null if no window is being read
};

absl::StatusOr<DatasetPointer> GroupByWindowDataset(const KernelContext& c,
                                                    std::vector<Closure> f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  const WindowedGroupsIterator::Functions functions = {
      .key = f[0], .reduce = f[1], .window_size = f[2]};
  DatasetFacts facts = input->facts().OfOtherElements();
  if (facts.is_finite()) facts.cardinality = DatasetFacts::kUnknown;
  return MakeDatasetOver(
      input, std::move(facts), [functions](IteratorPointer inner, Reading& reading) {
        return std::make_unique<WindowedGroupsIterator>(std::move(inner), functions, reading);
      });
}

KERNEL(ExperimentalGroupByReducerDataset, FunctionDatasetKernel<GroupByReducerDataset>);
KERNEL(ExperimentalGroupByWindowDataset, FunctionDatasetKernel<GroupByWindowDataset>);
KERNEL(GroupByReducerDataset, FunctionDatasetKernel<GroupByReducerDataset>);
KERNEL(GroupByWindowDataset, FunctionDatasetKernel<GroupByWindowDataset>);

using MadeDataset = absl::StatusOr<DatasetPointer>;

struct WindowSpec {
  int64_t size, shift, stride;
  bool drop_remainder;
  // The number of input elements from the first to the last one of a window.
  int64_t span() const { return (size - 1) * stride + 1; }
};

// Sets `element` to datasets of the window's elements, one for each component.
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

// Sets `element` to the stacked elements of the window.
absl::Status SetBatch(const std::vector<Tensors>& window, Tensors* element) {
  SLUICE_ASSIGN_OR_RETURN(*element, BatchOf(window));
  return absl::OkStatus();
}

// Reads windows of elements. Function `set` makes one element from each window.
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

  // Takes an element or an error from the input. Keeps an error like an element, so that exactly
  // the windows that contain it fail.
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

  IteratorPointer inner_;  // null after the end of the input
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

using Next = absl::StatusOr<bool>;
using MadeDataset = absl::StatusOr<DatasetPointer>;

Tensors InitialState(const KernelContext& c) {
  const auto [first, last] = c.node().InputRange(c.node().def().InputIndex("initial_state"));
  return InputsOf(c, first, last);
}

absl::Status Reduce(KernelContext& c, std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  Tensors state = InitialState(c);
  SLUICE_RETURN_IF_ERROR(
      ReadAll(c, *input, [&](const Tensors& element, Reading& reading) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(Tensors next, functions[0](Joined(state, element), reading));
        SLUICE_INVALID_IF(
            next.size() != state.size(),
            "The number of components of the initial state and the reduce function output does "
            "not match. (initial_state=",
            state.size(), ", output=", next.size(), ").");
        state = std::move(next);
        return absl::OkStatus();
      }));
  SLUICE_RETURN_IF_ERROR(
      CheckElement(state, c.node().AttrOr<std::vector<DataType>>("output_types", {}),
                   c.node().AttrOr<std::vector<PartialShape>>("output_shapes", {})));
  return SetElement(c, std::move(state));
}

// Splits the function's results into the next state and an element.
Next SplitState(const Tensors& made, Tensors* state, Tensors* element) {
  SLUICE_INVALID_IF(made.size() < state->size(), "Got ", made.size(),
                    " return values of scan_func, expected at least ", state->size());
  for (size_t i = 0; i < state->size(); ++i) {
    if (made[i].dtype() == (*state)[i].dtype()) continue;
    return InvalidArgument("Got wrong type for scan_func return value ", i, " (expected ",
                           DataTypeName((*state)[i].dtype()), ", got ",
                           DataTypeName(made[i].dtype()), ").");
  }
  const auto end = made.begin() + static_cast<std::ptrdiff_t>(state->size());
  element->assign(end, made.end());
  state->assign(made.begin(), end);
  return true;
}

MadeDataset ScanDataset(const KernelContext& c, std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  const bool preserves = c.node().AttrOr<bool>("preserve_cardinality", false);
  const auto start = [f = functions[0], preserves, initial = InitialState(c)](IteratorPointer inner,
                                                                              Reading& reading) {
    return MakeIterator([f, preserves, &reading, inner = std::move(inner),
                         state = initial](Tensors* element) mutable -> Next {
      Tensors taken;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(&taken));
      if (!any) return false;
      const absl::StatusOr<Tensors> made = f(Joined(state, taken), reading);
      if (absl::IsOutOfRange(made.status())) {
        // The function ends the dataset by this error, unless preserve_cardinality is set.
        if (!preserves) return false;
        return InvalidArgument("Function invocation produced OutOfRangeError: ",
                               made.status().message());
      }
      SLUICE_RETURN_IF_ERROR(made.status());
      return SplitState(*made, &state, element);
    });
  };
  DatasetFacts facts = input->facts().OfOtherElements();
  if (!preserves) facts.cardinality = DatasetFacts::kUnknown;
  return MakeDatasetOver(input, std::move(facts), start);
}

// Calls one function to get a state, another one to get each element, and a third one at the end.
class GeneratorIterator : public DatasetIterator {
 public:
  struct Functions {
    Closure init, next, finalize;
  };
  GeneratorIterator(Functions functions, Reading& reading)
      : functions_(std::move(functions)), reading_(reading) {}
  ~GeneratorIterator() override {
    if (is_begun_ && !is_over_) Finalize().IgnoreError();
  }

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (is_over_) return false;
    if (!is_begun_) {
      SLUICE_ASSIGN_OR_RETURN(state_, functions_.init({}, reading_));
      is_begun_ = true;
    }
    absl::StatusOr<Tensors> next = functions_.next(state_, reading_);
    if (absl::IsOutOfRange(next.status())) {
      is_over_ = true;
      SLUICE_RETURN_IF_ERROR(Finalize());
      return false;
    }
    SLUICE_ASSIGN_OR_RETURN(*element, std::move(next));
    return true;
  }

 private:
  // Uses a new Reading, so that the last function runs even if the iterator's reading was
  // cancelled.
  absl::Status Finalize() {
    Reading own;
    return functions_.finalize(state_, own).status();
  }

  const Functions functions_;
  Reading& reading_;
  Tensors state_;
  bool is_begun_ = false;
  bool is_over_ = false;
};

MadeDataset GeneratorDataset(const KernelContext&, std::vector<Closure> f) {
  const GeneratorIterator::Functions functions = {.init = f[0], .next = f[1], .finalize = f[2]};
  return MakeDataset({}, [functions](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return std::make_unique<GeneratorIterator>(functions, reading);
  });
}

KERNEL(ExperimentalScanDataset, FunctionDatasetKernel<ScanDataset>);
KERNEL(GeneratorDataset, FunctionDatasetKernel<GeneratorDataset>);
KERNEL(ReduceDataset, ReadingKernel<Reduce>);
KERNEL(ScanDataset, FunctionDatasetKernel<ScanDataset>);

}  // namespace
}  // namespace sluice
