// MapAndBatchDataset.
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/data/batch.h"
#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"
#include "ops/data/parallel_map.h"

namespace sluice {
namespace {

class MapAndBatchKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto f, CapturedFunction::Make(init, "f", "other_arguments"));
    return std::unique_ptr<Kernel>(new MapAndBatchKernel(init, std::move(f)));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    SLUICE_ASSIGN_OR_RETURN(const auto size, ScalarInput<int64_t>(c, first_number_, "batch_size"));
    if (size <= 0) return InvalidArgument("batch_size must be greater than zero.");
    SLUICE_ASSIGN_OR_RETURN(const int64_t calls, ParallelCalls(c, first_number_ + 1));
    SLUICE_ASSIGN_OR_RETURN(const auto drop,
                            ScalarInput<bool>(c, first_number_ + 2, "drop_remainder"));
    DatasetFacts facts = BatchedFacts(input->facts(), size, drop);
    if (!preserves_) facts.cardinality = DatasetFacts::kUnknown;
    const auto iterate = [=, f = f_(c)](Reading& reading) -> absl::StatusOr<IteratorPointer> {
      SLUICE_ASSIGN_OR_RETURN(IteratorPointer start, input->Iterate(reading));
      std::shared_ptr<DatasetIterator> mapped = ParallelMap(std::move(start), f, calls, reading);
      return MakeIterator([mapped, size, drop, &reading](Tensors* element) {
        return NextBatch(*mapped, size, drop, reading, element);
      });
    };
    c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
    return absl::OkStatus();
  }

 private:
  MapAndBatchKernel(const KernelInit& init, CapturedFunction f)
      : f_(std::move(f)),
        first_number_(init.InputRange("other_arguments").second),
        preserves_(init.AttrOr<bool>("preserve_cardinality", false)) {}

  // The batch of an element that is an error is that error, and ends with the same element as it
  // would without.
  static absl::StatusOr<bool> NextBatch(DatasetIterator& mapped, int64_t size, bool drop,
                                        const Reading& reading, Tensors* batch) {
    std::vector<Tensors> rows;
    absl::Status first_error;
    for (int64_t i = 0; i < size; ++i) {
      SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
      Tensors row;
      const absl::StatusOr<bool> any = mapped.Next(&row);
      if (any.ok() && !*any) break;
      if (any.ok()) rows.push_back(std::move(row));
      if (!any.ok() && !absl::IsOutOfRange(any.status())) first_error.Update(any.status());
    }
    SLUICE_RETURN_IF_ERROR(first_error);
    if (rows.empty() || (drop && static_cast<int64_t>(rows.size()) < size)) return false;
    SLUICE_ASSIGN_OR_RETURN(*batch, BatchOf(rows));
    return true;
  }

  const CapturedFunction f_;
  const int first_number_;  // of the inputs behind what the function captures
  const bool preserves_;
};

KERNEL(MapAndBatchDataset, MapAndBatchKernel);

}  // namespace
}  // namespace sluice
