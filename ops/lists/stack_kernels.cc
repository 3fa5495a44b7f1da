// Kernels of the ops on stacks of tensors (stack.cc).
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/lists/stack.h"
#include "ops/lists/step_object.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

constexpr const char* kContainer = "_stacks";

// A stack in an old graph, together with the two strings that name it.
struct NamedStack final : public Resource {
  static constexpr const char* kTypeName = TensorStack::kTypeName;
  explicit NamedStack(std::shared_ptr<TensorStack> s) : stack(std::move(s)) {}
  std::string DebugString() const override { return stack->DebugString(); }

  const std::shared_ptr<TensorStack> stack;
  Claim claim;
  Tensor strings;
};

class StackKernel : public Kernel {
 public:
  explicit StackKernel(KernelInit& init)
      : type_(init.AttrOr<DataType>("elem_type", DT_INVALID)),
        base_(init.AttrOr<std::string>("stack_name", "")) {}

  absl::Status Compute(KernelContext& c) override {
    int64_t max_size = -1;
    if (c.num_inputs() > 0) {
      const Tensor& size = c.input(0);
      SLUICE_RETURN_IF_ERROR(ExpectRank(size, 0, "Stack size must be a scalar, but had shape: "));
      max_size = size.scalar<int32_t>();
    }
    const std::string name = StepObjectName(c, base_);
    auto stack = std::make_shared<TensorStack>(name, type_, max_size);
    if (c.num_inputs() > 0) {
      c.set_output(0, StepHandle(c, name, std::move(stack)));
      return absl::OkStatus();
    }
    auto named = std::make_shared<NamedStack>(std::move(stack));
    named->strings = Tensor::Vector<std::string>({kContainer, name});
    SLUICE_RETURN_IF_ERROR(
        c.step()
            .step_resources
            ->LookupOrCreate<NamedStack>(
                kContainer, name,
                [&]() -> absl::StatusOr<std::shared_ptr<NamedStack>> { return named; })
            .status());
    c.set_output_ref(0, &named->claim, &named->strings);
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const DataType type_;
  const std::string base_;
};

absl::StatusOr<std::shared_ptr<TensorStack>> StackOf(const KernelContext& c) {
  if (!c.input_is_ref(0)) return StepObject<TensorStack>(c);
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<NamedStack> named, StepObject<NamedStack>(c));
  return named->stack;
}

absl::Status Push(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TensorStack> stack, StackOf(c));
  c.output_value(0) = c.input_value(1);
  return stack->Push(c.output_value(0).tensor);
}

absl::Status Pop(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TensorStack> stack, StackOf(c));
  SLUICE_INVALID_IF(stack->type() != c.output_dtype(0), "expected a stack of ",
                    DataTypeName(c.output_dtype(0)), ", got one of ", DataTypeName(stack->type()));
  SLUICE_ASSIGN_OR_RETURN(Tensor value, stack->Pop());
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status Close(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TensorStack> stack, StackOf(c));
  stack->Close();
  return absl::OkStatus();
}

KERNEL(Stack, StackKernel);
KERNEL(StackV2, StackKernel);
KERNEL(StackPush, CheapFunctionKernel<Push>);
KERNEL(StackPushV2, CheapFunctionKernel<Push>);
KERNEL(StackPop, CheapFunctionKernel<Pop>);
KERNEL(StackPopV2, CheapFunctionKernel<Pop>);
KERNEL(StackClose, CheapFunctionKernel<Close>);
KERNEL(StackCloseV2, CheapFunctionKernel<Close>);

}  // namespace
}  // namespace sluice
