// Datasets that choose elements of others or cut them up; and what is known of one.
#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/data/dataset.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using Iterating = absl::StatusOr<IteratorPointer>;
using Facts = DatasetFacts;
using Inner = std::shared_ptr<DatasetIterator>;

absl::Status DatasetCardinality(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  c.set_output(0, Tensor::Scalar<int64_t>(input->facts().cardinality));
  return absl::OkStatus();
}

absl::Status GetOptions(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  c.set_output(0, Tensor::Scalar(input->facts().options));
  return absl::OkStatus();
}

// --- one of several datasets at a time

class DirectedIterator : public DatasetIterator {
 public:
  DirectedIterator(IteratorPointer selector, std::vector<IteratorPointer> inputs, bool stops)
      : selector_(std::move(selector)),
        inputs_(std::move(inputs)),
        left_(inputs_.size()),
        stops_(stops) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (selector_ != nullptr) {
      Tensors selected;
      SLUICE_ASSIGN_OR_RETURN(const bool any_selected, selector_->Next(&selected));
      if (!any_selected) break;
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer * input, InputOf(selected));
      if (*input == nullptr) continue;
      SLUICE_ASSIGN_OR_RETURN(const bool any, (*input)->Next(element));
      if (any) return true;
      *input = nullptr;
      if (stops_ || --left_ == 0) break;
    }
    selector_ = nullptr;
    inputs_.clear();
    return false;
  }

 private:
  absl::StatusOr<IteratorPointer*> InputOf(const Tensors& selected) {
    if (selected.size() != 1 || selected[0].dtype() != DT_INT64 || selected[0].rank() != 0) {
      return InvalidArgument("The selector input must be a dataset of scalar int64 elements.");
    }
    const auto i = selected[0].scalar<int64_t>();
    if (i < 0 || i >= static_cast<int64_t>(inputs_.size())) {
      return InvalidArgument("Selector index out of range: ", i, " >= ", inputs_.size());
    }
    return &inputs_[static_cast<size_t>(i)];
  }

  IteratorPointer selector_;             // null at the end
  std::vector<IteratorPointer> inputs_;  // null where one has ended
  size_t left_;                          // that have not ended
  const bool stops_;
};

absl::Status DirectedInterleaveDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer selector, DatasetIn(c.input(0)));
  std::vector<DatasetPointer> inputs;
  Facts facts = selector->facts().And({});
  bool is_infinite = false;
  for (int i = 1; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(DatasetPointer input, DatasetIn(c.input(i)));
    facts = facts.And(input->facts());
    is_infinite = is_infinite || input->facts().cardinality == Facts::kInfinite;
    inputs.push_back(std::move(input));
  }
  if (is_infinite) facts.cardinality = Facts::kInfinite;
  const bool stops = c.node().AttrOr<bool>("stop_on_empty_dataset", false);
  const auto iterate = [=](Reading& reading) -> Iterating {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer first, selector->Iterate(reading));
    std::vector<IteratorPointer> iterators;
    for (const DatasetPointer& input : inputs) {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer iterator, input->Iterate(reading));
      iterators.push_back(std::move(iterator));
    }
    return IteratorPointer(new DirectedIterator(std::move(first), std::move(iterators), stops));
  };
  c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
  return absl::OkStatus();
}

// --- what was not there before

absl::Status CheckComparable(const std::vector<DataType>& types) {
  if (types.size() != 1) {
    return InvalidArgument("UniqueDataset only supports inputs with a single component.");
  }
  if (types[0] != DT_INT32 && types[0] != DT_INT64 && types[0] != DT_STRING) {
    return InvalidArgument(
        "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` "
        "component.");
  }
  return absl::OkStatus();
}

// The same for equal tensors alone.
std::string KeyOf(const Tensor& t) {
  std::string key = t.shape().ToString();
  if (t.dtype() != DT_STRING) {
    key.append(static_cast<const char*>(t.raw()),
               static_cast<size_t>(t.num_elements()) * DataTypeSize(t.dtype()));
    return key;
  }
  for (const std::string& s : t.flat<std::string>()) key += StrCat(s.size(), ":", s);
  return key;
}

absl::Status UniqueDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_RETURN_IF_ERROR(
      CheckComparable(c.node().AttrOr<std::vector<DataType>>("output_types", {})));
  const auto iterate = [input](Reading& reading) -> Iterating {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
    return MakeIterator([inner = Inner(std::move(start)), seen = std::unordered_set<std::string>()](
                            Tensors* element) mutable -> Next {
      while (true) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
        if (!any) return false;
        std::vector<DataType> types;
        for (const Tensor& t : *element) types.push_back(t.dtype());
        SLUICE_RETURN_IF_ERROR(CheckComparable(types));
        if (seen.insert(KeyOf((*element)[0])).second) return true;
      }
    });
  };
  c.set_output(0, TensorOf(MakeDataset(input->facts().WithCardinality(Facts::kUnknown), iterate)));
  return absl::OkStatus();
}

// --- windows

