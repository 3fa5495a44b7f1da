// Variables: tensors that outlive steps. Var is behind resource handles, RefVar behind references.
//
// Buffers are copied on write: a read shares the variable's buffer, and whoever changes the value
// while somebody else holds the buffer changes a copy. A value that was read therefore never
// changes, and a variable that nobody reads is updated in place.
//
// Thread safety: the members are guarded by the claim next to them. Ownership: shared, by the
// resource manager, by handles and by kernels.
#ifndef SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_
#define SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "executor/wait/claim.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The claim of a Var. Whoever has it finds all updates done and the tensor at home, also those that
// were put off (executor/kernel/deferred_updates.h); AsItIs is for those that put them off.
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
  // Asked often, and without the claim: for those who have threads to settle with.
  bool MayBeDeferred() const { return may_be_deferred_.load(std::memory_order_relaxed); }
  void SetMayBeDeferred(bool may_be) { may_be_deferred_.store(may_be, std::memory_order_relaxed); }
  // The caller has the claim as it is.
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
  bool is_initialized = false;  // guarded by claim; false again once destroyed

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
  // Guarded by claim; without elements until assigned, and while updates of it are put off
  // (executor/kernel/deferred_updates.h).
  Tensor tensor;
};

// The variable that input `i`, a resource handle, names. It may not be initialised: ask with its
// claim. NOT_FOUND with TensorFlow's text, and where the handle was made if that is known.
absl::StatusOr<std::shared_ptr<Var>> LookupVariable(KernelContext& c, int i);
// The same for those that take it as it is: what was put off stays so.
absl::StatusOr<std::shared_ptr<Var>> LookupVariableAsItIs(KernelContext& c, int i);
// The same, made if there is none.
absl::StatusOr<std::shared_ptr<Var>> LookupOrCreateVariable(KernelContext& c, int i);
// What a kernel returns that did not get the variable's claim, and has done nothing yet.
absl::Status RunAgainAfter(KernelContext& c, const std::shared_ptr<Var>& variable);
// NOT_FOUND "Resource <container>/<name>/<type> does not exist." for the variable of input `i`.
absl::Status VariableNotFound(const KernelContext& c, int i, const Var& variable);
// What ReadVariableOp says: FAILED_PRECONDITION "Could not find variable <name>. …".
absl::Status VariableNotReadable(const KernelContext& c, int i, const ResourceHandle& handle);

// What was put off of the updates of `tensor` is done, and it is at home. The caller has the
// variable's claim. Kernels that take references call this, or one of the next two, before they
// look.
void BringHome(Tensor* tensor);

// After this nobody else holds the buffer of `tensor`: its elements may be written. The caller
// has the variable's claim. RESOURCE_EXHAUSTED; FAILED_PRECONDITION if it has no value.
absl::Status MakeWritable(Tensor* tensor, Allocator& allocator);

// Stores `value` in `*variable` (whose claim the caller has): takes the buffer over if nobody
// else holds it, else copies, into the old buffer where that fits. `value` may be emptied.
absl::Status StoreValue(Tensor& value, Tensor* variable, Allocator& allocator);

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_
