// Kernels that compute a result from a whole dataset.
#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/batch.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/lookup/table.h"
#include "ops/state/arguments.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

// --- ComputeBatchSize

constexpr int64_t kUnknownBatchSize = -1;

// Returns whether `op` is one of `names` or a later version of it ("<name>V2").
bool IsVersionOf(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [op](std::string_view name) {
    if (!op.starts_with(name)) return false;
    std::string_view version = op.substr(name.size());
    if (version.empty()) return true;
    return version.size() > 1 && version[0] == 'V' &&
           std::all_of(version.begin() + 1, version.end(),
                       [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  });
}

// Returns whether the elements of a dataset of this op are elements of its first input.
bool PassesBatches(std::string_view op) {
  return IsVersionOf(op,
                     {"AssertCardinalityDataset", "CacheDataset", "FilterDataset", "ModelDataset",
                      "OptimizeDataset", "OptionsDataset", "ParseExampleDataset", "PrefetchDataset",
                      "RepeatDataset", "ShardDataset", "ShuffleAndRepeatDataset", "ShuffleDataset",
                      "SkipDataset", "TakeDataset"});
}

// Finds the batch sizes of datasets. Looks at each dataset only once, because pipelines can share
// datasets.
class BatchSizes {
 public:
  int64_t Of(const Tensor& tensor) {
    const auto* variant = tensor.dtype() == DT_VARIANT && tensor.num_elements() == 1
                              ? tensor.data<Variant>()->get<DatasetVariant>()
                              : nullptr;
    if (variant == nullptr || variant->origin() == nullptr) return kUnknownBatchSize;
    const auto found = known_.find(variant);
    if (found != known_.end()) return found->second;
    const int64_t size = Compute(*variant->origin());
    known_[variant] = size;
    return size;
  }

 private:
  int64_t Compute(const DatasetOrigin& origin) {
    if (IsVersionOf(origin.op, {"BatchDataset", "PaddedBatchDataset"})) {
      return *origin.inputs[1].data<int64_t>();
    }
    if (IsVersionOf(origin.op, {"MapAndBatchDataset", "ExperimentalMapAndBatchDataset"})) {
      return *origin.inputs[origin.inputs.size() - 3].data<int64_t>();
    }
    if (PassesBatches(origin.op)) return Of(origin.inputs[0]);
    if (!IsVersionOf(origin.op, {"ConcatenateDataset", "ZipDataset"})) return kUnknownBatchSize;
    const int64_t size = Of(origin.inputs[0]);
    const bool all = std::all_of(origin.inputs.begin(), origin.inputs.end(),
                                 [&](const Tensor& input) { return Of(input) == size; });
    return all ? size : kUnknownBatchSize;
  }

  std::unordered_map<const DatasetVariant*, int64_t> known_;
};

absl::Status ComputeBatchSize(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(DatasetIn(c.input(0)).status());
  return SetScalarOutput(c, BatchSizes().Of(c.input(0)));
}

// --- InitializeTableFromDataset

absl::Status CheckPair(const Tensors& element, const TableSpec& spec) {
  SLUICE_INVALID_IF(element.size() != 2, "Dataset should have two output types only, got ",
                    element.size());
  SLUICE_INVALID_IF(element[0].dtype() != spec.key_type,
                    "Key type expected: ", DataTypeName(spec.key_type),
                    " but got: ", DataTypeName(element[0].dtype()), ".");
  SLUICE_INVALID_IF(element[1].dtype() != spec.value_type,
                    "Value type expected: ", DataTypeName(spec.value_type),
                    " but got: ", DataTypeName(element[1].dtype()), ".");
  for (const Tensor& t : element) {
    SLUICE_INVALID_IF(t.rank() != 0, "Keys and values must be scalars, but received shape ",
                      t.shape().ToString());
  }
  return absl::OkStatus();
}

absl::Status InitializeTable(KernelContext& c, std::vector<Closure>) {
  SLUICE_ASSIGN_OR_RETURN(const auto table, LookupNamed<LookupTable>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(c.input(1)));
  std::vector<Tensors> pairs;
  SLUICE_RETURN_IF_ERROR(ReadAll(c, *dataset, [&](const Tensors& element, Reading&) {
    pairs.push_back(element);
    return CheckPair(element, table->spec());
  }));
  if (pairs.empty()) return absl::OutOfRangeError("end of iterator");
  SLUICE_ASSIGN_OR_RETURN(const Tensors columns, BatchOf(pairs));
  return table->Initialize(columns[0], columns[1]);
}

KERNEL(ComputeBatchSize, FunctionKernel<ComputeBatchSize>);
KERNEL(InitializeTableFromDataset, ReadingKernel<InitializeTable>);

}  // namespace
}  // namespace sluice
