// ParallelInterleaveDataset and LegacyParallelInterleaveDatasetV2.
#include <string>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"

namespace sluice {
namespace {

// Reads blocks of a cycle of datasets that a function makes. The next dataset of the input takes
// the place of one that ends, and has its turn with the next round. If the input has ended, the
// next dataset of the cycle continues the block.
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

  // Opens the first datasets.
  absl::Status FillCycle() {
    while (inner_ != nullptr && static_cast<int64_t>(open_.size()) < cycle_) {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer first, Open());
      if (first != nullptr) open_.push_back(std::move(first));
    }
    return absl::OkStatus();
  }

  // An iterator over the dataset of the next element. Null at the end of the input.
  absl::StatusOr<IteratorPointer> Open() {
    if (inner_ == nullptr) return nullptr;
    Tensors taken;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&taken));
    if (!any) inner_ = nullptr;
    if (!any) return nullptr;
    return IterateMade(f_, taken, reading_);
  }

  IteratorPointer inner_;  // null at the end
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
