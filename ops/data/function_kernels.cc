// Datasets whose elements are computed or selected by one function.
#include <algorithm>
#include <string>
#include <thread>
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

using Next = absl::StatusOr<bool>;
using MadeDataset = absl::StatusOr<DatasetPointer>;
using Closures = std::vector<Closure>;  // has one element, because each op has one function

absl::StatusOr<bool> Holds(const Closure& predicate, const Tensors& element, Reading& reading) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors result, predicate(element, reading));
  if (result.size() == 1 && result[0].dtype() == DT_BOOL && result[0].num_elements() == 1) {
    return result[0].scalar<bool>();
  }
  return InvalidArgument("Filter predicate `f` must return a scalar bool.");
}

// Returns the facts about a dataset that applies a function to each element, given those of its
// input. The function may end the dataset early, unless attribute preserve_cardinality is true.
DatasetFacts MappedFacts(const KernelContext& c, const DatasetFacts& in) {
  if (c.node().AttrOr<bool>("preserve_cardinality", false)) return in;
  return in.WithCardinality(DatasetFacts::kUnknown);
}

ElementAt MappedAt(const DatasetPointer& input, const Closure& f) {
  return [=](int64_t i, Reading& reading) -> absl::StatusOr<Tensors> {
    SLUICE_ASSIGN_OR_RETURN(const Tensors element, input->At(i, reading));
    return f(element, reading);
  };
}

MadeDataset MapDataset(const KernelContext& c, Closures f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  const auto start = [f = f[0]](IteratorPointer inner, Reading& reading) {
    return MakeIterator([f, &reading, inner = std::move(inner)](Tensors* element) -> Next {
      Tensors taken;
      SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(&taken));
      if (!any) return false;
      SLUICE_ASSIGN_OR_RETURN(*element, f(taken, reading));
      return true;
    });
  };
  return MakeDatasetOver(input, MappedFacts(c, input->facts().OfOtherElements()), start,
                         MappedAt(input, f[0]));
}

MadeDataset ParallelMapDataset(const KernelContext& c, Closures f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const int64_t calls, ParallelCalls(c));
  const auto start = [f = f[0], calls](IteratorPointer inner, Reading& reading) {
    return ParallelMap(std::move(inner), f, calls, reading);
  };
  return MakeDatasetOver(input, MappedFacts(c, input->facts().OfOtherElements()), start,
                         MappedAt(input, f[0]));
}

// Stacks the next results into a batch. If a result cannot be computed, its batch fails, and the
// next call returns the next batch.
Next NextBatch(DatasetIterator& mapped, const BatchSpec& spec, const Reading& reading,
               Tensors* batch) {
  std::vector<Tensors> rows;
  absl::Status first_error;
  for (int64_t i = 0; i < spec.size; ++i) {
    SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
    Tensors row;
    const Next any = mapped.Next(&row);
    if (any.ok() && !*any) break;
    if (any.ok()) rows.push_back(std::move(row));
    if (!any.ok() && !absl::IsOutOfRange(any.status())) first_error.Update(any.status());
  }
  SLUICE_RETURN_IF_ERROR(first_error);
  if (rows.empty() || spec.Drops(rows)) return false;
  SLUICE_ASSIGN_OR_RETURN(*batch, BatchOf(rows));
  return true;
}

MadeDataset MapAndBatchDataset(const KernelContext& c, Closures f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  BatchSpec spec;
  SLUICE_ASSIGN_OR_RETURN(spec.size, ScalarInput<int64_t>(c, "batch_size"));
  SLUICE_INVALID_IF(spec.size <= 0, "batch_size must be greater than zero.");
  SLUICE_ASSIGN_OR_RETURN(const int64_t calls, ParallelCalls(c));
  SLUICE_ASSIGN_OR_RETURN(spec.drop_remainder, ScalarInput<bool>(c, "drop_remainder"));
  const auto start = [=, f = f[0]](IteratorPointer inner, Reading& reading) {
    return MakeIterator(
        [mapped = ParallelMap(std::move(inner), f, calls, reading), spec,
         &reading](Tensors* element) { return NextBatch(*mapped, spec, reading, element); });
  };
  return MakeDatasetOver(input, MappedFacts(c, BatchedFacts(input->facts(), spec)), start);
}

