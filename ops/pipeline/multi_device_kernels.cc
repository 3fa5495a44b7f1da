// Kernels of iterators that give elements to several devices in turn.
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/resource_handle.h"
#include "ops/pipeline/multi_device_iterator.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

std::shared_ptr<MultiDeviceIterator> NewIterator(const Node& node, const std::string& name) {
  return std::make_shared<MultiDeviceIterator>(
      name, node.AttrOr<std::vector<std::string>>("devices", {}).size(),
      node.AttrOr<std::vector<DataType>>("output_types", {}),
      node.AttrOr<std::vector<PartialShape>>("output_shapes", {}));
}

struct MultiDeviceIteratorKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeNamedResourceKernel<MultiDeviceIterator>(
        init, [&](const ResourceName& name) { return NewIterator(init.node(), name.name); });
  }
};

absl::Status Anonymous(KernelContext& c) {
  SetOwnedHandle(c, NewIterator(c.node(), c.name()));
  return absl::OkStatus();
}

absl::Status Init(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto iterator, LookupNamed<MultiDeviceIterator>(c, 1));
  SLUICE_ASSIGN_OR_RETURN(const auto size, ScalarInput<int64_t>(c, "max_buffer_size"));
  SLUICE_ASSIGN_OR_RETURN(const int64_t incarnation, iterator->SetDataset(dataset, size));
  return SetScalarOutput(c, incarnation);
}

class GetNextFromShardKernel final : public AsyncKernel {
 public:
  void ComputeAsync(KernelContext& c, Done done) override {
    const auto shard = ScalarInput<int32_t>(c, "shard_num");
    const auto incarnation = ScalarInput<int64_t>(c, "incarnation_id");
    const auto iterator = LookupNamed<MultiDeviceIterator>(c, 0);
    for (const absl::Status& status : {shard.status(), incarnation.status(), iterator.status()}) {
      if (!status.ok()) return done(status);
    }
    (*iterator)->GetNext(CallerOf(c), *shard, *incarnation,
                         [&c, done = std::move(done)](absl::StatusOr<Tensors> next) {
                           done(next.ok() ? SetElement(c, *std::move(next)) : next.status());
                         });
  }
  bool IsExpensive() const override { return false; }
};

KERNEL(AnonymousMultiDeviceIterator, FunctionKernel<Anonymous>);
KERNEL(AnonymousMultiDeviceIteratorV3, FunctionKernel<Anonymous>);
KERNEL(DeleteMultiDeviceIterator, FunctionKernel<DeleteNamed<MultiDeviceIterator>>);
KERNEL(MultiDeviceIterator, MultiDeviceIteratorKernel);
KERNEL(MultiDeviceIteratorFromStringHandle, FunctionKernel<HandleFromString<MultiDeviceIterator>>);
KERNEL(MultiDeviceIteratorGetNextFromShard, GetNextFromShardKernel);
KERNEL(MultiDeviceIteratorInit, FunctionKernel<Init>);
KERNEL(MultiDeviceIteratorToStringHandle, FunctionKernel<HandleToString<MultiDeviceIterator>>);

}  // namespace
}  // namespace sluice
