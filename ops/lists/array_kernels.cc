// Kernels that make TensorArrays and access single elements.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/lists/array.h"
#include "ops/lists/step_object.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

constexpr const char* kContainer = "_tensor_arrays";

// Outputs the name of the array in the form that the version of the op requires, and the flow.
absl::Status OutputArray(KernelContext& c, const std::string& name,
                         const std::shared_ptr<TensorArrayObject>& array) {
  if (c.num_outputs() > 1) {
    SLUICE_ASSIGN_OR_RETURN(Tensor * flow, c.AllocateOutput(1, TensorShape()));
    flow->scalar<float>() = 0;
  }
  if (c.output_dtype(0) == DT_RESOURCE) {
    c.set_output(0, StepHandle(c, name, array));
    return absl::OkStatus();
  }
  SLUICE_RETURN_IF_ERROR(
      c.step()
          .step_resources
          ->LookupOrCreate<TensorArrayObject>(
              kContainer, name,
              [&]() -> absl::StatusOr<std::shared_ptr<TensorArrayObject>> { return array; })
          .status());
  std::lock_guard lock(array->strings_claim);
  if (!array->strings.IsInitialized()) {
    array->strings = Tensor::Vector<std::string>({kContainer, name});
  }
  if (IsRefType(c.node().output_type(0))) {
    c.set_output_ref(0, &array->strings_claim, &array->strings);
  } else {
    c.set_output(0, array->strings);
  }
  return absl::OkStatus();
}

class TensorArrayKernel : public Kernel {
 public:
  explicit TensorArrayKernel(KernelInit& init)
      : base_(init.AttrOr<std::string>("tensor_array_name", "")) {
    spec_.dtype = init.AttrOr<DataType>("dtype", DT_INVALID);
    spec_.element_shape = init.AttrOr<PartialShape>("element_shape", PartialShape());
    spec_.identical_element_shapes = init.AttrOr<bool>("identical_element_shapes", false);
    spec_.dynamic_size = init.AttrOr<bool>("dynamic_size", false);
    spec_.clear_after_read = init.AttrOr<bool>("clear_after_read", true);
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& size = c.input(0);
    SLUICE_RETURN_IF_ERROR(ExpectRank(size, 0, "TensorArray size must be scalar, but had shape: "));
    const int32_t n = size.scalar<int32_t>();
    SLUICE_INVALID_IF(n < 0, "Size should be >= 0.");
    SLUICE_RETURN_IF_ERROR(TensorArrayObject::CheckSize(n));
    TensorArraySpec spec = spec_;
    spec.name = StepObjectName(c, base_);
    return OutputArray(c, spec.name, std::make_shared<TensorArrayObject>(spec, n));
  }
  bool IsExpensive() const override { return false; }

 private:
  const std::string base_;
  TensorArraySpec spec_;
};

class GradKernel : public Kernel {
 public:
  explicit GradKernel(KernelInit& init) : source_(init.AttrOr<std::string>("source", "")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const auto array, StepObject<TensorArrayObject>(c));
    TensorShape prepended;
    const bool prepends = c.num_inputs() > 2;
    if (prepends) {
      const Tensor& dims = c.input(2);
      SLUICE_INVALID_IF(dims.rank() > 1, "shape_to_prepend must be a vector, got shape ",
                        dims.shape().ToString());
      std::vector<int64_t> sizes(dims.data<int32_t>(), dims.data<int32_t>() + dims.num_elements());
      SLUICE_ASSIGN_OR_RETURN(prepended, TensorShape::Make(sizes));
    }
    const std::string name = StrCat(array->name(), "@", source_);
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TensorArrayObject> gradient,
                            array->Gradient(source_, name, prepends ? &prepended : nullptr));
    return OutputArray(c, name, gradient);
  }
  bool IsExpensive() const override { return false; }

 private:
  const std::string source_;
};

absl::StatusOr<int32_t> IndexOf(const KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(1), 0, "TensorArray index must be scalar, but had shape: "));
  return c.input(1).scalar<int32_t>();
}

absl::Status Write(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const int32_t index, IndexOf(c));
  SLUICE_ASSIGN_OR_RETURN(const auto array, StepObject<TensorArrayObject>(c));
  SLUICE_RETURN_IF_ERROR(array->Write(*c.step().allocator, index, c.input(2)));
  c.output_value(0) = c.input_value(3);
  return absl::OkStatus();
}

absl::Status Read(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const int32_t index, IndexOf(c));
  SLUICE_ASSIGN_OR_RETURN(const auto array, StepObject<TensorArrayObject>(c));
  SLUICE_INVALID_IF(array->dtype() != c.output_dtype(0), "TensorArray dtype is ",
                    DataTypeName(array->dtype()), " but op requested dtype ",
                    DataTypeName(c.output_dtype(0)), ".");
  SLUICE_ASSIGN_OR_RETURN(Tensor value, array->Read(*c.step().allocator, index));
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status Size(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto array, StepObject<TensorArrayObject>(c));
  SLUICE_ASSIGN_OR_RETURN(const int64_t size, array->Size());
  return SetScalarOutput(c, static_cast<int32_t>(size));
}

absl::Status Close(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto array, StepObject<TensorArrayObject>(c));
  array->Close();
  return absl::OkStatus();
}

KERNEL(TensorArray, TensorArrayKernel);
KERNEL(TensorArrayV2, TensorArrayKernel);
KERNEL(TensorArrayV3, TensorArrayKernel);
KERNEL(TensorArrayGrad, GradKernel);
KERNEL(TensorArrayGradV2, GradKernel);
KERNEL(TensorArrayGradV3, GradKernel);
KERNEL(TensorArrayGradWithShape, GradKernel);
KERNEL(TensorArrayWrite, CheapFunctionKernel<Write>);
KERNEL(TensorArrayWriteV2, CheapFunctionKernel<Write>);
KERNEL(TensorArrayWriteV3, CheapFunctionKernel<Write>);
KERNEL(TensorArrayRead, CheapFunctionKernel<Read>);
KERNEL(TensorArrayReadV2, CheapFunctionKernel<Read>);
KERNEL(TensorArrayReadV3, CheapFunctionKernel<Read>);
KERNEL(TensorArraySize, CheapFunctionKernel<Size>);
KERNEL(TensorArraySizeV2, CheapFunctionKernel<Size>);
KERNEL(TensorArraySizeV3, CheapFunctionKernel<Size>);
KERNEL(TensorArrayClose, CheapFunctionKernel<Close>);
KERNEL(TensorArrayCloseV2, CheapFunctionKernel<Close>);
KERNEL(TensorArrayCloseV3, CheapFunctionKernel<Close>);

}  // namespace
}  // namespace sluice
