// Claims (locks, executor/wait/claim.h) the variable and the slots that an update changes. Inputs
// name them by reference or by resource handle.
//
// Thread safety: an object belongs to one call of a kernel. It holds the claims of all its
// variables as long as it lives.
#ifndef SLUICE_OPS_UPDATE_TARGETS_H_
#define SLUICE_OPS_UPDATE_TARGETS_H_

#include <memory>
#include <mutex>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "executor/wait/claim.h"
#include "ops/state/variable_resource.h"
#include "ops/update/update_rule.h"

namespace sluice {

class UpdateTargets {
 public:
  enum class Deferred { kSettle, kKeep };

  // Claims the variables of inputs [0, count). If another kernel holds one of their claims, takes
  // none and returns the status of KernelContext::RunAgainAfter, which the kernel must return.
  // kSettle also does the deferred updates of the variables, so that their tensors can be used
  // (executor/kernel/deferred_updates.h). kKeep leaves these updates deferred.
  // FAILED_PRECONDITION if a variable is not initialized. NOT_FOUND if there is no such variable.
  absl::Status Claim(KernelContext& c, int count, Deferred deferred);

  int size() const { return static_cast<int>(tensors_.size()); }
  Tensor* tensor(int i) const { return tensors_[i]; }
  // Whether no variable was given twice.
  bool are_distinct() const { return locks_.size() == tensors_.size(); }
  // The variables. Empty if the inputs are references.
  absl::Span<const std::shared_ptr<Var>> variables() const { return variables_; }

 private:
  template <typename T>
  using PerTarget = absl::InlinedVector<T, 1 + UpdateRule::kSlotsMax>;

  absl::Status Lock(KernelContext& c, PerTarget<sluice::Claim*> claims);
  absl::Status CheckInitialized(KernelContext& c, int i, Deferred deferred) const;

  PerTarget<std::shared_ptr<Var>> variables_;
  PerTarget<Tensor*> tensors_;
  PerTarget<std::unique_lock<sluice::Claim>> locks_;  // released first
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_TARGETS_H_
