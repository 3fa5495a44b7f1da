// Kernels of variables that graphs use by reference.
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "executor/kernel/context.h"
#include "executor/kernel/fixed_shape.h"
#include "graph/ir/graph.h"
#include "ops/state/arguments.h"
#include "ops/state/count_up_to.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

absl::StatusOr<std::shared_ptr<RefVar>> RefVariableOf(KernelInit& init) {
  const DataType dtype = init.attr<DataType>("dtype");
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, FixedShape(init.attr<PartialShape>("shape")));
  SLUICE_ASSIGN_OR_RETURN(const ResourceName name, ResourceNameOf(init, true));
  SLUICE_ASSIGN_OR_RETURN(
      std::shared_ptr<RefVar> variable,
      init.resources().LookupOrCreate<RefVar>(
          name.container, name.name, [&]() -> absl::StatusOr<std::shared_ptr<RefVar>> {
            return std::make_shared<RefVar>(name.name, dtype, shape);
          }));
  SLUICE_INVALID_IF(variable->dtype() != dtype, init.node().Describe(),
                    ": expected the type of the variable '", name.name, "' that exists, ",
                    DataTypeName(variable->dtype()), ", got ", DataTypeName(dtype));
  return variable;
}

absl::Status OutputVariable(KernelContext& c, const Prepared<RefVariableOf>& variable) {
  c.set_output_ref(0, &(*variable)->claim, &(*variable)->tensor);
  return absl::OkStatus();
}

absl::Status IsVariableInitialized(KernelContext& c) {
  const RefInput ref = c.ref_input(0);
  std::unique_lock lock(*ref.claim, std::try_to_lock);
  if (!lock) return c.RunAgainAfter(ref.claim);
  BringHome(ref.tensor);
  return SetScalarOutput(c, ref.tensor->IsInitialized());
}

absl::Status RefSelect(KernelContext& c) {
  const Tensor& index = c.input(0);
  SLUICE_RETURN_IF_ERROR(ExpectRank(index, 0, "Index must be a scalar, but it has shape "));
  const int32_t chosen = index.scalar<int32_t>();
  SLUICE_INVALID_IF(chosen < 0 || chosen >= c.num_inputs() - 1, "Index must be in the range [0, ",
                    c.num_inputs() - 1, ") but got ", chosen);
  const RefInput ref = c.ref_input(1 + chosen);
  c.set_output_ref(0, ref.claim, ref.tensor);
  return absl::OkStatus();
}

// A temporary variable, which is a resource of the step.
struct TemporaryTensor : Resource {
  static constexpr const char* kTypeName = "N10tensorflow19TemporaryVariableOp6TmpVarE";
  explicit TemporaryTensor(std::string n) : name(std::move(n)) {}
  std::string DebugString() const override { return StrCat("temporary variable '", name, "'"); }
  const std::string name;
  Claim claim;
  Tensor tensor;  // guarded by claim
};

std::string StepContainer(const KernelContext& c) {
  return StrCat("__per_step_", c.step().step_id);
}

std::string TemporaryName(const KernelContext& c, std::string_view var_name) {
  return StrCat(var_name, "/frame:", c.frame_id, "/iter:", c.iteration);
}

class TemporaryVariableKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(TensorShape shape, FixedShape(init.attr<PartialShape>("shape")));
    return std::unique_ptr<Kernel>(new TemporaryVariableKernel(init, std::move(shape)));
  }

  absl::Status Compute(KernelContext& c) override {
    const std::string name = TemporaryName(c, var_name_);
    bool is_new = false;
    SLUICE_ASSIGN_OR_RETURN(
        const std::shared_ptr<TemporaryTensor> variable,
        c.step().step_resources->LookupOrCreate<TemporaryTensor>(
            StepContainer(c), name, [&]() -> absl::StatusOr<std::shared_ptr<TemporaryTensor>> {
              auto made = std::make_shared<TemporaryTensor>(var_name_);
              SLUICE_ASSIGN_OR_RETURN(made->tensor, c.AllocateTemp(dtype_, shape_));
              // Zeros the memory, so that data of other steps cannot be read. TensorFlow does not
              // initialize it.
              if (const size_t bytes = made->tensor.bytes(); bytes > 0) {
                std::memset(made->tensor.raw(), 0, bytes);
              }
              is_new = true;
              return made;
            }));
    if (!is_new) {
      return absl::AlreadyExistsError(
          StrCat("Resource ", StepContainer(c), "/", name, "/", TemporaryTensor::kTypeName));
    }
    c.set_output_ref(0, &variable->claim, &variable->tensor);
    return absl::OkStatus();
  }

 private:
  TemporaryVariableKernel(KernelInit& init, TensorShape shape)
      : shape_(std::move(shape)),
        dtype_(init.attr<DataType>("dtype")),
        var_name_(init.AttrOr<std::string>("var_name", "")) {
    if (var_name_.empty()) var_name_ = init.name();
  }

  const TensorShape shape_;
  const DataType dtype_;
  std::string var_name_;
};

absl::Status DestroyTemporaryVariable(KernelContext& c,
                                      const Attr<std::string, "var_name">& var_name) {
  static std::atomic<int64_t> destroyed{0};
  ResourceManager& resources = *c.step().step_resources;
  const std::string container = StepContainer(c);
  const std::string name = TemporaryName(c, var_name.value);
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TemporaryTensor> variable,
                          resources.Lookup<TemporaryTensor>(container, name));
  {
    std::unique_lock lock(variable->claim, std::try_to_lock);
    if (!lock) return c.RunAgainAfter(std::shared_ptr<Claim>(variable, &variable->claim));
    c.set_output(0, std::exchange(variable->tensor, Tensor()));
  }
  SLUICE_RETURN_IF_ERROR(resources.Delete<TemporaryTensor>(container, name));
  // Keeps the empty tensor until the step ends, because other nodes may still receive references to
  // it.
  return resources
      .LookupOrCreate<TemporaryTensor>(
          container, StrCat(name, "/destroyed:", destroyed.fetch_add(1)),
          [&]() -> absl::StatusOr<std::shared_ptr<TemporaryTensor>> { return variable; })
      .status();
}

absl::Status CountUpTo(KernelContext& c, Attr<int64_t, "limit"> limit) {
  const RefInput ref = c.ref_input(0);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
  std::unique_lock lock(*ref.claim, std::try_to_lock);
  if (!lock) return c.RunAgainAfter(ref.claim);
  return CountUp(ref.tensor, limit, *c.step().allocator, out);
}

KERNEL(CountUpTo, CheapFunctionKernel<CountUpTo>, {"T", IndexTypes()});
KERNEL(DestroyTemporaryVariable, FunctionKernel<DestroyTemporaryVariable>);
KERNEL(IsVariableInitialized, CheapFunctionKernel<IsVariableInitialized>);
KERNEL(RefSelect, CheapFunctionKernel<RefSelect>,
       {"T", RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT}});
KERNEL(TemporaryVariable, TemporaryVariableKernel);
KERNEL(Variable, CheapFunctionKernel<OutputVariable>);
KERNEL(VariableV2, CheapFunctionKernel<OutputVariable>);

}  // namespace
}  // namespace sluice
