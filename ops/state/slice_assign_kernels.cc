#include "executor/kernel/context.h"
#include "ops/indexing/slice_box.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

// Input 4 goes into the slice of `*variable` that inputs 1 to 3 describe. The caller has the
// variable's claim.
absl::Status AssignSlice(KernelContext& c, const SliceMasks& masks, Tensor* variable) {
  const TensorShape shape = variable->shape();
  SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSliceSpec(c, 1, shape, masks));
  const Tensor& value = c.input(4);
  SLUICE_ASSIGN_OR_RETURN(const CopyBox box, BoxOfValue(spec, shape, value.shape()));
  SLUICE_RETURN_IF_ERROR(MakeWritable(variable, *c.step().allocator));
  CopyStrided(c, value.dtype(), value.raw(), variable->raw(), box);
  return absl::OkStatus();
}

class StridedSliceAssignKernel final : public Kernel {
 public:
  explicit StridedSliceAssignKernel(KernelInit& init) : masks_(SliceMasks::Of(init)) {}
  absl::Status Compute(KernelContext& c) override {
    const RefInput ref = c.ref_input(0);
    {
      std::unique_lock lock(*ref.claim, std::try_to_lock);
      if (!lock) return c.RunAgainAfter(ref.claim);
      SLUICE_RETURN_IF_ERROR(AssignSlice(c, masks_, ref.tensor));
    }
    c.set_output_ref(0, ref.claim, ref.tensor);
    return absl::OkStatus();
  }

 private:
  const SliceMasks masks_;
};

class ResourceStridedSliceAssignKernel final : public Kernel {
 public:
  explicit ResourceStridedSliceAssignKernel(KernelInit& init) : masks_(SliceMasks::Of(init)) {}
  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Var> variable, LookupVariable(c, 0));
    std::unique_lock lock(variable->claim, std::try_to_lock);
    if (!lock) return RunAgainAfter(c, variable);
    if (!variable->is_initialized) return VariableNotFound(c, 0, *variable);
    const DataType dtype = c.input(4).dtype();
    if (variable->tensor.dtype() != dtype) {
      return InvalidArgument("l-value dtype ", DataTypeName(variable->tensor.dtype()),
                             " does not match r-value dtype ", DataTypeName(dtype));
    }
    return AssignSlice(c, masks_, &variable->tensor);
  }

 private:
  const SliceMasks masks_;
};

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() | TypeSet{DT_BOOL,          DT_STRING,   DT_QINT8,
                                           DT_QUINT8,        DT_QINT32,   DT_FLOAT8_E5M2,
                                           DT_FLOAT8_E4M3FN, DT_RESOURCE, DT_VARIANT};
KERNEL(ResourceStridedSliceAssign, ResourceStridedSliceAssignKernel, {"T", kTypes});
KERNEL(StridedSliceAssign, StridedSliceAssignKernel, {"T", kTypes});

}  // namespace
}  // namespace sluice
