#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/state/count_up_to.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

class VarHandleKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(const ResourceName name, ResourceNameOf(init, true));
    ResourceHandle handle;
    handle.device = init.device_name();
    handle.container = name.container;
    handle.name = name.name;
    handle.type_name = Var::kTypeName;
    handle.components = {{init.attr<DataType>("dtype"), init.attr<PartialShape>("shape")}};
    // The handle carries the object, so that using it costs no search by name.
    SLUICE_ASSIGN_OR_RETURN(
        handle.object,
        init.resources().LookupOrCreate<Var>(
            name.container, name.name, [&]() -> absl::StatusOr<std::shared_ptr<Var>> {
              return std::make_shared<Var>(name.container, name.name);
            }));
    return std::unique_ptr<Kernel>(new VarHandleKernel(Tensor::Scalar(std::move(handle))));
  }

  absl::Status Compute(KernelContext& c) override {
    c.set_output(0, handle_);
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  explicit VarHandleKernel(Tensor handle) : handle_(std::move(handle)) {}
  const Tensor handle_;
};

class ReadVariableKernel : public Kernel {
 public:
  explicit ReadVariableKernel(KernelInit& init) : dtype_(init.attr<DataType>("dtype")) {}

  absl::Status Compute(KernelContext& c) override {
    const absl::StatusOr<std::shared_ptr<Var>> variable = LookupVariable(c, 0);
    if (absl::IsNotFound(variable.status())) {
      return VariableNotReadable(c, 0, c.input(0).scalar<ResourceHandle>());
    }
    SLUICE_RETURN_IF_ERROR(variable.status());
    std::shared_lock lock((*variable)->mutex);
    const Tensor& value = (*variable)->tensor;
    if (!(*variable)->is_initialized) {
      return VariableNotReadable(c, 0, c.input(0).scalar<ResourceHandle>());
    }
    if (value.dtype() != dtype_) {
      return InvalidArgument("Trying to read variable with wrong dtype. Expected ",
                             DataTypeName(dtype_), " got ", DataTypeName(value.dtype()));
    }
    c.set_output(0, value);
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const DataType dtype_;
};

class VarIsInitializedKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, TensorShape(), &out));
    const absl::StatusOr<std::shared_ptr<Var>> variable = LookupVariable(c, 0);
    out->scalar<bool>() = false;
    if (absl::IsNotFound(variable.status())) return absl::OkStatus();
    SLUICE_RETURN_IF_ERROR(variable.status());
    std::shared_lock lock((*variable)->mutex);
    out->scalar<bool>() = (*variable)->is_initialized;
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }
};

template <typename T>
class VariableShapeKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    TensorShape shape;
    {
      SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Var> variable, LookupVariable(c, 0));
      std::shared_lock lock(variable->mutex);
      if (!variable->is_initialized) return VariableNotFound(c, 0, *variable);
      shape = variable->tensor.shape();
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, {shape.rank()}, &out));
    for (int d = 0; d < shape.rank(); ++d) {
      const T size = static_cast<T>(shape.dim(d));
      if (size != shape.dim(d)) {
        return InvalidArgument("Dimension ", d, " of the variable, ", shape.dim(d),
                               ", does not fit in ", DataTypeName(kDataTypeOf<T>));
      }
      out->data<T>()[d] = size;
    }
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }
};

class DestroyResourceKernel : public Kernel {
 public:
  explicit DestroyResourceKernel(KernelInit& init)
      : ignore_lookup_error_(init.AttrOr<bool>("ignore_lookup_error", true)) {}

  absl::Status Compute(KernelContext& c) override {
    const absl::StatusOr<std::shared_ptr<Var>> variable = LookupVariable(c, 0);
    if (absl::IsNotFound(variable.status()) && ignore_lookup_error_) return absl::OkStatus();
    SLUICE_RETURN_IF_ERROR(variable.status());
    std::unique_lock lock((*variable)->mutex);
    if (!(*variable)->is_initialized && !ignore_lookup_error_) {
      return VariableNotFound(c, 0, **variable);
    }
    // Handles keep the object; without a value it is as good as gone.
    (*variable)->is_initialized = false;
    (*variable)->tensor = Tensor();
    return absl::OkStatus();
  }

 private:
  const bool ignore_lookup_error_;
};

class ResourceCountUpToKernel : public Kernel {
 public:
  explicit ResourceCountUpToKernel(KernelInit& init) : limit_(init.attr<int64_t>("limit")) {}

  absl::Status Compute(KernelContext& c) override {
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, TensorShape(), &out));
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Var> variable, LookupVariable(c, 0));
    std::unique_lock lock(variable->mutex);
    if (!variable->is_initialized) return VariableNotFound(c, 0, *variable);
    if (variable->tensor.dtype() != out->dtype()) {
      return InvalidArgument("Trying to read variable with wrong dtype. Expected ",
                             DataTypeName(out->dtype()), " got ",
                             DataTypeName(variable->tensor.dtype()));
    }
    return CountUp(&variable->tensor, limit_, *c.step().allocator, out);
  }
  bool IsExpensive() const override { return false; }

 private:
  const int64_t limit_;
};

KERNEL(DestroyResourceOp, DestroyResourceKernel);
KERNEL(ReadVariableOp, ReadVariableKernel);
KERNEL(ResourceCountUpTo, ResourceCountUpToKernel, {"T", IndexTypes()});
KERNEL(VarHandleOp, VarHandleKernel);
KERNEL(VarIsInitializedOp, VarIsInitializedKernel);
KERNELS(VariableShape, "out_type", VariableShapeKernel, IndexList);

}  // namespace
}  // namespace sluice
