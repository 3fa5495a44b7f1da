// Kernels that assign to slices of variables, by reference and by resource handle.
#include "executor/kernel/context.h"
#include "ops/indexing/slice_box.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

class SliceAssignKernel final : public Kernel {
 public:
  explicit SliceAssignKernel(KernelInit& init)
      : is_ref_(IsRefType(init.input_type(0))), masks_(SliceMasks::Of(init)) {}

  absl::Status Compute(KernelContext& c) override {
    if (is_ref_) return UpdateRef(c, [&](Tensor* tensor) { return Assign(c, tensor); });
    WritableVariable variable;
    SLUICE_RETURN_IF_ERROR(variable.Take(c));
    const DataType dtype = c.input(4).dtype();
    SLUICE_INVALID_IF(variable.tensor()->dtype() != dtype, "l-value dtype ",
                      DataTypeName(variable.tensor()->dtype()), " does not match r-value dtype ",
                      DataTypeName(dtype));
    return Assign(c, variable.tensor());
  }

 private:
  // Assigns input 4 to the slice that inputs 1 to 3 describe.
  absl::Status Assign(KernelContext& c, Tensor* variable) const {
    const TensorShape shape = variable->shape();
    SLUICE_ASSIGN_OR_RETURN(const SliceSpec spec, ReadSliceSpec(c, 1, shape, masks_));
    const Tensor& value = c.input(4);
    SLUICE_ASSIGN_OR_RETURN(const CopyBox box, BoxOfValue(spec, shape, value.shape()));
    SLUICE_RETURN_IF_ERROR(MakeWritable(variable, *c.step().allocator));
    CopyStrided(c, value.dtype(), value.raw(), variable->raw(), box);
    return absl::OkStatus();
  }

  const bool is_ref_;
  const SliceMasks masks_;
};

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() | TypeSet{DT_BOOL,          DT_STRING,   DT_QINT8,
                                           DT_QUINT8,        DT_QINT32,   DT_FLOAT8_E5M2,
                                           DT_FLOAT8_E4M3FN, DT_RESOURCE, DT_VARIANT};
KERNEL(ResourceStridedSliceAssign, SliceAssignKernel, {"T", kTypes});
KERNEL(StridedSliceAssign, SliceAssignKernel, {"T", kTypes});

}  // namespace
}  // namespace sluice