template <bool kEndsAtFirst>  // ends at the first element for which the predicate does not hold
MadeDataset FilterDataset(const KernelContext& c, Closures predicate) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  const auto start = [predicate = predicate[0]](IteratorPointer inner, Reading& reading) {
    return MakeIterator(
        [predicate, &reading, inner = std::move(inner)](Tensors* element) mutable -> Next {
          while (inner != nullptr) {
            SLUICE_ASSIGN_OR_RETURN(const bool any, inner->Next(element));
            if (!any) return false;
            SLUICE_ASSIGN_OR_RETURN(const bool holds, Holds(predicate, *element, reading));
            if (holds) return true;
            if (kEndsAtFirst) inner = nullptr;
          }
          return false;
        });
  };
  return MakeDatasetOver(input, input->facts().WithCardinality(DatasetFacts::kUnknown), start);
}

// Interleaves datasets. A function makes one dataset for each input element. Up to `cycle` datasets
// are open, and each in turn yields `block` elements.
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
      // Adds each place of the cycle in its first turn, because the cycle may be longer than the
      // input.
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
    SLUICE_ASSIGN_OR_RETURN(*place, IterateMade(f_, taken, reading_));
    return true;
  }

  IteratorPointer inner_;  // null after the end of the input
  const Closure f_;
  const size_t cycle_;
  const int64_t block_;
  Reading& reading_;
  std::vector<IteratorPointer> open_;  // places of the cycle that had a turn
  size_t turn_ = 0;
  int64_t taken_ = 0;  // elements of the current dataset in this turn
};

MadeDataset Interleave(const DatasetPointer& input, DatasetFacts facts, const Closure& f,
                       int64_t cycle, int64_t block) {
  return MakeDatasetOver(input, std::move(facts), [=](IteratorPointer inner, Reading& reading) {
    return std::make_unique<InterleaveIterator>(std::move(inner), f, cycle, block, reading);
  });
}

template <bool kIsParallel>
MadeDataset InterleaveDataset(const KernelContext& c, Closures f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(auto cycle, ScalarInput<int64_t>(c, "cycle_length"));
  SLUICE_ASSIGN_OR_RETURN(const auto block, ScalarInput<int64_t>(c, "block_length"));
  constexpr int64_t kAutotune = -1;
  if (cycle == kAutotune) cycle = std::max(1u, std::thread::hardware_concurrency());
  SLUICE_INVALID_IF(cycle <= 0, "cycle_length must be greater than zero.");
  SLUICE_INVALID_IF(block <= 0, "block_length must be greater than zero.");
  DatasetFacts facts = input->facts().OfOtherElements();
  if (facts.is_finite() || !kIsParallel) facts.cardinality = DatasetFacts::kUnknown;
  return Interleave(input, std::move(facts), f[0], cycle, block);
}

// FlatMap is an Interleave with a cycle of one dataset.
MadeDataset FlatMapDataset(const KernelContext& c, Closures f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  return Interleave(input, {.options = input->facts().options}, f[0], 1, 1);
}

KERNEL(ExperimentalMapAndBatchDataset, FunctionDatasetKernel<MapAndBatchDataset>);
KERNEL(ExperimentalTakeWhileDataset, FunctionDatasetKernel<FilterDataset<true>>);
KERNEL(FilterDataset, FunctionDatasetKernel<FilterDataset<false>>);
KERNEL(FlatMapDataset, FunctionDatasetKernel<FlatMapDataset>);
KERNEL(InterleaveDataset, FunctionDatasetKernel<InterleaveDataset<false>>);
KERNEL(MapAndBatchDataset, FunctionDatasetKernel<MapAndBatchDataset>);
KERNEL(MapDataset, FunctionDatasetKernel<MapDataset>);
KERNEL(ParallelFilterDataset, FunctionDatasetKernel<FilterDataset<false>>);
KERNEL(ParallelInterleaveDatasetV2, FunctionDatasetKernel<InterleaveDataset<true>>);
KERNEL(ParallelInterleaveDatasetV3, FunctionDatasetKernel<InterleaveDataset<true>>);
KERNEL(ParallelInterleaveDatasetV4, FunctionDatasetKernel<InterleaveDataset<true>>);
KERNEL(ParallelMapDataset, FunctionDatasetKernel<ParallelMapDataset>);
KERNEL(ParallelMapDatasetV2, FunctionDatasetKernel<ParallelMapDataset>);
KERNEL(TakeWhileDataset, FunctionDatasetKernel<FilterDataset<true>>);

