// Kernels of iterators, and of the ops that take elements from them.

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"
#include "ops/data/iterator_resource.h"
#include "ops/data/optional.h"
#include "ops/data/resource_handle.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

std::shared_ptr<IteratorResource> NewIterator(const Node& node, const std::string& name) {
  return std::make_shared<IteratorResource>(
      name, node.AttrOr<std::vector<DataType>>("output_types", {}),
      node.AttrOr<std::vector<PartialShape>>("output_shapes", {}));
}

struct IteratorKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeNamedResourceKernel<IteratorResource>(
        init, [&](const ResourceName& name) { return NewIterator(init.node(), name.name); });
  }
};

// Makes an iterator over a dataset that a function returns. The function is called in the first
// step.
class OneShotIteratorKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(auto factory, DatasetFunction::Make(init, "dataset_factory"));
    SLUICE_ASSIGN_OR_RETURN(auto handle, IteratorKernel::Make(init));
    return std::unique_ptr<Kernel>(
        new OneShotIteratorKernel(std::move(factory), std::move(handle)));
  }

  absl::Status Compute(KernelContext& c) override {
    ScopedLock lock(&mutex_);
    SLUICE_RETURN_IF_ERROR(handle_->Compute(c));
    if (is_set_) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, factory_->Call({}, {}, c.step().cancellation));
    SLUICE_INVALID_IF(made.size() != 1,
                      "The `dataset_factory` function must return a single dataset.");
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(made[0]));
    const auto& handle = c.output_value(0).tensor.scalar<ResourceHandle>();
    SLUICE_ASSIGN_OR_RETURN(const auto iterator, c.resources().Lookup<IteratorResource>(handle));
    SLUICE_RETURN_IF_ERROR(iterator->SetDataset(dataset));
    is_set_ = true;
    return absl::OkStatus();
  }

 private:
  OneShotIteratorKernel(std::shared_ptr<const DatasetFunction> factory,
                        std::unique_ptr<Kernel> handle)
      : factory_(std::move(factory)), handle_(std::move(handle)) {}

  const std::shared_ptr<const DatasetFunction> factory_;
  const std::unique_ptr<Kernel> handle_;  // outputs the handle of the iterator
  Mutex mutex_;
  bool is_set_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::Status AnonymousIterator(KernelContext& c) {
  SetOwnedHandle(c, NewIterator(c.node(), c.name()));
  return absl::OkStatus();
}

absl::Status MakeIteratorOp(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto iterator, LookupNamed<IteratorResource>(c, 1));
  return iterator->SetDataset(dataset);
}

// --- elements

// Waits until the iterator has an element or fails, calls `finish(c, element or error)`, and
// completes with the status that it returns.
template <absl::Status (*kFinish)(KernelContext&, absl::StatusOr<Tensors>)>
class GetNextKernel final : public AsyncKernel {
 public:
  void ComputeAsync(KernelContext& c, Done done) override {
    auto iterator = LookupNamed<IteratorResource>(c, 0);
    if (!iterator.ok()) return done(iterator.status());
    (*iterator)->GetNext(CallerOf(c), [&c, done = std::move(done)](absl::StatusOr<Tensors> next) {
      done(kFinish(c, std::move(next)));
    });
  }
  bool IsExpensive() const override { return false; }
};

absl::Status FinishGetNext(KernelContext& c, absl::StatusOr<Tensors> next) {
  if (!next.ok()) return next.status();
  return SetElement(c, *std::move(next));
}

absl::Status FinishGetNextAsOptional(KernelContext& c, absl::StatusOr<Tensors> next) {
  if (absl::IsOutOfRange(next.status())) {
    c.set_output(0, OptionalTensor(std::nullopt));
    return absl::OkStatus();
  }
  if (!next.ok()) return next.status();
  SLUICE_RETURN_IF_ERROR(
      CheckElement(*next, c.node().AttrOr<std::vector<DataType>>("output_types", {}), {}));
  c.set_output(0, OptionalTensor(*std::move(next)));
  return absl::OkStatus();
}

absl::Status DatasetToSingleElement(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(c.input(0)));
  Reading reading(c.step().cancellation);
  SLUICE_ASSIGN_OR_RETURN(const IteratorPointer iterator, dataset->Iterate(reading));
  Tensors element, second;
  SLUICE_ASSIGN_OR_RETURN(const bool any, iterator->Next(&element));
  SLUICE_INVALID_IF(!any, "Dataset was empty.");
  SLUICE_ASSIGN_OR_RETURN(const bool more, iterator->Next(&second));
  SLUICE_INVALID_IF(more, "Dataset had more than one element.");
  return SetElement(c, std::move(element));
}

// Outputs the kernel's device, because iterators are on the device of the ops that use them.
class IteratorGetDeviceKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return std::unique_ptr<Kernel>(new IteratorGetDeviceKernel(init.device_name()));
  }
  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(LookupNamed<IteratorResource>(c, 0).status());
    c.set_output(0, Tensor::Scalar(device_));
    return absl::OkStatus();
  }

 private:
  explicit IteratorGetDeviceKernel(std::string device) : device_(std::move(device)) {}
  const std::string device_;
};

// --- positions

absl::Status SerializeIterator(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto iterator, LookupNamed<IteratorResource>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const IteratorPosition position, iterator->Position());
  c.set_output(0, position.ToTensor());
  return absl::OkStatus();
}

absl::Status DeserializeIterator(KernelContext& c, std::vector<Closure>) {
  SLUICE_ASSIGN_OR_RETURN(const auto iterator, LookupNamed<IteratorResource>(c, 0));
  SLUICE_ASSIGN_OR_RETURN(const auto position, IteratorPosition::FromTensor(c.input(1)));
  return iterator->MoveTo(position, c.step().cancellation);
}

KERNEL(AnonymousIterator, FunctionKernel<AnonymousIterator>);
KERNEL(AnonymousIteratorV2, FunctionKernel<AnonymousIterator>);
KERNEL(AnonymousIteratorV3, FunctionKernel<AnonymousIterator>);
KERNEL(DatasetToSingleElement, FunctionKernel<DatasetToSingleElement>);
KERNEL(DeleteIterator, FunctionKernel<DeleteNamed<IteratorResource>>);
KERNEL(DeserializeIterator, ReadingKernel<DeserializeIterator>);
KERNEL(ExperimentalIteratorGetDevice, IteratorGetDeviceKernel);
KERNEL(Iterator, IteratorKernel);
KERNEL(IteratorFromStringHandle, FunctionKernel<HandleFromString<IteratorResource>>);
KERNEL(IteratorFromStringHandleV2, FunctionKernel<HandleFromString<IteratorResource>>);
KERNEL(IteratorGetDevice, IteratorGetDeviceKernel);
KERNEL(IteratorGetNext, GetNextKernel<FinishGetNext>);
KERNEL(IteratorGetNextAsOptional, GetNextKernel<FinishGetNextAsOptional>);
KERNEL(IteratorGetNextSync, GetNextKernel<FinishGetNext>);
KERNEL(IteratorToStringHandle, FunctionKernel<HandleToString<IteratorResource>>);
KERNEL(IteratorV2, IteratorKernel);
KERNEL(MakeIterator, FunctionKernel<MakeIteratorOp>);
KERNEL(OneShotIterator, OneShotIteratorKernel);
KERNEL(SerializeIterator, FunctionKernel<SerializeIterator>);

}  // namespace
}  // namespace sluice
