// Datasets that group elements by a key that a function computes.
#include <map>
#include <utility>

#include "executor/kernel/context.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"

namespace sluice {
namespace {

// Reduces the elements of each key to a state. Reads the whole input before the first element.
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

  IteratorPointer inner_;  // null at the end
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

// Collects windows of elements with one key. A function turns each window into a dataset, which is
// read to its end before the next window.
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
      SLUICE_RETURN_IF_ERROR(Open(groups_.begin()));  // the rest, by key
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

  // Removes the group and starts to read the dataset that is made of it.
  absl::Status Open(Groups::iterator group) {
    const Tensor key = Tensor::Scalar<int64_t>(group->first);
    const Tensor window = TensorOf(DatasetOf({}, std::move(group->second)));
    groups_.erase(group);
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, functions_.reduce({key, window}, reading_));
    SLUICE_INVALID_IF(made.size() != 1 || made[0].dtype() != DT_VARIANT || made[0].rank() != 0,
                      "`reduce_func` must return a single scalar of dtype DT_VARIANT.");
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(made[0]));
    SLUICE_ASSIGN_OR_RETURN(window_, dataset->Iterate(reading_));
    return absl::OkStatus();
  }

  IteratorPointer inner_;  // null at the end
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

}  // namespace
}  // namespace sluice
