// Datasets that pass their elements through.
#include <memory>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

using MadeDataset = absl::StatusOr<DatasetPointer>;
using Facts = DatasetFacts;

MadeDataset OptionsDataset(const KernelContext& c, const DatasetPointer& input) {
  Facts facts = input->facts();
  facts.options += c.node().AttrOr<std::string>("serialized_options", "");
  return MakeDataset(std::move(facts), [=](Reading& reading) { return input->Iterate(reading); });
}

MadeDataset PassThrough(const KernelContext&, const DatasetPointer& input) { return input; }

// Checks that input `name` is not negative.
absl::Status ExpectNotNegative(const KernelContext& c, const char* name) {
  SLUICE_ASSIGN_OR_RETURN(const auto value, ScalarInput<int64_t>(c, name));
  SLUICE_INVALID_IF(value < 0, "`", name, "` must be >= 0");
  return absl::OkStatus();
}

MadeDataset MaxIntraOpParallelismDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_RETURN_IF_ERROR(ExpectNotNegative(c, "max_intra_op_parallelism"));
  return input;
}

MadeDataset PrivateThreadPoolDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_RETURN_IF_ERROR(ExpectNotNegative(c, "num_threads"));
  return input;
}

// Stands for TensorFlow's threads.
struct ThreadPoolResource : public Resource {
  static constexpr const char* kTypeName = "N10tensorflow4data12_GLOBAL__N_118ThreadPoolResourceE";
  std::string DebugString() const override { return "a dataset's thread pool"; }
};

struct ThreadPoolHandleKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeNamedResourceKernel<ThreadPoolResource>(
        init, [](const ResourceName&) { return std::make_shared<ThreadPoolResource>(); });
  }
};

KERNEL(ChooseFastestDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalChooseFastestDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalMaxIntraOpParallelismDataset, DatasetKernel<MaxIntraOpParallelismDataset>);
KERNEL(ExperimentalNonSerializableDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalPrivateThreadPoolDataset, DatasetKernel<PrivateThreadPoolDataset>);
KERNEL(ExperimentalThreadPoolDataset, DatasetKernel<PassThrough>);
KERNEL(ExperimentalThreadPoolHandle, ThreadPoolHandleKernel);
KERNEL(FinalizeDataset, DatasetKernel<PassThrough>);
KERNEL(MaxIntraOpParallelismDataset, DatasetKernel<MaxIntraOpParallelismDataset>);
KERNEL(ModelDataset, DatasetKernel<PassThrough>);
KERNEL(NonSerializableDataset, DatasetKernel<PassThrough>);
KERNEL(OptimizeDataset, DatasetKernel<PassThrough>);
KERNEL(OptimizeDatasetV2, DatasetKernel<PassThrough>);
KERNEL(OptionsDataset, DatasetKernel<OptionsDataset>);
KERNEL(PrivateThreadPoolDataset, DatasetKernel<PrivateThreadPoolDataset>);
KERNEL(RewriteDataset, DatasetKernel<PassThrough>);
KERNEL(ThreadPoolDataset, DatasetKernel<PassThrough>);
KERNEL(ThreadPoolHandle, ThreadPoolHandleKernel);
KERNEL(UnwrapDatasetVariant, DatasetKernel<PassThrough>);
KERNEL(WrapDatasetVariant, DatasetKernel<PassThrough>);

}  // namespace
}  // namespace sluice
