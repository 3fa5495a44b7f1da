#include "ops/update/targets.h"

#include <algorithm>

#include "executor/kernel/deferred_updates.h"
#include "graph/ir/graph.h"

namespace sluice {

absl::Status UpdateTargets::Claim(KernelContext& c, int count, Deferred deferred) {
  PerTarget<sluice::Claim*> claims;
  for (int i = 0; i < count; ++i) {
    if (c.input_is_ref(i)) {
      const RefInput ref = c.ref_input(i);
      claims.push_back(ref.claim);
      tensors_.push_back(ref.tensor);
      continue;
    }
    const auto lookup = deferred == Deferred::kKeep ? &LookupVariableAsItIs : &LookupVariable;
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Var> variable, lookup(c, i));
    claims.push_back(&variable->claim.AsItIs());
    tensors_.push_back(&variable->tensor);
    variables_.push_back(std::move(variable));
  }
  SLUICE_RETURN_IF_ERROR(Lock(c, std::move(claims)));
  for (int i = 0; i < count; ++i) SLUICE_RETURN_IF_ERROR(CheckInitialized(c, i, deferred));
  return absl::OkStatus();
}

absl::Status UpdateTargets::Lock(KernelContext& c, PerTarget<sluice::Claim*> claims) {
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  locks_.resize(claims.size());
  sluice::Claim* taken = TryLockAll(absl::MakeConstSpan(claims), locks_.data());
  if (taken == nullptr) return absl::OkStatus();
  for (const std::shared_ptr<Var>& variable : variables_) {
    if (&variable->claim.AsItIs() == taken) return RunAgainAfter(c, variable);
  }
  return c.RunAgainAfter(taken);
}

absl::Status UpdateTargets::CheckInitialized(KernelContext& c, int i, Deferred deferred) const {
  Tensor* tensor = tensors_[i];
  if (deferred == Deferred::kSettle && !tensor->IsInitialized()) {
    if (variables_.empty()) SettleDeferred(tensor, StepContext());
    if (!variables_.empty()) variables_[i]->claim.Settle(StepContext());
  }
  if (!variables_.empty() && !variables_[i]->is_initialized) {
    return VariableNotReadable(c, i, c.input(i).scalar<ResourceHandle>());
  }
  if (tensor->IsInitialized() || WhoHas(tensor) != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("Attempting to use uninitialized value ", c.node().input(i).node->name()));
}

}  // namespace sluice
