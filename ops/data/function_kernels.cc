// Datasets whose elements functions make or choose.
#include <algorithm>
#include <thread>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/parallel_map.h"

namespace sluice {
namespace {

using Next = absl::StatusOr<bool>;
using Iterating = absl::StatusOr<IteratorPointer>;
using Inner = std::shared_ptr<DatasetIterator>;

absl::StatusOr<bool> Holds(const Closure& predicate, const Tensors& element, Reading& reading) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors result, predicate(element, reading));
  if (result.size() == 1 && result[0].dtype() == DT_BOOL && result[0].num_elements() == 1) {
    return result[0].scalar<bool>();
  }
  return InvalidArgument("Filter predicate `f` must return a scalar bool.");
}

// Of what a function makes of each element.
DatasetFacts MappedFacts(const KernelContext& c, const DatasetPointer& input) {
  const DatasetFacts facts = input->facts().OfOtherElements();
  if (c.node().AttrOr<bool>("preserve_cardinality", false)) return facts;
  return facts.WithCardinality(DatasetFacts::kUnknown);
}

// What functions and parallel calls of a dataset op have in common: its function, and its captured
// arguments, which are `other_arguments`.
class FunctionDatasetKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    SLUICE_ASSIGN_OR_RETURN(
        DatasetPointer dataset,
        Make(c, input, Closure::Of(c, function_, arguments_), arguments_.second));
    c.set_output(0, TensorOf(std::move(dataset)));
    return absl::OkStatus();
  }

 protected:
  FunctionDatasetKernel(const KernelInit& init, FunctionPointer function)
      : function_(std::move(function)), arguments_(init.InputRange("other_arguments")) {}
  // `next_input` is the first input behind the captured arguments.
  virtual absl::StatusOr<DatasetPointer> Make(KernelContext& c, const DatasetPointer& input,
                                              Closure closure, int next_input) const = 0;

 private:
  const FunctionPointer function_;
  const std::pair<int, int> arguments_;
};

// K with the function that attribute `attr` of the op names.
template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> MakeWith(KernelInit& init, const char* attr) {
  SLUICE_ASSIGN_OR_RETURN(FunctionPointer function, DatasetFunction::Make(init, attr));
  return std::unique_ptr<Kernel>(new K(init, std::move(function)));
}

class MapKernel final : public FunctionDatasetKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeWith<MapKernel>(init, "f");
  }
  MapKernel(const KernelInit& init, FunctionPointer function)
      : FunctionDatasetKernel(init, std::move(function)) {}

 protected:
  absl::StatusOr<DatasetPointer> Make(KernelContext& c, const DatasetPointer& input, Closure f,
                                      int) const override {
    return MakeDataset(MappedFacts(c, input), [=](Reading& reading) -> Iterating {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
      return MakeIterator([f, &reading, inner = Inner(std::move(start))](Tensors* element) -> Next {
        Tensors taken;
        SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(&taken));
        if (!any) return false;
        SLUICE_ASSIGN_OR_RETURN(*element, f(taken, reading));
        return true;
      });
    });
  }
};

class ParallelMapKernel final : public FunctionDatasetKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeWith<ParallelMapKernel>(init, "f");
  }
  ParallelMapKernel(const KernelInit& init, FunctionPointer function)
      : FunctionDatasetKernel(init, std::move(function)) {}

 protected:
  absl::StatusOr<DatasetPointer> Make(KernelContext& c, const DatasetPointer& input, Closure f,
                                      int next_input) const override {
    SLUICE_ASSIGN_OR_RETURN(const int64_t calls, ParallelCalls(c, next_input));
    return MakeDataset(MappedFacts(c, input), [=](Reading& reading) -> Iterating {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
      return ParallelMap(std::move(start), f, calls, reading);
    });
  }
};

class FilterKernel final : public FunctionDatasetKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeWith<FilterKernel>(init, "predicate");
  }
  FilterKernel(const KernelInit& init, FunctionPointer function)
      : FunctionDatasetKernel(init, std::move(function)),
        ends_at_first_(init.node().op() == "TakeWhileDataset") {}

 protected:
  absl::StatusOr<DatasetPointer> Make(KernelContext&, const DatasetPointer& input,
                                      Closure predicate, int) const override {
    DatasetFacts facts = input->facts().WithCardinality(DatasetFacts::kUnknown);
    return MakeDataset(
        std::move(facts), [=, ends_at_first = ends_at_first_](Reading& reading) -> Iterating {
          SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
          return MakeIterator([predicate, ends_at_first, &reading,
                               inner = Inner(std::move(start))](Tensors* element) mutable -> Next {
            while (inner != nullptr) {
              SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
              if (!any) return false;
              SLUICE_ASSIGN_OR_RETURN(const bool holds, Holds(predicate, *element, reading));
              if (holds) return true;
              if (ends_at_first) inner = nullptr;
            }
            return false;
          });
        });
  }

 private:
  const bool ends_at_first_;  // else it goes on behind it
};

