#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/state/row_index.h"
#include "ops/state/scatter_rows.h"
#include "ops/state/variable_resource.h"
#include "ops/update/deferred_adam.h"

namespace sluice {
namespace {

absl::Status CheckRows(const TensorShape& params, const Tensor& indices) {
  const RowIndex rows(indices);
  const int64_t bad = rows.FirstOutside(params.dim(0));
  if (bad < 0) return absl::OkStatus();
  return InvalidArgument("indices[", PositionText(indices.shape(), bad), "] = ", rows[bad],
                         " is not in [0, ", params.dim(0), ")");
}

absl::Status CheckInputs(KernelContext& c, const AdamHomes& homes, DataType dtype) {
  const TensorShape& shape = homes[0]->shape();
  for (const Tensor* home : homes) {
    if (home->dtype() == dtype && home->shape() == shape && shape.rank() >= 1) continue;
    return InvalidArgument("expected var, m and v of one shape and type ", DataTypeName(dtype),
                           ", got ", DataTypeName(home->dtype()), home->shape().ToString(), " and ",
                           shape.ToString());
  }
  for (int i = 6; i < 10; ++i) {
    if (c.input(i).shape().IsScalar()) continue;
    return InvalidArgument("expected a scalar as input ", i, ", got shape ",
                           c.input(i).shape().ToString());
  }
  for (int i : {4, 5}) {
    if (c.input(i).rank() < 1) return InvalidArgument("expected rows as input ", i);
    SLUICE_RETURN_IF_ERROR(CheckScatter(shape, c.input(3), c.input(i)));
  }
  return CheckRows(shape, c.input(3));
}

// One step. The caller holds the variables' mutexes, and has seen that they have values.
template <typename T>
absl::Status DoStep(KernelContext& c, const AdamHomes& homes) {
  SLUICE_RETURN_IF_ERROR(CheckInputs(c, homes, kDataTypeOf<T>));
  if (homes[0]->num_elements() == 0) return absl::OkStatus();
  using Adam = DeferredAdam<T>;
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Adam> adam, Adam::Find(homes, c.step()));
  const auto number = [&](int i) { return c.input(i).template scalar<T>(); };
  adam->Step({number(6), number(7), number(8), number(9)}, RowIndex(c.input(3)),
             c.input(4).template data<T>(), c.input(5).template data<T>(), c);
  return absl::OkStatus();
}

// Three different ones, in the order in which all take them that take several.
template <typename M>
bool Sort(std::array<M*, 3>& mutexes) {
  std::sort(mutexes.begin(), mutexes.end());
  return std::unique(mutexes.begin(), mutexes.end()) == mutexes.end();
}

constexpr const char* kThree = "var, m and v must be three variables";

template <typename T>
class DeferredAdamKernel final : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    AdamHomes homes;
    std::array<std::mutex*, 3> mutexes;
    for (int k = 0; k < 3; ++k) {
      homes[k] = c.ref_input(k).tensor;
      mutexes[k] = c.ref_input(k).mutex;
    }
    if (!Sort(mutexes)) return InvalidArgument(kThree);
    const std::scoped_lock lock(*mutexes[0], *mutexes[1], *mutexes[2]);
    for (int k = 0; k < 3; ++k) {
      if (homes[k]->IsInitialized() || WhoHas(homes[k]) != nullptr) continue;
      return absl::FailedPreconditionError(
          StrCat("Attempting to use uninitialized value ", c.node().input(k).node->name()));
    }
    return DoStep<T>(c, homes);
  }
};
using Types = TypeList<float, double>;
KERNELS(_DeferredAdam, "T", DeferredAdamKernel, Types);

template <typename T>
class DeferredAdamOfHandlesKernel final : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    std::array<std::shared_ptr<Var>, 3> variables;
    AdamHomes homes;
    std::array<VariableMutex*, 3> mutexes;
    for (int k = 0; k < 3; ++k) {
      SLUICE_ASSIGN_OR_RETURN(variables[k], LookupVariableAsItIs(c, k));
      homes[k] = &variables[k]->tensor;
      mutexes[k] = &variables[k]->mutex;
    }
    if (!Sort(mutexes)) return InvalidArgument(kThree);
    std::array<std::unique_lock<std::shared_mutex>, 3> locks;
    for (int k = 0; k < 3; ++k) locks[k] = mutexes[k]->LockAsItIs();
    for (int k = 0; k < 3; ++k) {
      if (variables[k]->is_initialized) continue;
      return VariableNotReadable(c, k, c.input(k).scalar<ResourceHandle>());
    }
    SLUICE_RETURN_IF_ERROR(DoStep<T>(c, homes));
    for (const auto& variable : variables) variable->mutex.SetMayBeDeferred(true);
    return absl::OkStatus();
  }
};
KERNELS(_DeferredAdamOfHandles, "T", DeferredAdamOfHandlesKernel, Types);

template <typename T>
class GatherOfDeferredKernel final : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    const RefInput ref = c.ref_input(0);
    std::unique_lock lock(*ref.mutex);
    if (std::shared_ptr<DeferredUpdates> holder = WhoHas(ref.tensor); holder != nullptr) {
      SLUICE_RETURN_IF_ERROR(CheckRows(ref.tensor->shape(), c.input(1)));
      return Gather(c, holder->Rows(ref.tensor, c.input(1), c.step()));
    }
    if (!ref.tensor->IsInitialized()) {
      return absl::FailedPreconditionError(
          StrCat("Attempting to use uninitialized value ", c.node().input(0).node->name()));
    }
    const Tensor params = *ref.tensor;
    lock.unlock();
    if (params.rank() < 1) return InvalidArgument("params must be at least 1 dimensional");
    SLUICE_RETURN_IF_ERROR(CheckRows(params.shape(), c.input(1)));
    return Gather(c, params);
  }

 private:
  static absl::Status Gather(KernelContext& c, const Tensor& params) {
    const Tensor& indices = c.input(1);
    TensorShape shape = indices.shape();
    for (int d = 1; d < params.rank(); ++d) shape.AddDim(params.dim(d));
    SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(shape.dims()));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (shape.num_elements() == 0) return absl::OkStatus();
    const int64_t row_size = params.num_elements() / params.dim(0);
    const auto bytes = static_cast<size_t>(row_size) * sizeof(T);
    const RowIndex rows(indices);
    const T* from = params.template data<T>();
    T* to = out->template data<T>();
    c.ParallelFor(rows.size(), 3 + 0.1 * static_cast<double>(bytes),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      std::memcpy(to + i * row_size, from + rows[i] * row_size, bytes);
                    }
                  });
    return absl::OkStatus();
  }
};
KERNELS(_GatherOfDeferred, "T", GatherOfDeferredKernel, Types);

}  // namespace
}  // namespace sluice
