// DatasetKernel turns a function that returns a dataset into a kernel that outputs this dataset.
//
//   absl::StatusOr<DatasetPointer> Take(const KernelContext& c, const DatasetPointer& input);
//   KERNEL(TakeDataset, DatasetKernel<Take>);
#ifndef SLUICE_OPS_DATA_DATASET_KERNEL_H_
#define SLUICE_OPS_DATA_DATASET_KERNEL_H_

#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/state/arguments.h"

namespace sluice {

// Moves the components of an element to the outputs. INVALID_ARGUMENT if number or types differ.
inline absl::Status SetElement(KernelContext& c, Tensors element) {
  SLUICE_RETURN_IF_ERROR(CheckElement(element, OutputTypesFrom(c, 0), {}));
  SetOutputs(c, 0, std::move(element));
  return absl::OkStatus();
}

// Sets output 0 to the dataset kMake(c), or kMake(c, dataset of input 0).
template <auto kMake>
absl::Status OutputDataset(KernelContext& c) {
  if constexpr (std::is_invocable_v<decltype(kMake), const KernelContext&>) {
    SLUICE_ASSIGN_OR_RETURN(DatasetPointer made, kMake(c));
    return SetDatasetOutput(c, std::move(made));
  } else {
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
    SLUICE_ASSIGN_OR_RETURN(DatasetPointer made, kMake(c, input));
    return SetDatasetOutput(c, std::move(made));
  }
}

template <auto kMake>
using DatasetKernel = FunctionKernel<OutputDataset<kMake>>;

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_DATASET_KERNEL_H_
