// Kernels of variables that graphs use by resource handles.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/state/arguments.h"
#include "ops/state/count_up_to.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

// Makes a handle that owns the variable, so that ops need not look it up by name.
absl::StatusOr<Tensor> MakeHandle(KernelInit& init, const std::string& container,
                                  const std::string& name, DataType dtype,
                                  const PartialShape& shape) {
  ResourceHandle handle;
  handle.device = init.device_name();
  handle.container = container;
  handle.name = name;
  handle.type_name = Var::kTypeName;
  handle.components = {{dtype, shape}};
  SLUICE_ASSIGN_OR_RETURN(handle.object,
                          init.resources().LookupOrCreate<Var>(
                              container, name, [&]() -> absl::StatusOr<std::shared_ptr<Var>> {
                                return std::make_shared<Var>(container, name);
                              }));
  return Tensor::Scalar(std::move(handle));
}

absl::StatusOr<Tensor> VarHandleOf(KernelInit& init) {
  SLUICE_ASSIGN_OR_RETURN(const ResourceName name, ResourceNameOf(init, true));
  return MakeHandle(init, name.container, name.name, init.attr<DataType>("dtype"),
                    init.attr<PartialShape>("shape"));
}

absl::Status VarHandle(KernelContext& c, const Prepared<VarHandleOf>& handle) {
  c.set_output(0, *handle);
  return absl::OkStatus();
}

absl::StatusOr<Tensors> VarHandlesOf(KernelInit& init) {
  const auto& containers = init.attr<std::vector<std::string>>("containers");
  const auto& names = init.attr<std::vector<std::string>>("shared_names");
  const size_t n = static_cast<size_t>(init.num_outputs());
  SLUICE_INVALID_IF(containers.size() != n || names.size() != n,
                    "Mismatched number of arguments to VarHandlesOp: ", n, " handles, ",
                    containers.size(), " containers, ", names.size(), " names");
  Tensors handles;
  for (size_t i = 0; i < n; ++i) {
    const std::string container =
        containers[i].empty() ? ResourceManager::kDefaultContainer : containers[i];
    SLUICE_ASSIGN_OR_RETURN(
        Tensor handle,
        MakeHandle(init, container, names[i], init.attr<std::vector<DataType>>("dtypes")[i],
                   init.attr<std::vector<PartialShape>>("shapes")[i]));
    handles.push_back(std::move(handle));
  }
  return handles;
}

absl::Status VarHandles(KernelContext& c, const Prepared<VarHandlesOf>& handles) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, (*handles)[i]);
  return absl::OkStatus();
}

// Returns the value of the variable whose handle is input `i`.
absl::StatusOr<Tensor> ReadVariable(KernelContext& c, int i, DataType dtype) {
  const absl::StatusOr<std::shared_ptr<Var>> variable = LookupVariable(c, i);
  if (absl::IsNotFound(variable.status())) {
    return VariableNotReadable(c, i, c.input(i).scalar<ResourceHandle>());
  }
  SLUICE_RETURN_IF_ERROR(variable.status());
  std::shared_lock lock((*variable)->claim, std::try_to_lock);
  if (!lock) return RunAgainAfter(c, *variable);
  const Tensor& value = (*variable)->tensor;
  if (!(*variable)->is_initialized) {
    return VariableNotReadable(c, i, c.input(i).scalar<ResourceHandle>());
  }
  SLUICE_INVALID_IF(value.dtype() != dtype, "Trying to read variable with wrong dtype. Expected ",
                    DataTypeName(dtype), " got ", DataTypeName(value.dtype()));
  return value;
}

absl::Status ReadOneVariable(KernelContext& c, Attr<DataType, "dtype"> dtype) {
  SLUICE_ASSIGN_OR_RETURN(Tensor value, ReadVariable(c, 0, dtype));
  c.set_output(0, std::move(value));
  return absl::OkStatus();
}

absl::Status ReadVariables(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(Tensor value, ReadVariable(c, i, c.output_dtype(i)));
    c.set_output(i, std::move(value));
  }
  return absl::OkStatus();
}

absl::Status VarIsInitialized(KernelContext& c) {
  const absl::StatusOr<std::shared_ptr<Var>> variable = LookupVariableAsItIs(c, 0);
  if (absl::IsNotFound(variable.status())) return SetScalarOutput(c, false);
  SLUICE_RETURN_IF_ERROR(variable.status());
  const std::unique_lock lock((*variable)->claim.AsItIs(), std::try_to_lock);
  if (!lock) return RunAgainAfter(c, *variable);
  return SetScalarOutput(c, (*variable)->is_initialized);
}

template <typename T>
absl::Status VariableShape(KernelContext& c) {
  TensorShape shape;
  {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Var> variable, LookupVariableAsItIs(c, 0));
    const std::unique_lock lock(variable->claim.AsItIs(), std::try_to_lock);
    if (!lock) return RunAgainAfter(c, variable);
    if (!variable->is_initialized) return VariableNotFound(c, 0, *variable);
    shape = variable->tensor.shape();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {shape.rank()}));
  for (int d = 0; d < shape.rank(); ++d) {
    const T size = static_cast<T>(shape.dim(d));
    SLUICE_INVALID_IF(size != shape.dim(d), "Dimension ", d, " of the variable, ", shape.dim(d),
                      ", does not fit in ", DataTypeName(kDataTypeOf<T>));
    out->data<T>()[d] = size;
  }
  return absl::OkStatus();
}

template <typename T>
using VariableShapeKernel = CheapFunctionKernel<VariableShape<T>>;

absl::Status DestroyResource(KernelContext& c,
                             Attr<bool, "ignore_lookup_error", true> ignore_lookup_error) {
  const absl::StatusOr<std::shared_ptr<Var>> variable = LookupVariable(c, 0);
  if (absl::IsNotFound(variable.status()) && ignore_lookup_error) return absl::OkStatus();
  SLUICE_RETURN_IF_ERROR(variable.status());
  std::unique_lock lock((*variable)->claim, std::try_to_lock);
  if (!lock) return RunAgainAfter(c, *variable);
  if (!(*variable)->is_initialized && !ignore_lookup_error) {
    return VariableNotFound(c, 0, **variable);
  }
  // Only removes the value, because handles keep the object.
  (*variable)->is_initialized = false;
  (*variable)->tensor = Tensor();
  return absl::OkStatus();
}

absl::Status ResourceCountUpTo(KernelContext& c, Attr<int64_t, "limit"> limit) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
  WritableVariable variable;
  SLUICE_RETURN_IF_ERROR(variable.Take(c));
  SLUICE_RETURN_IF_ERROR(variable.CheckRead(out->dtype()));
  return CountUp(variable.tensor(), limit, *c.step().allocator, out);
}

KERNEL(DestroyResourceOp, FunctionKernel<DestroyResource>);
KERNEL(ReadVariableOp, CheapFunctionKernel<ReadOneVariable>);
KERNEL(ResourceCountUpTo, CheapFunctionKernel<ResourceCountUpTo>, {"T", IndexTypes()});
KERNEL(VarHandleOp, CheapFunctionKernel<VarHandle>);
KERNEL(VarIsInitializedOp, CheapFunctionKernel<VarIsInitialized>);
KERNEL(_ReadVariablesOp, CheapFunctionKernel<ReadVariables>);
KERNEL(_VarHandlesOp, CheapFunctionKernel<VarHandles>);
KERNELS(VariableShape, "out_type", VariableShapeKernel, IndexList);

}  // namespace
}  // namespace sluice
