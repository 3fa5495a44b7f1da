// Iterators, and what steps take out of them.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/iterator_resource.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

absl::StatusOr<std::shared_ptr<IteratorResource>> NewIterator(const KernelInit& init,
                                                              const ResourceName& name) {
  return std::make_shared<IteratorResource>(
      name.name, init.AttrOr<std::vector<DataType>>("output_types", {}),
      init.AttrOr<std::vector<PartialShape>>("output_shapes", {}));
}

struct IteratorKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeNamedResourceKernel<IteratorResource>(
        init, [&](const ResourceName& name) { return NewIterator(init, name); },
        [](const IteratorResource&) { return absl::OkStatus(); });
  }
};

// An iterator over what a function returns; the function is called in the first step.
class OneShotIteratorKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(FunctionPointer factory,
                            DatasetFunction::Make(init, "dataset_factory"));
    auto kernel =
        std::unique_ptr<OneShotIteratorKernel>(new OneShotIteratorKernel(std::move(factory)));
    SLUICE_ASSIGN_OR_RETURN(
        kernel->handle_,
        MakeNamedResourceKernel<IteratorResource>(
            init,
            [&](const ResourceName& name) -> absl::StatusOr<std::shared_ptr<IteratorResource>> {
              return NewIterator(init, name);
            },
            [](const IteratorResource&) { return absl::OkStatus(); }));
    return std::unique_ptr<Kernel>(std::move(kernel));
  }

  absl::Status Compute(KernelContext& c) override {
    std::lock_guard lock(mutex_);
    SLUICE_RETURN_IF_ERROR(handle_->Compute(c));
    if (is_set_) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const Tensors made, factory_->Call({}, {}, c.step().cancellation));
    if (made.size() != 1) {
      return InvalidArgument("The `dataset_factory` function must return a single dataset.");
    }
    SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(made[0]));
    const auto& handle = c.output_value(0).tensor.scalar<ResourceHandle>();
    SLUICE_ASSIGN_OR_RETURN(const auto iterator, c.resources().Lookup<IteratorResource>(handle));
    SLUICE_RETURN_IF_ERROR(iterator->SetDataset(dataset));
    is_set_ = true;
    return absl::OkStatus();
  }

 private:
  explicit OneShotIteratorKernel(FunctionPointer factory) : factory_(std::move(factory)) {}
  const FunctionPointer factory_;
  std::unique_ptr<Kernel> handle_;  // gives out the iterator's handle
  std::mutex mutex_;
  bool is_set_ = false;  // guarded by mutex_
};

absl::Status MakeIteratorOp(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto iterator, LookupNamed<IteratorResource>(c, 1));
  return iterator->SetDataset(dataset);
}

class GetNextKernel final : public AsyncKernel {
 public:
  void ComputeAsync(KernelContext& c, Done done) override {
    absl::StatusOr<std::shared_ptr<IteratorResource>> iterator =
        LookupNamed<IteratorResource>(c, 0);
    if (!iterator.ok()) return done(iterator.status());
    (*iterator)->GetNext(CallerOf(c), [&c, done = std::move(done)](absl::StatusOr<Tensors> next) {
      if (!next.ok()) return done(next.status());
      if (static_cast<int>(next->size()) != c.num_outputs()) {
        return done(InvalidArgument("Number of components does not match: expected ",
                                    c.num_outputs(), " types but got ", next->size(), "."));
      }
      for (size_t i = 0; i < next->size(); ++i) {
        if ((*next)[i].dtype() != c.output_dtype(static_cast<int>(i))) {
          return done(InvalidArgument("Data type mismatch at component ", i, ": expected ",
                                      DataTypeName(c.output_dtype(static_cast<int>(i))),
                                      " but got ", DataTypeName((*next)[i].dtype()), "."));
        }
        c.set_output(static_cast<int>(i), std::move((*next)[i]));
      }
      done(absl::OkStatus());
    });
  }
  bool IsExpensive() const override { return false; }
};

// --- iterators by name

constexpr char kPrefix[] = "iterator\n";

absl::Status IteratorToStringHandle(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(LookupNamed<IteratorResource>(c, 0).status());
  const ResourceHandle& handle = c.input(0).scalar<ResourceHandle>();
  c.set_output(0, Tensor::Scalar(StrCat(kPrefix, handle.container, "\n", handle.name)));
  return absl::OkStatus();
}

absl::Status IteratorFromStringHandle(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ScalarInput<std::string>(c, 0, "string_handle"));
  const size_t prefix = sizeof kPrefix - 1;
  const size_t end = text.find('\n', prefix);
  if (!text.starts_with(kPrefix) || end == std::string::npos) {
    return InvalidArgument("Could not parse string_handle as a valid ResourceHandle");
  }
  ResourceHandle handle;
  handle.container = text.substr(prefix, end - prefix);
  handle.name = text.substr(end + 1);
  handle.type_name = IteratorResource::kTypeName;
  SLUICE_ASSIGN_OR_RETURN(auto iterator, c.resources().Lookup<IteratorResource>(handle));
  handle.object = std::move(iterator);
  c.set_output(0, Tensor::Scalar(std::move(handle)));
  return absl::OkStatus();
}

absl::Status DatasetToSingleElement(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer dataset, DatasetIn(c.input(0)));
  Reading reading(c.step().cancellation);
  SLUICE_ASSIGN_OR_RETURN(const IteratorPointer iterator, dataset->Iterate(reading));
  Tensors element, second;
  SLUICE_ASSIGN_OR_RETURN(const bool any, iterator->Next(&element));
  if (!any) return InvalidArgument("Dataset was empty.");
  SLUICE_ASSIGN_OR_RETURN(const bool more, iterator->Next(&second));
  if (more) return InvalidArgument("Dataset had more than one element.");
  if (static_cast<int>(element.size()) != c.num_outputs()) {
    return InvalidArgument("Number of components does not match: expected ", c.num_outputs(),
                           " types but got ", element.size(), ".");
  }
  for (size_t i = 0; i < element.size(); ++i) {
    const DataType type = c.output_dtype(static_cast<int>(i));
    if (element[i].dtype() != type) {
      return InvalidArgument("Data type mismatch at component ", i, ": expected ",
                             DataTypeName(type), " but got ", DataTypeName(element[i].dtype()),
                             ".");
    }
    c.set_output(static_cast<int>(i), std::move(element[i]));
  }
  return absl::OkStatus();
}

KERNEL(DatasetToSingleElement, FunctionKernel<DatasetToSingleElement>);
KERNEL(Iterator, IteratorKernel);
KERNEL(IteratorFromStringHandle, FunctionKernel<IteratorFromStringHandle>);
KERNEL(IteratorFromStringHandleV2, FunctionKernel<IteratorFromStringHandle>);
KERNEL(IteratorGetNext, GetNextKernel);
KERNEL(IteratorGetNextSync, GetNextKernel);
KERNEL(IteratorToStringHandle, FunctionKernel<IteratorToStringHandle>);
KERNEL(IteratorV2, IteratorKernel);
KERNEL(MakeIterator, FunctionKernel<MakeIteratorOp>);
KERNEL(OneShotIterator, OneShotIteratorKernel);

}  // namespace
}  // namespace sluice