struct WindowSpec {
  int64_t size, shift, stride;
  bool drop_remainder;
  int64_t span() const { return (size - 1) * stride + 1; }  // elements from first to last
};

class WindowIterator : public DatasetIterator {
 public:
  WindowIterator(IteratorPointer inner, const WindowSpec& spec, const Reading& reading)
      : inner_(std::move(inner)), spec_(spec), reading_(reading) {}

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
    return true;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(ahead_.size()); }

  // An error is an element too: that of its window.
  void Take() {
    Tensors next;
    const absl::StatusOr<bool> any = inner_->Next(&next);
    if (!any.ok()) {
      if (!CheckWanted(reading_).ok()) inner_ = nullptr;
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

  IteratorPointer inner_;  // null at its end
  const WindowSpec spec_;
  const Reading& reading_;
  std::deque<absl::StatusOr<Tensors>> ahead_;
};

absl::StatusOr<WindowSpec> WindowSpecOf(const KernelContext& c) {
  WindowSpec spec;
  SLUICE_ASSIGN_OR_RETURN(spec.size, ScalarInput<int64_t>(c, 1, "size"));
  SLUICE_ASSIGN_OR_RETURN(spec.shift, ScalarInput<int64_t>(c, 2, "shift"));
  SLUICE_ASSIGN_OR_RETURN(spec.stride, ScalarInput<int64_t>(c, 3, "stride"));
  SLUICE_ASSIGN_OR_RETURN(spec.drop_remainder, ScalarInput<bool>(c, 4, "drop_remainder"));
  if (spec.size <= 0) return InvalidArgument("Window size must be greater than zero.");
  if (spec.shift <= 0) return InvalidArgument("Window shift must be greater than zero.");
  if (spec.stride <= 0) return InvalidArgument("Window stride must be greater than zero.");
  int64_t span;
  if (__builtin_mul_overflow(spec.size - 1, spec.stride, &span) ||
      __builtin_add_overflow(span, int64_t{1}, &span)) {
    return InvalidArgument("window size ", spec.size, " with stride ", spec.stride,
                           " is too large");
  }
  return spec;
}

absl::Status WindowDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const WindowSpec spec, WindowSpecOf(c));
  const auto windows_of = [spec](int64_t n) -> int64_t {
    if (!spec.drop_remainder) return n / spec.shift + (n % spec.shift == 0 ? 0 : 1);
    return n < spec.span() ? 0 : (n - spec.span()) / spec.shift + 1;
  };
  const auto iterate = [=](Reading& reading) -> Iterating {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
    return IteratorPointer(new WindowIterator(std::move(start), spec, reading));
  };
  c.set_output(0,
               TensorOf(MakeDataset(input->facts().OfOtherElements().Scaled(windows_of), iterate)));
  return absl::OkStatus();
}

// --- parts of batches

// Part `part` of `parts` of the rows of each component.
absl::StatusOr<Tensors> PartOf(const Tensors& batch, int64_t part, int64_t parts) {
  Tensors result;
  for (const Tensor& t : batch) {
    const int64_t rows = t.dim(0), size = rows / parts + (rows % parts == 0 ? 0 : 1);
    const int64_t first = std::min(rows, SaturatedProduct(part, size));
    const int64_t last = std::min(rows, SaturatedSum(first, size));
    SLUICE_ASSIGN_OR_RETURN(Tensor slice, t.SliceRows(first, last).Clone());
    result.push_back(std::move(slice));
  }
  return result;
}

absl::Status RebatchDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto parts, ScalarInput<int64_t>(c, 1, "num_replicas"));
  if (parts <= 0) return InvalidArgument("num_replicas must be greater than zero.");
  const auto iterate = [=](Reading& reading) -> Iterating {
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
    return MakeIterator([parts, &reading, inner = Inner(std::move(start)), part = int64_t{0},
                         batch = Tensors()](Tensors* element) mutable -> Next {
      SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
      if (part == 0) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(&batch));
        if (!any) return false;
        for (size_t i = 0; i < batch.size(); ++i) {
          if (batch[i].rank() > 0) continue;
          return InvalidArgument(
              "Cannot rebatch dataset: All components must have at least one dimension. Perhaps "
              "your input dataset is not batched? Component ",
              i, " is scalar.");
        }
      }
      SLUICE_ASSIGN_OR_RETURN(*element, PartOf(batch, part, parts));
      part = (part + 1) % parts;
      return true;
    });
  };
  c.set_output(0, TensorOf(MakeDataset({.options = input->facts().options}, iterate)));
  return absl::OkStatus();
}

KERNEL(DatasetCardinality, FunctionKernel<DatasetCardinality>);
KERNEL(DirectedInterleaveDataset, FunctionKernel<DirectedInterleaveDataset>);
KERNEL(GetOptions, FunctionKernel<GetOptions>);
KERNEL(RebatchDataset, FunctionKernel<RebatchDataset>);
KERNEL(UniqueDataset, FunctionKernel<UniqueDataset>);
KERNEL(WindowDataset, FunctionKernel<WindowDataset>);

}  // namespace
}  // namespace sluice
