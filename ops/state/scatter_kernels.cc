// Kernels that update rows and slices of variables.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/scatter_rows.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

template <ArithmeticOp op>
absl::Status ScatterInto(KernelContext& c, Tensor* params) {
  SLUICE_INVALID_IF(params->rank() < 1, "params must be at least 1-D, got shape ",
                    params->shape().ToString());
  SLUICE_RETURN_IF_ERROR(CheckScatter(params->shape(), c.input(1), c.input(2)));
  SLUICE_RETURN_IF_ERROR(MakeWritable(params, *c.step().allocator));
  return ScatterRows(c, op, params, c.input(1), c.input(2));
}

template <ArithmeticOp op>
absl::Status Scatter(KernelContext& c) {
  return UpdateRef(c, [&](Tensor* params) { return ScatterInto<op>(c, params); });
}

// Takes the variable, in order to update it with values of type `dtype`.
absl::Status TakeVariable(KernelContext& c, DataType dtype, WritableVariable* variable) {
  SLUICE_RETURN_IF_ERROR(variable->Take(c));
  if (variable->tensor()->dtype() == dtype) return absl::OkStatus();
  return InvalidArgument(c.node().Describe(), ": expected updates of type ",
                         DataTypeName(variable->tensor()->dtype()), ", got ", DataTypeName(dtype));
}

template <ArithmeticOp op>
absl::Status ResourceScatter(KernelContext& c) {
  WritableVariable variable;
  SLUICE_RETURN_IF_ERROR(TakeVariable(c, c.input(2).dtype(), &variable));
  return ScatterInto<op>(c, variable.tensor());
}

absl::StatusOr<BadIndices> PolicyOf(const KernelInit& init) {
  const std::string policy = init.AttrOr<std::string>("bad_indices_policy", "");
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return BadIndices::kError;
  if (policy == "IGNORE") return BadIndices::kIgnore;
  return InvalidArgument(init.node().Describe(),
                         ": expected bad_indices_policy '', 'DEFAULT', 'ERROR' or 'IGNORE', got '",
                         policy, "'");
}

// Updates a variable by reference or by resource handle.
template <ArithmeticOp op>
class ScatterNdKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const BadIndices bad, PolicyOf(init));
    return std::unique_ptr<Kernel>(new ScatterNdKernel(init, bad));
  }
  absl::Status Compute(KernelContext& c) override {
    if (is_ref_) return UpdateRef(c, [&](Tensor* params) { return Update(c, params); });
    WritableVariable variable;
    SLUICE_RETURN_IF_ERROR(TakeVariable(c, c.input(2).dtype(), &variable));
    return Update(c, variable.tensor());
  }

 private:
  ScatterNdKernel(const KernelInit& init, BadIndices bad)
      : is_ref_(IsRefType(init.input_type(0))), bad_(bad) {}
  absl::Status Update(KernelContext& c, Tensor* params) const {
    SLUICE_RETURN_IF_ERROR(CheckScatterNd(params->shape(), c.input(1), c.input(2)));
    SLUICE_RETURN_IF_ERROR(MakeWritable(params, *c.step().allocator));
    return ScatterSlices(c, op, bad_, params, c.input(1), c.input(2));
  }

  const bool is_ref_;
  const BadIndices bad_;
};

constexpr TypeSet kNumbers = RealTypes() | ComplexTypes();
constexpr TypeSet kAdding = kNumbers | TypeSet(DT_BOOL);

#define SCATTER(name, op, types)                                                  \
  KERNEL(Scatter##name, FunctionKernel<Scatter<ArithmeticOp::op>>, {"T", types}); \
  KERNEL(ResourceScatter##name, FunctionKernel<ResourceScatter<ArithmeticOp::op>>, {"dtype", types})
#define SCATTER_ND(name, op, types)                                         \
  KERNEL(ScatterNd##name, ScatterNdKernel<ArithmeticOp::op>, {"T", types}); \
  KERNEL(ResourceScatterNd##name, ScatterNdKernel<ArithmeticOp::op>, {"T", types})

SCATTER(Add, kAdd, kNumbers);
SCATTER(Div, kDiv, kNumbers);
SCATTER(Max, kMax, RealTypes());
SCATTER(Min, kMin, RealTypes());
SCATTER(Mul, kMul, kNumbers);
SCATTER(Sub, kSub, kNumbers);
SCATTER_ND(Add, kAdd, kAdding);
SCATTER_ND(Max, kMax, RealTypes());
SCATTER_ND(Min, kMin, RealTypes());
SCATTER_ND(Sub, kSub, kAdding);
KERNEL(ScatterUpdate, FunctionKernel<Scatter<ArithmeticOp::kAssign>>);
KERNEL(ResourceScatterUpdate, FunctionKernel<ResourceScatter<ArithmeticOp::kAssign>>);
KERNEL(ScatterNdUpdate, ScatterNdKernel<ArithmeticOp::kAssign>);
KERNEL(ResourceScatterNdUpdate, ScatterNdKernel<ArithmeticOp::kAssign>);
#undef SCATTER
#undef SCATTER_ND

}  // namespace
}  // namespace sluice
