// Datasets of the groups that keys make of the elements.
#include <map>
#include <utility>

#include "executor/kernel/context.h"
#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"

namespace sluice {
namespace {

// A state a key, all of them made before the first is given out.
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
    SLUICE_ASSIGN_OR_RETURN(const int64_t key, ScalarOf(made, "key_func"));
    auto state = states_.find(key);
    if (state == states_.end()) {
      SLUICE_ASSIGN_OR_RETURN(Tensors first, functions_.init(made, reading_));
      state = states_.emplace(key, std::move(first)).first;
    }
    SLUICE_ASSIGN_OR_RETURN(state->second,
                            functions_.reduce(Joined(state->second, element), reading_));
    return absl::OkStatus();
  }

  IteratorPointer inner_;  // null at its end
  const Functions functions_;
  Reading& reading_;
  std::map<int64_t, Tensors> states_;  // by key
};

class GroupByReducerKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto key,
                            CapturedFunction::Make(init, "key_func", "key_func_other_arguments"));
    SLUICE_ASSIGN_OR_RETURN(auto begin,
                            CapturedFunction::Make(init, "init_func", "init_func_other_arguments"));
    SLUICE_ASSIGN_OR_RETURN(
        auto reduce, CapturedFunction::Make(init, "reduce_func", "reduce_func_other_arguments"));
    SLUICE_ASSIGN_OR_RETURN(auto finalize, CapturedFunction::Make(init, "finalize_func",
                                                                  "finalize_func_other_arguments"));
    return std::unique_ptr<Kernel>(new GroupByReducerKernel(
        std::move(key), std::move(begin), std::move(reduce), std::move(finalize)));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    const ReducedGroupsIterator::Functions functions = {
        .key = key_(c), .init = init_(c), .reduce = reduce_(c), .finalize = finalize_(c)};
    const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
      return IteratorPointer(new ReducedGroupsIterator(std::move(start), functions, reading));
    };
    c.set_output(0, TensorOf(MakeDataset({.options = input->facts().options}, iterate)));
    return absl::OkStatus();
  }

 private:
  GroupByReducerKernel(CapturedFunction key, CapturedFunction init, CapturedFunction reduce,
                       CapturedFunction finalize)
      : key_(std::move(key)),
        init_(std::move(init)),
        reduce_(std::move(reduce)),
        finalize_(std::move(finalize)) {}
  const CapturedFunction key_, init_, reduce_, finalize_;
};

// Windows of elements of one key, each made into a dataset that is read to its end.
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
      SLUICE_RETURN_IF_ERROR(Open(groups_.begin()));  // what is left, by key
    }
  }

 private:
  using Groups = std::map<int64_t, std::vector<Tensors>>;  // elements by key

  absl::Status Add(Tensors element) {
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, functions_.key(element, reading_));
    SLUICE_ASSIGN_OR_RETURN(const int64_t key, ScalarOf(made, "key_func"));
    auto size = sizes_.find(key);
    if (size == sizes_.end()) {
      SLUICE_ASSIGN_OR_RETURN(const Tensors asked, functions_.window_size(made, reading_));
      SLUICE_ASSIGN_OR_RETURN(const int64_t wanted, ScalarOf(asked, "window_size_func"));
      if (wanted <= 0) {
        return InvalidArgument("Window size must be greater than zero, but got ", wanted, ".");
      }
      size = sizes_.emplace(key, wanted).first;
    }
    const auto group = groups_.try_emplace(key).first;
    group->second.push_back(std::move(element));
    if (static_cast<int64_t>(group->second.size()) < size->second) return absl::OkStatus();
    return Open(group);
  }

  // Takes the group away.
  absl::Status Open(Groups::iterator group) {
    const Tensor key = Tensor::Scalar<int64_t>(group->first);
    const Tensor window = TensorOf(DatasetOf({}, std::move(group->second)));
    groups_.erase(group);
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, functions_.reduce({key, window}, reading_));
    if (made.size() != 1 || made[0].dtype() != DT_VARIANT || made[0].rank() != 0) {
      return InvalidArgument("`reduce_func` must return a single scalar of dtype DT_VARIANT.");
    }
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(made[0]));
    SLUICE_ASSIGN_OR_RETURN(window_, dataset->Iterate(reading_));
    return absl::OkStatus();
  }

  IteratorPointer inner_;  // null at its end
  const Functions functions_;
  Reading& reading_;
  Groups groups_;
  std::map<int64_t, int64_t> sizes_;  // of windows, by key
  IteratorPointer window_;            // null: none is being read
};

class GroupByWindowKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto key,
                            CapturedFunction::Make(init, "key_func", "key_func_other_arguments"));
    SLUICE_ASSIGN_OR_RETURN(
        auto reduce, CapturedFunction::Make(init, "reduce_func", "reduce_func_other_arguments"));
    SLUICE_ASSIGN_OR_RETURN(auto size, CapturedFunction::Make(init, "window_size_func",
                                                              "window_size_func_other_arguments"));
    return std::unique_ptr<Kernel>(
        new GroupByWindowKernel(std::move(key), std::move(reduce), std::move(size)));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    const WindowedGroupsIterator::Functions functions = {
        .key = key_(c), .reduce = reduce_(c), .window_size = size_(c)};
    const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
      return IteratorPointer(new WindowedGroupsIterator(std::move(start), functions, reading));
    };
    DatasetFacts facts = input->facts().OfOtherElements();
    if (facts.is_finite()) facts.cardinality = DatasetFacts::kUnknown;
    c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
    return absl::OkStatus();
  }

 private:
  GroupByWindowKernel(CapturedFunction key, CapturedFunction reduce, CapturedFunction size)
      : key_(std::move(key)), reduce_(std::move(reduce)), size_(std::move(size)) {}
  const CapturedFunction key_, reduce_, size_;
};

KERNEL(GroupByReducerDataset, GroupByReducerKernel);
KERNEL(GroupByWindowDataset, GroupByWindowKernel);

}  // namespace
}  // namespace sluice
