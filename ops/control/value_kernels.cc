// Kernels of ops that appear in functions, and in graphs in which functions were replaced by Switch
// and Merge.
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

// Returns whether a tensor counts as true. Supports the same types as TensorFlow.
absl::StatusOr<bool> IsNonZero(const Tensor& t) {
  switch (t.dtype()) {
    case DT_STRING:
      return !t.scalar<std::string>().empty();
    case DT_FLOAT:
      return t.scalar<float>() != 0;
    case DT_DOUBLE:
      return t.scalar<double>() != 0;
    case DT_BOOL:
      return t.scalar<bool>();
    case DT_INT8:
    case DT_UINT8:
      return t.scalar<uint8_t>() != 0;
    case DT_INT16:
      return t.scalar<int16_t>() != 0;
    case DT_INT32:
      return t.scalar<int32_t>() != 0;
    case DT_INT64:
      return t.scalar<int64_t>() != 0;
    default:
      return InvalidArgument(DataTypeName(t.dtype()), " cannot be converted to a boolean");
  }
}

absl::Status ToBool(KernelContext& c) {
  const Tensor& in = c.input(0);
  bool truth = in.num_elements() > 0;
  if (in.shape().IsScalar()) {
    SLUICE_ASSIGN_OR_RETURN(truth, IsNonZero(in));
  }
  return SetScalarOutput(c, truth);
}

class FakeParamKernel : public Kernel {
 public:
  explicit FakeParamKernel(KernelInit& init)
      : shape_(init.AttrOr<PartialShape>("shape", PartialShape())) {}
  absl::Status Compute(KernelContext& c) override {
    std::vector<int64_t> dims;
    for (int d = 0; d < shape_.rank(); ++d) dims.push_back(std::max<int64_t>(shape_.dim(d), 0));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (IsPlainBytes(out->dtype()) && out->bytes() > 0) std::memset(out->raw(), 0, out->bytes());
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const PartialShape shape_;
};

class DeviceIndexKernel : public Kernel {
 public:
  explicit DeviceIndexKernel(KernelInit& init) {
    const auto names = init.AttrOr<std::vector<std::string>>("device_names", {});
    index_ = static_cast<int32_t>(names.size());
    for (size_t i = names.size(); i-- > 0;) {
      if (names[i] == "CPU") index_ = static_cast<int32_t>(i);
    }
  }
  absl::Status Compute(KernelContext& c) override { return SetScalarOutput(c, index_); }
  bool IsExpensive() const override { return false; }

 private:
  int32_t index_;
};

absl::Status PassEach(KernelContext& c) {
  SLUICE_INVALID_IF(c.num_inputs() != c.num_outputs(), "expected ", c.num_outputs(),
                    " tensors, got ", c.num_inputs());
  for (int i = 0; i < c.num_inputs(); ++i) {
    SLUICE_INVALID_IF(c.input_dtype(i) != c.output_dtype(i), "expected ",
                      DataTypeName(c.output_dtype(i)), " as tensor ", i, ", got ",
                      DataTypeName(c.input_dtype(i)));
    c.output_value(i) = c.input_value(i);
  }
  return absl::OkStatus();
}

absl::Status SwitchN(KernelContext& c) {
  const Tensor& index = c.input(1);
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(index, 0, "The second input must be a scalar, but it has shape "));
  int taken = index.scalar<int32_t>();
  if (taken < 0 || taken >= c.num_outputs()) taken = c.num_outputs() - 1;
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (i != taken) c.set_output_dead(i);
  }
  c.output_value(taken) = c.input_value(0);
  return absl::OkStatus();
}

KERNEL(DeviceIndex, DeviceIndexKernel);
KERNEL(FakeParam, FakeParamKernel);
KERNEL(ToBool, CheapFunctionKernel<ToBool>);
KERNEL(_ArrayToList, CheapFunctionKernel<PassEach>);
KERNEL(_ListToArray, CheapFunctionKernel<PassEach>);
KERNEL(_SwitchN, CheapFunctionKernel<SwitchN>);

}  // namespace
}  // namespace sluice
