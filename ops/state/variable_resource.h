// The resources that hold the tensors of variables, which outlive steps: Var for a resource
// variable, RefVar for a ref variable.
//
// Buffers are copied on write. A read shares the buffer of the variable, and an update copies the
// buffer first if it has other owners. So a value that was read never changes, and a variable whose
// buffer is not shared is updated in place.
//
// An update with gradients for few rows may defer the changes of all other rows until the variable
// is next read (executor/kernel/deferred_updates.h). Until then, the variable's tensor is empty.
//
// Thread safety: the claim of a Var or RefVar, a lock (executor/wait/claim.h), guards its members.
// Ownership: shared by the resource manager, handles and kernels.
#ifndef SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_
#define SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "executor/wait/claim.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The lock of a Var. Its lock functions take the claim and run the deferred updates, so that the
// caller finds a complete tensor. Code that defers updates locks AsItIs() instead. This is the same
// claim, but the updates stay deferred.
class VariableClaim {
 public:
  explicit VariableClaim(Tensor* guarded) : guarded_(guarded) {}
  bool try_lock();
  void lock();
  void unlock() { claim_.unlock(); }
  bool try_lock_shared();
  void lock_shared();
  void unlock_shared() { claim_.unlock_shared(); }
  Claim& AsItIs() { return claim_; }
  // Whether there may be deferred updates. May be called without the claim. If true, a kernel locks
  // AsItIs() and calls Settle, which runs the updates on the threads of the kernel's step. The lock
  // functions would run them on the calling thread alone.
  bool MayBeDeferred() const { return may_be_deferred_.load(std::memory_order_relaxed); }
  void SetMayBeDeferred(bool may_be) { may_be_deferred_.store(may_be, std::memory_order_relaxed); }
  // Runs the deferred updates. The caller holds AsItIs().
  void Settle(const StepContext& step);

 private:
  Claim claim_;
  Tensor* const guarded_;
  std::atomic<bool> may_be_deferred_{false};
};

class Var : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow3VarE";

  Var(std::string container, std::string name)
      : claim(&tensor), container_(std::move(container)), name_(std::move(name)) {}
  ~Var() override;

  const std::string& container() const { return container_; }
  const std::string& name() const { return name_; }
  std::string DebugString() const override;

  mutable VariableClaim claim;
  Tensor tensor;                // guarded by claim
  bool is_initialized = false;  // guarded by claim. False again after DestroyResourceOp

 private:
  const std::string container_;
  const std::string name_;
};

class RefVar : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow9LegacyVarE";

  RefVar(std::string name, DataType dtype, const TensorShape& shape)
      : dtype_(dtype), name_(std::move(name)), tensor(dtype, shape, BufferRef()) {}
  ~RefVar() override;
  DataType dtype() const { return dtype_; }
  std::string DebugString() const override;

 private:
  const DataType dtype_;
  const std::string name_;

 public:
  mutable Claim claim;
  // Guarded by claim. Uninitialised before the first assignment, and while its updates are deferred
  // (executor/kernel/deferred_updates.h).
  Tensor tensor;
};

// Returns the variable whose handle is input `i`. The variable may have no value yet. If it may
// have deferred updates, runs them first. If another kernel holds the claim then, returns the
// status of RunAgainAfter. If there is no variable, returns NOT_FOUND with TensorFlow's text and,
// if known, the source line that made the handle.
absl::StatusOr<std::shared_ptr<Var>> LookupVariable(KernelContext& c, int i);
// Like LookupVariable, but leaves the variable's updates deferred.
absl::StatusOr<std::shared_ptr<Var>> LookupVariableAsItIs(KernelContext& c, int i);
// Like LookupVariable, but makes a variable if there is none.
absl::StatusOr<std::shared_ptr<Var>> LookupOrCreateVariable(KernelContext& c, int i);
// The status that a kernel returns, before it has done anything, if another kernel holds the claim.
// The kernel runs again after the claim is released.
absl::Status RunAgainAfter(KernelContext& c, const std::shared_ptr<Var>& variable);
// The error NOT_FOUND "Resource <container>/<name>/<type> does not exist." for the variable of
// input `i`.
absl::Status VariableNotFound(const KernelContext& c, int i, const Var& variable);
// The error of ReadVariableOp if the variable has no value: FAILED_PRECONDITION "Could not find
// variable <name>. …".
absl::Status VariableNotReadable(const KernelContext& c, int i, const ResourceHandle& handle);

// Runs the deferred updates of a variable, if there are any. `tensor` is the member of the
// variable. It is empty while updates are deferred, and then gets the result. The caller holds the
// variable's claim. Kernels that take references call this, MakeWritable or StoreValue before they
// use the tensor.
void BringHome(Tensor* tensor);

// Copies the buffer of `tensor` if it has other owners, so that elements may be written. The caller
// holds the claim of the variable. RESOURCE_EXHAUSTED if there is no memory; FAILED_PRECONDITION if
// the variable has no value.
absl::Status MakeWritable(Tensor* tensor, Allocator& allocator);

// Stores `value` in `*variable`, whose claim the caller holds. Moves the buffer of `value` if it
// has no other owner, and copies the elements otherwise. May empty `value`. FAILED_PRECONDITION if
// `value` is not initialized; RESOURCE_EXHAUSTED if there is no memory for the copy.
absl::Status StoreValue(Tensor& value, Tensor* variable, Allocator& allocator);

// Claims the variable that input 0 references, calls `update` with its tensor, and outputs the
// reference.
template <typename F>
absl::Status UpdateRef(KernelContext& c, F update) {
  const RefInput ref = c.ref_input(0);
  {
    std::unique_lock lock(*ref.claim, std::try_to_lock);
    if (!lock) return c.RunAgainAfter(ref.claim);
    SLUICE_RETURN_IF_ERROR(update(ref.tensor));
  }
  c.set_output_ref(0, ref.claim, ref.tensor);
  return absl::OkStatus();
}

// The variable whose handle is input 0, with its claim.
template <typename Lock>
class ClaimedVariable {
 public:
  // Claims the variable without waiting. If it returns an error, the kernel must return that error
  // before it does anything else: the status of RunAgainAfter if another kernel holds the claim, or
  // NOT_FOUND if the variable has no value.
  absl::Status Take(KernelContext& c) {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Var> variable, LookupVariable(c, 0));
    return Take(c, std::move(variable));
  }
  absl::Status Take(KernelContext& c, std::shared_ptr<Var> variable) {
    variable_ = std::move(variable);
    lock_ = Lock(variable_->claim, std::try_to_lock);
    if (!lock_) return RunAgainAfter(c, variable_);
    return variable_->is_initialized ? absl::OkStatus() : VariableNotFound(c, 0, *variable_);
  }
  // INVALID_ARGUMENT "Trying to read variable with wrong dtype. Expected float got int32" unless
  // the variable has type `dtype`.
  absl::Status CheckRead(DataType dtype) const {
    if (variable_->tensor.dtype() == dtype) return absl::OkStatus();
    return InvalidArgument("Trying to read variable with wrong dtype. Expected ",
                           DataTypeName(dtype), " got ", DataTypeName(variable_->tensor.dtype()));
  }
  Tensor* tensor() { return &variable_->tensor; }

 private:
  std::shared_ptr<Var> variable_;
  Lock lock_;
};
// For kernels that change the variable.
using WritableVariable = ClaimedVariable<std::unique_lock<VariableClaim>>;
// For kernels that read the variable. Several of them may hold the claim at the same time.
using ReadableVariable = ClaimedVariable<std::shared_lock<VariableClaim>>;

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_