// Interleaves datasets like TensorFlow's legacy ops. If a dataset ends, the next dataset of the
// input takes its place, but is read only in the next round. If the input has ended, the place
// stays empty, and the next dataset of the cycle yields the rest of the block.
class LegacyInterleaveIterator : public DatasetIterator {
 public:
  LegacyInterleaveIterator(IteratorPointer inner, Closure f, int64_t cycle, int64_t block,
                           Reading& reading)
      : inner_(std::move(inner)),
        f_(std::move(f)),
        cycle_(cycle),
        block_(block),
        reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    SLUICE_RETURN_IF_ERROR(FillCycle());
    for (size_t ended = 0; ended < open_.size();) {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading_));
      IteratorPointer& current = open_[turn_];
      if (current == nullptr) {
        ++ended;
        Advance();
        continue;
      }
      const absl::StatusOr<bool> any = current->Next(element);
      if (!any.ok() || *any) {
        if (++taken_ == block_) EndBlock();
        if (!any.ok()) return any.status();
        return true;
      }
      current = nullptr;
      SLUICE_ASSIGN_OR_RETURN(current, Open());
      ended = 0;
      current != nullptr ? EndBlock() : Advance();
    }
    return false;
  }

 private:
  void Advance() { turn_ = (turn_ + 1) % open_.size(); }
  void EndBlock() {
    Advance();
    taken_ = 0;
  }

  // Opens datasets until the cycle is full.
  absl::Status FillCycle() {
    while (inner_ != nullptr && static_cast<int64_t>(open_.size()) < cycle_) {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer first, Open());
      if (first != nullptr) open_.push_back(std::move(first));
    }
    return absl::OkStatus();
  }

  // Returns an iterator over the dataset of the next element, or null at the end of the input.
  absl::StatusOr<IteratorPointer> Open() {
    if (inner_ == nullptr) return nullptr;
    Tensors taken;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&taken));
    if (!any) inner_ = nullptr;
    if (!any) return nullptr;
    return IterateMade(f_, taken, reading_);
  }

  IteratorPointer inner_;  // null after the end of the input
  const Closure f_;
  const int64_t cycle_, block_;
  Reading& reading_;
  std::vector<IteratorPointer> open_;  // null for datasets that have ended
  size_t turn_ = 0;
  int64_t taken_ = 0;  // elements of the current block
};

absl::Status CheckArgument(const KernelContext& c, const char* name, int64_t least) {
  SLUICE_ASSIGN_OR_RETURN(const auto value, ScalarInput<int64_t>(c, name));
  SLUICE_INVALID_IF(value<least, "`", name, "` must be ", least> 0 ? "> 0" : ">= 0");
  return absl::OkStatus();
}

absl::StatusOr<DatasetPointer> LegacyInterleave(const KernelContext& c, std::vector<Closure> f) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto cycle, ScalarInput<int64_t>(c, "cycle_length"));
  SLUICE_ASSIGN_OR_RETURN(const auto block, ScalarInput<int64_t>(c, "block_length"));
  SLUICE_RETURN_IF_ERROR(CheckArgument(c, "cycle_length", 1));
  SLUICE_RETURN_IF_ERROR(CheckArgument(c, "block_length", 1));
  SLUICE_RETURN_IF_ERROR(CheckArgument(c, "buffer_output_elements", 1));
  SLUICE_RETURN_IF_ERROR(CheckArgument(c, "prefetch_input_elements", 0));
  return MakeDatasetOver(input, {.options = input->facts().options},
                         [=, f = f[0]](IteratorPointer inner, Reading& reading) {
                           return std::make_unique<LegacyInterleaveIterator>(std::move(inner), f,
                                                                             cycle, block, reading);
                         });
}

KERNEL(ExperimentalParallelInterleaveDataset, FunctionDatasetKernel<LegacyInterleave>);
KERNEL(LegacyParallelInterleaveDatasetV2, FunctionDatasetKernel<LegacyInterleave>);
KERNEL(ParallelInterleaveDataset, FunctionDatasetKernel<LegacyInterleave>);

}  // namespace
}  // namespace sluice
