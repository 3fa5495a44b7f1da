// Optionals, and the next element of an iterator as one.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/iterator_resource.h"
#include "ops/data/optional.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

Tensor TensorOf(std::optional<Tensors> value) {
  return Tensor::Scalar(Variant(std::make_shared<OptionalVariant>(std::move(value))));
}

absl::StatusOr<const OptionalVariant*> OptionalIn(const KernelContext& c) {
  const Tensor& input = c.input(0);
  if (input.rank() != 0) {
    return InvalidArgument("Input to ", c.node().op(),
                           " must be a scalar tensor containing an OptionalVariant object.");
  }
  const auto* optional =
      input.IsInitialized() ? input.scalar<Variant>().get<OptionalVariant>() : nullptr;
  if (optional != nullptr) return optional;
  return InvalidArgument("Input to ", c.node().op(), " must be an OptionalVariant object.");
}

absl::Status OptionalNone(KernelContext& c) {
  c.set_output(0, TensorOf(std::nullopt));
  return absl::OkStatus();
}

absl::Status OptionalFromValue(KernelContext& c) {
  Tensors components;
  for (int i = 0; i < c.num_inputs(); ++i) components.push_back(c.input(i));
  c.set_output(0, TensorOf(std::move(components)));
  return absl::OkStatus();
}

absl::Status OptionalHasValue(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const OptionalVariant* optional, OptionalIn(c));
  c.set_output(0, Tensor::Scalar(optional->value.has_value()));
  return absl::OkStatus();
}

// That of a component of number `i`.
absl::Status CheckComponent(const Tensor& component, int i, DataType type,
                            const PartialShape& shape) {
  if (component.dtype() != type) {
    return InvalidArgument("The given optional does not match the expected type for component ", i,
                           ". Expected: ", DataTypeName(type),
                           ". Actual: ", DataTypeName(component.dtype()), ".");
  }
  if (!shape.IsCompatibleWith(component.shape())) {
    return InvalidArgument("The given optional does not match the expected shape for component ", i,
                           ". Expected: ", shape.ToString(),
                           ". Actual: ", component.shape().ToString(), ".");
  }
  return absl::OkStatus();
}

absl::Status OptionalGetValue(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const OptionalVariant* optional, OptionalIn(c));
  if (!optional->value.has_value()) {
    return InvalidArgument("The given optional does not have a value.");
  }
  const Tensors& components = *optional->value;
  if (static_cast<int>(components.size()) != c.num_outputs()) {
    return InvalidArgument("The given optional has ", components.size(), " components, expected ",
                           c.num_outputs());
  }
  const auto shapes = c.node().AttrOr<std::vector<PartialShape>>("output_shapes", {});
  for (int i = 0; i < c.num_outputs(); ++i) {
    const auto k = static_cast<size_t>(i);
    const PartialShape shape = k < shapes.size() ? shapes[k] : PartialShape::UnknownRank();
    SLUICE_RETURN_IF_ERROR(CheckComponent(components[k], i, c.output_dtype(i), shape));
    c.set_output(i, components[k]);
  }
  return absl::OkStatus();
}

class GetNextAsOptionalKernel final : public AsyncKernel {
 public:
  explicit GetNextAsOptionalKernel(KernelInit& init)
      : types_(init.AttrOr<std::vector<DataType>>("output_types", {})) {}

  void ComputeAsync(KernelContext& c, Done done) override {
    absl::StatusOr<std::shared_ptr<IteratorResource>> iterator =
        LookupNamed<IteratorResource>(c, 0);
    if (!iterator.ok()) return done(iterator.status());
    (*iterator)->GetNext(CallerOf(c),
                         [this, &c, done = std::move(done)](absl::StatusOr<Tensors> next) {
                           if (absl::IsOutOfRange(next.status())) {
                             c.set_output(0, TensorOf(std::nullopt));
                             return done(absl::OkStatus());
                           }
                           if (!next.ok()) return done(next.status());
                           const absl::Status status = Check(*next);
                           if (status.ok()) c.set_output(0, TensorOf(*std::move(next)));
                           done(status);
                         });
  }
  bool IsExpensive() const override { return false; }

 private:
  absl::Status Check(const Tensors& element) const {
    if (element.size() != types_.size()) {
      return InvalidArgument("Number of components does not match: expected ", types_.size(),
                             " types but got ", element.size(), ".");
    }
    for (size_t i = 0; i < element.size(); ++i) {
      if (element[i].dtype() == types_[i]) continue;
      return InvalidArgument("Data type mismatch at component ", i, ": expected ",
                             DataTypeName(types_[i]), " but got ", DataTypeName(element[i].dtype()),
                             ".");
    }
    return absl::OkStatus();
  }
  const std::vector<DataType> types_;
};

KERNEL(IteratorGetNextAsOptional, GetNextAsOptionalKernel);
KERNEL(OptionalFromValue, FunctionKernel<OptionalFromValue>);
KERNEL(OptionalGetValue, FunctionKernel<OptionalGetValue>);
KERNEL(OptionalHasValue, FunctionKernel<OptionalHasValue>);
KERNEL(OptionalNone, FunctionKernel<OptionalNone>);

}  // namespace
}  // namespace sluice
