// Kernels of iterators whose elements go to several devices in turn.
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/owned_handle.h"
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

// Later lookups by the name fail. Handles and deleters may keep the iterator alive.
absl::Status Delete(KernelContext& c) {
  const Tensor& handle = c.input(0);
  if (handle.num_elements() != 1 || !handle.IsInitialized()) {
    return WrongHandle(c, 0, MultiDeviceIterator::kTypeName);
  }
  const auto& name = *handle.data<ResourceHandle>();
  const absl::Status status = c.resources().Delete<MultiDeviceIterator>(name.container, name.name);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

// --- iterators by name

constexpr char kPrefix[] = "multi_device_iterator\n";

absl::Status ToStringHandle(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(LookupNamed<MultiDeviceIterator>(c, 0).status());
  const ResourceHandle& handle = c.input(0).scalar<ResourceHandle>();
  c.set_output(0, Tensor::Scalar(StrCat(kPrefix, handle.container, "\n", handle.name)));
  return absl::OkStatus();
}

absl::Status FromStringHandle(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ScalarInput<std::string>(c, "string_handle"));
  const size_t prefix = sizeof kPrefix - 1;
  const size_t end = text.find('\n', prefix);
  SLUICE_INVALID_IF(!text.starts_with(kPrefix) || end == std::string::npos,
                    "Could not parse string_handle as a valid ResourceHandle");
  ResourceHandle handle;
  handle.container = text.substr(prefix, end - prefix);
  handle.name = text.substr(end + 1);
  handle.type_name = MultiDeviceIterator::kTypeName;
  SLUICE_ASSIGN_OR_RETURN(handle.object, c.resources().Lookup<MultiDeviceIterator>(handle));
  c.set_output(0, Tensor::Scalar(std::move(handle)));
  return absl::OkStatus();
}

KERNEL(AnonymousMultiDeviceIterator, FunctionKernel<Anonymous>);
KERNEL(AnonymousMultiDeviceIteratorV3, FunctionKernel<Anonymous>);
KERNEL(DeleteMultiDeviceIterator, FunctionKernel<Delete>);
KERNEL(MultiDeviceIterator, MultiDeviceIteratorKernel);
KERNEL(MultiDeviceIteratorFromStringHandle, FunctionKernel<FromStringHandle>);
KERNEL(MultiDeviceIteratorGetNextFromShard, GetNextFromShardKernel);
KERNEL(MultiDeviceIteratorInit, FunctionKernel<Init>);
KERNEL(MultiDeviceIteratorToStringHandle, FunctionKernel<ToStringHandle>);

}  // namespace
}  // namespace sluice
