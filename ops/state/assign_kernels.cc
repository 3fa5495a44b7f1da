// Kernels that assign to variables, by reference and by resource handle.

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/arithmetic.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

// Approximate nanoseconds per element of a memory-bound loop.
constexpr double kAddCost = 0.3;

absl::Status Assign(KernelContext& c, Attr<bool, "validate_shape", true> validate_shape) {
  Tensor& value = c.input_value(1).tensor;
  return UpdateRef(c, [&](Tensor* variable) -> absl::Status {
    SLUICE_INVALID_IF(validate_shape && !(variable->shape() == value.shape()),
                      "Assign requires shapes of both tensors to match. lhs shape= ",
                      variable->shape().ToString(), " rhs shape= ", value.shape().ToString());
    return StoreValue(value, variable, *c.step().allocator);
  });
}

// Computes variable = variable (op) value. The caller must hold the variable's claim.
absl::Status UpdateInPlace(KernelContext& c, ArithmeticOp op, Tensor* variable,
                           const Tensor& value) {
  SLUICE_RETURN_IF_ERROR(MakeWritable(variable, *c.step().allocator));
  const ArithmeticRow row = FindArithmetic(op, variable->dtype());
  if (row == nullptr) {
    return absl::UnimplementedError(
        StrCat(c.node().Describe(), ": no arithmetic on ", DataTypeName(variable->dtype())));
  }
  const size_t size = DataTypeSize(variable->dtype());
  char* to = static_cast<char*>(variable->raw());
  const char* from = static_cast<const char*>(value.raw());
  c.ParallelFor(variable->num_elements(), kAddCost, [=](int64_t begin, int64_t end) {
    row(to + begin * size, from + begin * size, end - begin);
  });
  return absl::OkStatus();
}

template <ArithmeticOp op>
absl::Status AssignUpdate(KernelContext& c) {
  return UpdateRef(c, [&](Tensor* variable) -> absl::Status {
    SLUICE_INVALID_IF(!(variable->shape() == c.input(1).shape()),
                      "Parameters and update must be the same size");
    return UpdateInPlace(c, op, variable, c.input(1));
  });
}

absl::Status CheckDtype(const Tensor& variable, DataType dtype) {
  if (variable.dtype() == dtype) return absl::OkStatus();
  return InvalidArgument("Trying to assign variable with wrong dtype. Expected ",
                         DataTypeName(variable.dtype()), " got ", DataTypeName(dtype));
}

absl::Status AssignVariable(KernelContext& c, Attr<bool, "validate_shape", false> validate_shape) {
  Tensor& value = c.input_value(1).tensor;
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Var> variable, LookupOrCreateVariable(c, 0));
  std::unique_lock lock(variable->claim, std::try_to_lock);
  if (!lock) return RunAgainAfter(c, variable);
  if (variable->is_initialized) {
    SLUICE_RETURN_IF_ERROR(CheckDtype(variable->tensor, value.dtype()));
    SLUICE_INVALID_IF(validate_shape && !(variable->tensor.shape() == value.shape()),
                      "Trying to assign to variable with tensor with wrong shape. Expected ",
                      variable->tensor.shape().ToString(), " got ", value.shape().ToString());
  }
  SLUICE_RETURN_IF_ERROR(StoreValue(value, &variable->tensor, *c.step().allocator));
  variable->is_initialized = true;
  return absl::OkStatus();
}

template <ArithmeticOp op>
absl::Status AssignUpdateVariable(KernelContext& c) {
  const Tensor& value = c.input(1);
  WritableVariable variable;
  SLUICE_RETURN_IF_ERROR(variable.Take(c));
  SLUICE_RETURN_IF_ERROR(CheckDtype(*variable.tensor(), value.dtype()));
  SLUICE_INVALID_IF(!(variable.tensor()->shape() == value.shape()),
                    "Cannot update variable with shape ", variable.tensor()->shape().ToString(),
                    " using a Tensor with shape ", value.shape().ToString(),
                    ", shapes must be equal.");
  return UpdateInPlace(c, op, variable.tensor(), value);
}

constexpr TypeSet kArithmetic = RealTypes() | ComplexTypes();
using AssignAddKernel = FunctionKernel<AssignUpdate<ArithmeticOp::kAdd>>;
using AssignSubKernel = FunctionKernel<AssignUpdate<ArithmeticOp::kSub>>;
using AssignAddVariableKernel = FunctionKernel<AssignUpdateVariable<ArithmeticOp::kAdd>>;
using AssignSubVariableKernel = FunctionKernel<AssignUpdateVariable<ArithmeticOp::kSub>>;

KERNEL(Assign, FunctionKernel<Assign>);
KERNEL(AssignAdd, AssignAddKernel, {"T", kArithmetic});
KERNEL(AssignSub, AssignSubKernel, {"T", kArithmetic});
KERNEL(AssignVariableOp, FunctionKernel<AssignVariable>);
KERNEL(AssignAddVariableOp, AssignAddVariableKernel, {"dtype", kArithmetic});
KERNEL(AssignSubVariableOp, AssignSubVariableKernel, {"dtype", kArithmetic});

}  // namespace
}  // namespace sluice