// The elements of the datasets that a function makes, of some datasets in turn.
class InterleaveIterator : public DatasetIterator {
 public:
  InterleaveIterator(IteratorPointer inner, Closure f, int64_t cycle, int64_t block,
                     Reading& reading)
      : inner_(std::move(inner)),
        f_(std::move(f)),
        cycle_(static_cast<size_t>(cycle)),
        block_(block),
        reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (true) {
      // Places are made when it is first their turn: a cycle may have more than there are elements.
      if (turn_ == open_.size()) open_.emplace_back();
      IteratorPointer& current = open_[turn_];
      if (current == nullptr) {
        SLUICE_ASSIGN_OR_RETURN(const bool any, Open(&current));
        if (!any && IsOver()) return false;
        if (!any) Advance();
        if (!any) continue;
      }
      const absl::StatusOr<bool> any = current->Next(element);
      if (any.ok() && *any) {
        if (++taken_ == block_) Advance();
        return true;
      }
      current = nullptr;
      Advance();
      if (!any.ok()) return any.status();
    }
  }

 private:
  bool IsOver() const {
    return inner_ == nullptr && std::all_of(open_.begin(), open_.end(),
                                            [](const IteratorPointer& p) { return p == nullptr; });
  }
  void Advance() {
    ++turn_;
    if (turn_ == cycle_ || (inner_ == nullptr && turn_ == open_.size())) turn_ = 0;
    taken_ = 0;
  }
  absl::StatusOr<bool> Open(IteratorPointer* place) {
    if (inner_ == nullptr) return false;
    Tensors taken;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&taken));
    if (!any) inner_ = nullptr;
    if (!any) return false;
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, f_(taken, reading_));
    if (made.size() != 1) return InvalidArgument("Function must return a single dataset.");
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(made[0]));
    SLUICE_ASSIGN_OR_RETURN(*place, dataset->Iterate(reading_));
    return true;
  }

  IteratorPointer inner_;
  const Closure f_;
  const size_t cycle_;
  const int64_t block_;
  Reading& reading_;
  std::vector<IteratorPointer> open_;  // the places of the cycle that had a turn
  size_t turn_ = 0;
  int64_t taken_ = 0;  // of the current one in this turn
};

// FlatMapDataset: one dataset at a time.
class InterleaveKernel final : public FunctionDatasetKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeWith<InterleaveKernel>(init, "f");
  }
  InterleaveKernel(const KernelInit& init, FunctionPointer function)
      : FunctionDatasetKernel(init, std::move(function)),
        is_flat_(init.node().op() == "FlatMapDataset"),
        is_parallel_(init.node().op().starts_with("Parallel")) {}

 protected:
  absl::StatusOr<DatasetPointer> Make(KernelContext& c, const DatasetPointer& input, Closure f,
                                      int next_input) const override {
    int64_t cycle = 1, block = 1;
    if (!is_flat_) {
      SLUICE_ASSIGN_OR_RETURN(cycle, ScalarInput<int64_t>(c, next_input, "cycle_length"));
      SLUICE_ASSIGN_OR_RETURN(block, ScalarInput<int64_t>(c, next_input + 1, "block_length"));
    }
    constexpr int64_t kAutotune = -1;
    if (cycle == kAutotune) cycle = std::max(1u, std::thread::hardware_concurrency());
    if (cycle <= 0) return InvalidArgument("cycle_length must be greater than zero.");
    if (block <= 0) return InvalidArgument("block_length must be greater than zero.");
    DatasetFacts facts = input->facts().OfOtherElements();
    if (facts.is_finite() || !is_parallel_) facts.cardinality = DatasetFacts::kUnknown;
    return MakeDataset(std::move(facts), [=](Reading& reading) -> Iterating {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
      return IteratorPointer(new InterleaveIterator(std::move(start), f, cycle, block, reading));
    });
  }

 private:
  const bool is_flat_;
  const bool is_parallel_;
};

KERNEL(FilterDataset, FilterKernel);
KERNEL(FlatMapDataset, InterleaveKernel);
KERNEL(InterleaveDataset, InterleaveKernel);
KERNEL(MapDataset, MapKernel);
KERNEL(ParallelFilterDataset, FilterKernel);
KERNEL(ParallelInterleaveDatasetV2, InterleaveKernel);
KERNEL(ParallelInterleaveDatasetV3, InterleaveKernel);
KERNEL(ParallelInterleaveDatasetV4, InterleaveKernel);
KERNEL(ParallelMapDataset, ParallelMapKernel);
KERNEL(ParallelMapDatasetV2, ParallelMapKernel);
KERNEL(TakeWhileDataset, FilterKernel);

}  // namespace
}  // namespace sluice
