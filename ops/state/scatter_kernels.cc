#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/loops/scatter_rows.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

template <ArithmeticOp op>
class ScatterKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    const RefInput ref = c.ref_input(0);
    {
      std::unique_lock lock(*ref.claim, std::try_to_lock);
      if (!lock) return c.RunAgainAfter(ref.claim);
      Tensor* params = ref.tensor;
      if (params->rank() < 1) {
        return InvalidArgument("params must be at least 1-D, got shape ",
                               params->shape().ToString());
      }
      SLUICE_RETURN_IF_ERROR(CheckScatter(params->shape(), c.input(1), c.input(2)));
      SLUICE_RETURN_IF_ERROR(MakeWritable(params, *c.step().allocator));
      SLUICE_RETURN_IF_ERROR(ScatterRows(c, op, params, c.input(1), c.input(2)));
    }
    c.set_output_ref(0, ref.claim, ref.tensor);
    return absl::OkStatus();
  }
};

// The variable of input 0, claimed for writing and with a buffer of its own.
class Writer {
 public:
  absl::Status Open(KernelContext& c, DataType dtype) {
    SLUICE_ASSIGN_OR_RETURN(variable_, LookupVariable(c, 0));
    lock_ = std::unique_lock(variable_->claim, std::try_to_lock);
    if (!lock_) return RunAgainAfter(c, variable_);
    if (!variable_->is_initialized) return VariableNotFound(c, 0, *variable_);
    if (variable_->tensor.dtype() != dtype) {
      return InvalidArgument(c.node().Describe(), ": expected updates of type ",
                             DataTypeName(variable_->tensor.dtype()), ", got ",
                             DataTypeName(dtype));
    }
    return absl::OkStatus();
  }
  Tensor* tensor() { return &variable_->tensor; }

 private:
  std::shared_ptr<Var> variable_;
  std::unique_lock<VariableClaim> lock_;
};

template <ArithmeticOp op>
class ResourceScatterKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    const Tensor& indices = c.input(1);
    const Tensor& updates = c.input(2);
    Writer writer;
    SLUICE_RETURN_IF_ERROR(writer.Open(c, updates.dtype()));
    Tensor* params = writer.tensor();
    SLUICE_RETURN_IF_ERROR(CheckScatter(params->shape(), indices, updates));
    if (params->rank() < 1) {
      return InvalidArgument("params must be at least 1-D, got shape []");
    }
    SLUICE_RETURN_IF_ERROR(MakeWritable(params, *c.step().allocator));
    return ScatterRows(c, op, params, indices, updates);
  }
};

absl::StatusOr<BadIndices> PolicyOf(const KernelInit& init) {
  const std::string policy = init.AttrOr<std::string>("bad_indices_policy", "");
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return BadIndices::kError;
  if (policy == "IGNORE") return BadIndices::kIgnore;
  return InvalidArgument(init.node().Describe(),
                         ": expected bad_indices_policy '', 'DEFAULT', 'ERROR' or 'IGNORE', got '",
                         policy, "'");
}

template <ArithmeticOp op>
class ScatterNdKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const BadIndices bad, PolicyOf(init));
    return std::unique_ptr<Kernel>(new ScatterNdKernel(bad));
  }
  absl::Status Compute(KernelContext& c) override {
    const RefInput ref = c.ref_input(0);
    {
      std::unique_lock lock(*ref.claim, std::try_to_lock);
      if (!lock) return c.RunAgainAfter(ref.claim);
      SLUICE_RETURN_IF_ERROR(CheckScatterNd(ref.tensor->shape(), c.input(1), c.input(2)));
      SLUICE_RETURN_IF_ERROR(MakeWritable(ref.tensor, *c.step().allocator));
      SLUICE_RETURN_IF_ERROR(ScatterSlices(c, op, bad_, ref.tensor, c.input(1), c.input(2)));
    }
    c.set_output_ref(0, ref.claim, ref.tensor);
    return absl::OkStatus();
  }

 private:
  explicit ScatterNdKernel(BadIndices bad) : bad_(bad) {}
  const BadIndices bad_;
};

template <ArithmeticOp op>
class ResourceScatterNdKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const BadIndices bad, PolicyOf(init));
    return std::unique_ptr<Kernel>(new ResourceScatterNdKernel(bad));
  }
  absl::Status Compute(KernelContext& c) override {
    Writer writer;
    SLUICE_RETURN_IF_ERROR(writer.Open(c, c.input(2).dtype()));
    Tensor* params = writer.tensor();
    SLUICE_RETURN_IF_ERROR(CheckScatterNd(params->shape(), c.input(1), c.input(2)));
    SLUICE_RETURN_IF_ERROR(MakeWritable(params, *c.step().allocator));
    return ScatterSlices(c, op, bad_, params, c.input(1), c.input(2));
  }

 private:
  explicit ResourceScatterNdKernel(BadIndices bad) : bad_(bad) {}
  const BadIndices bad_;
};

constexpr TypeSet kNumbers = RealTypes() | ComplexTypes();
constexpr TypeSet kAdding = kNumbers | TypeSet(DT_BOOL);

#define SCATTER(name, op, types)                                        \
  KERNEL(Scatter##name, ScatterKernel<ArithmeticOp::op>, {"T", types}); \
  KERNEL(ResourceScatter##name, ResourceScatterKernel<ArithmeticOp::op>, {"dtype", types})
#define SCATTER_ND(name, op, types)                                         \
  KERNEL(ScatterNd##name, ScatterNdKernel<ArithmeticOp::op>, {"T", types}); \
  KERNEL(ResourceScatterNd##name, ResourceScatterNdKernel<ArithmeticOp::op>, {"T", types})

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
KERNEL(ScatterUpdate, ScatterKernel<ArithmeticOp::kAssign>);
KERNEL(ResourceScatterUpdate, ResourceScatterKernel<ArithmeticOp::kAssign>);
KERNEL(ScatterNdUpdate, ScatterNdKernel<ArithmeticOp::kAssign>);
KERNEL(ResourceScatterNdUpdate, ResourceScatterNdKernel<ArithmeticOp::kAssign>);
#undef SCATTER
#undef SCATTER_ND

}  // namespace
}  // namespace sluice
