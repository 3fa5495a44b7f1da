#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/copy_rows.h"
#include "ops/loops/row_index.h"
#include "ops/loops/scatter_rows.h"
#include "ops/state/variable_resource.h"
#include "ops/update/deferred_adam.h"

namespace sluice {
namespace {

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
  return CheckRowsInside(c.input(3), shape.dim(0));
}

// One step. The caller has the variables' claims, and has seen that they have values.
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
bool Sort(std::array<Claim*, 3>& claims) {
  std::sort(claims.begin(), claims.end());
  return std::unique(claims.begin(), claims.end()) == claims.end();
}

constexpr const char* kThree = "var, m and v must be three variables";

template <typename T>
class DeferredAdamKernel final : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    AdamHomes homes;
    std::array<Claim*, 3> claims;
    for (int k = 0; k < 3; ++k) {
      homes[k] = c.ref_input(k).tensor;
      claims[k] = c.ref_input(k).claim;
    }
    if (!Sort(claims)) return InvalidArgument(kThree);
    std::array<std::unique_lock<Claim>, 3> locks;
    if (Claim* taken = TryLockAll<Claim>(claims, locks.data())) return c.RunAgainAfter(taken);
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
    std::array<Claim*, 3> claims;
    for (int k = 0; k < 3; ++k) {
      SLUICE_ASSIGN_OR_RETURN(variables[k], LookupVariableAsItIs(c, k));
      homes[k] = &variables[k]->tensor;
      claims[k] = &variables[k]->claim.AsItIs();
    }
    if (!Sort(claims)) return InvalidArgument(kThree);
    std::array<std::unique_lock<Claim>, 3> locks;
    if (Claim* taken = TryLockAll<Claim>(claims, locks.data())) {
      return RunAgainAfter(c, *std::find_if(variables.begin(), variables.end(), [&](const auto& v) {
                             return &v->claim.AsItIs() == taken;
                           }));
    }
    for (int k = 0; k < 3; ++k) {
      if (variables[k]->is_initialized) continue;
      return VariableNotReadable(c, k, c.input(k).scalar<ResourceHandle>());
    }
    SLUICE_RETURN_IF_ERROR(DoStep<T>(c, homes));
    for (const auto& variable : variables) variable->claim.SetMayBeDeferred(true);
    return absl::OkStatus();
  }
};
KERNELS(_DeferredAdamOfHandles, "T", DeferredAdamOfHandlesKernel, Types);

class GatherOfDeferredKernel final : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    const RefInput ref = c.ref_input(0);
    std::unique_lock lock(*ref.claim, std::try_to_lock);
    if (!lock) return c.RunAgainAfter(ref.claim);
    if (std::shared_ptr<DeferredUpdates> holder = WhoHas(ref.tensor); holder != nullptr) {
      SLUICE_RETURN_IF_ERROR(CheckRowsInside(c.input(1), ref.tensor->dim(0)));
      return Gather(c, holder->Rows(ref.tensor, c.input(1), c.step()));
    }
    if (!ref.tensor->IsInitialized()) {
      return absl::FailedPreconditionError(
          StrCat("Attempting to use uninitialized value ", c.node().input(0).node->name()));
    }
    const Tensor params = *ref.tensor;
    lock.unlock();
    if (params.rank() < 1) return InvalidArgument("params must be at least 1 dimensional");
    SLUICE_RETURN_IF_ERROR(CheckRowsInside(c.input(1), params.dim(0)));
    return Gather(c, params);
  }

 private:
  static absl::Status Gather(KernelContext& c, const Tensor& params) {
    const Tensor& indices = c.input(1);
    std::vector<int64_t> dims(indices.shape().dims().begin(), indices.shape().dims().end());
    for (int d = 1; d < params.rank(); ++d) dims.push_back(params.dim(d));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (shape.num_elements() == 0) return absl::OkStatus();
    const RowIndex rows(indices);
    CopyRows(
        c, params, params.num_elements() / params.dim(0), [&](int64_t i) { return rows[i]; },
        rows.size(), out);
    return absl::OkStatus();
  }
};
KERNEL(_GatherOfDeferred, GatherOfDeferredKernel);

}  // namespace
}  // namespace sluice
