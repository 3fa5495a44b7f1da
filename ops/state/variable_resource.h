// Variables: tensors that outlive steps. Var is behind resource handles, RefVar behind references.
//
// Buffers are copied on write: a read shares the variable's buffer, and whoever changes the value
// while somebody else holds the buffer changes a copy. A value that was read therefore never
// changes, and a variable that nobody reads is updated in place.
//
// Thread safety: the members are guarded by the mutex next to them. Ownership: shared, by the
// resource manager, by handles and by kernels.
#ifndef SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_
#define SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/kernel/resource_manager.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class Var : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow3VarE";

  Var(std::string container, std::string name)
      : container_(std::move(container)), name_(std::move(name)) {}

  const std::string& container() const { return container_; }
  const std::string& name() const { return name_; }
  std::string DebugString() const override;

  mutable std::shared_mutex mutex;
  Tensor tensor;                // guarded by mutex
  bool is_initialized = false;  // guarded by mutex; false again once destroyed

 private:
  const std::string container_;
  const std::string name_;
};

class RefVar : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow9LegacyVarE";

  RefVar(std::string name, DataType dtype, const TensorShape& shape)
      : dtype_(dtype), name_(std::move(name)), tensor(dtype, shape, BufferRef()) {}
  DataType dtype() const { return dtype_; }
  std::string DebugString() const override;

 private:
  const DataType dtype_;
  const std::string name_;

 public:
  mutable std::mutex mutex;
  Tensor tensor;  // guarded by mutex; without elements until assigned
};

// The variable that input `i`, a resource handle, names. It may not be initialised: ask under its
// mutex. NOT_FOUND with TensorFlow's text, and where the handle was made if that is known.
absl::StatusOr<std::shared_ptr<Var>> LookupVariable(KernelContext& c, int i);
// The same, made if there is none.
absl::StatusOr<std::shared_ptr<Var>> LookupOrCreateVariable(KernelContext& c, int i);
// NOT_FOUND "Resource <container>/<name>/<type> does not exist." for the variable of input `i`.
absl::Status VariableNotFound(const KernelContext& c, int i, const Var& variable);
// What ReadVariableOp says: FAILED_PRECONDITION "Could not find variable <name>. …".
absl::Status VariableNotReadable(const KernelContext& c, int i, const ResourceHandle& handle);

// After this nobody else holds the buffer of `tensor`: its elements may be written. The caller
// holds the variable's mutex. RESOURCE_EXHAUSTED; FAILED_PRECONDITION if it has no value.
absl::Status MakeWritable(Tensor* tensor, Allocator& allocator);

// Stores `value` in `*variable` (whose mutex the caller holds): takes the buffer over if nobody
// else holds it, else copies, into the old buffer where that fits. `value` may be emptied.
absl::Status StoreValue(Tensor& value, Tensor* variable, Allocator& allocator);

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_VARIABLE_RESOURCE_H_
