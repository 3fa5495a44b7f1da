#include "ops/state/variable_resource.h"

#include <algorithm>
#include <cstring>

#include "executor/kernel/deferred_updates.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

// Returns the node that made the handle in input `i`. Looks through nodes that only forward a
// handle.
const Node* HandleSource(const Node& node, int i) {
  const Node* source = node.input(i).node;
  while (source != nullptr && source->num_inputs() > 0 &&
         (source->op() == "Identity" || source->op() == "Enter" || source->op() == "Switch")) {
    source = source->input(0).node;
  }
  return source;
}

// Returns " (made at trainer/model.cc:42; 'w/Assign' initializes it)", or the part of it that the
// graph knows.
std::string Origin(const KernelContext& c, int i) {
  const Node* source = HandleSource(c.node(), i);
  if (source == nullptr || source->op() != "VarHandleOp") return "";
  std::string text;
  if (const std::string location = source->location(); !location.empty()) {
    text = StrCat("made at ", location);
  }
  for (const Use& use : source->uses()) {
    if (use.dst->op() != "AssignVariableOp") continue;
    StrAppend(&text, text.empty() ? "" : "; ", "'", use.dst->name(), "' initializes it");
    break;
  }
  return text.empty() ? text : StrCat(" (", text, ")");
}

std::string DoesNotExist(std::string_view container, std::string_view name) {
  return StrCat("Resource ", container, "/", name, "/", Var::kTypeName, " does not exist.");
}

absl::StatusOr<const ResourceHandle*> HandleOf(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  SLUICE_INVALID_IF(t.dtype() != DT_RESOURCE || !t.IsInitialized() || t.num_elements() != 1,
                    c.node().Describe(), ": expected one resource handle as input ", i, ", got ",
                    DataTypeName(t.dtype()), t.shape().ToString());
  return &t.scalar<ResourceHandle>();
}

}  // namespace

bool VariableClaim::try_lock() {
  if (!claim_.try_lock()) return false;
  if (!guarded_->IsInitialized()) [[unlikely]] {
    Settle(StepContext());
  }
  return true;
}

void VariableClaim::lock() {
  claim_.LockBy([this] { return try_lock(); });
}

bool VariableClaim::try_lock_shared() {
  if (!claim_.try_lock_shared()) return false;
  if (guarded_->IsInitialized() || WhoHas(guarded_) == nullptr) return true;
  claim_.unlock_shared();
  if (!try_lock()) return false;
  unlock();
  return try_lock_shared();
}

void VariableClaim::lock_shared() {
  claim_.LockBy([this] { return try_lock_shared(); });
}

void VariableClaim::Settle(const StepContext& step) {
  SettleDeferred(guarded_, step);
  SetMayBeDeferred(false);
}

Var::~Var() {
  if (!tensor.IsInitialized()) ForgetDeferred(&tensor);
}

std::string Var::DebugString() const {
  std::shared_lock lock(claim);
  if (!is_initialized) return StrCat("variable '", name_, "': not initialized");
  return StrCat("variable '", name_, "': ", DataTypeName(tensor.dtype()),
                tensor.shape().ToString());
}

RefVar::~RefVar() {
  if (!tensor.IsInitialized()) ForgetDeferred(&tensor);
}

std::string RefVar::DebugString() const {
  std::lock_guard lock(claim);
  return StrCat("variable '", name_, "': ", DataTypeName(dtype_), tensor.shape().ToString(),
                tensor.IsInitialized() || WhoHas(&tensor) != nullptr ? "" : ", not initialized");
}

absl::StatusOr<std::shared_ptr<Var>> LookupVariable(KernelContext& c, int i) {
  absl::StatusOr<std::shared_ptr<Var>> found = LookupVariableAsItIs(c, i);
  if (found.ok() && (*found)->claim.MayBeDeferred()) [[unlikely]] {
    std::unique_lock lock((*found)->claim.AsItIs(), std::try_to_lock);
    if (!lock) return RunAgainAfter(c, *found);
    (*found)->claim.Settle(c.step());
  }
  return found;
}

absl::StatusOr<std::shared_ptr<Var>> LookupVariableAsItIs(KernelContext& c, int i) {
  SLUICE_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(c, i));
  absl::StatusOr<std::shared_ptr<Var>> found = c.resources().Lookup<Var>(*handle);
  if (!found.ok()) return AnnotateAfter(found.status(), Origin(c, i));
  return found;
}

absl::StatusOr<std::shared_ptr<Var>> LookupOrCreateVariable(KernelContext& c, int i) {
  SLUICE_ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleOf(c, i));
  if (handle->object && handle->type_name == Var::kTypeName) {
    return std::static_pointer_cast<Var>(handle->object);
  }
  return c.resources().LookupOrCreate<Var>(
      handle->container, handle->name, [&]() -> absl::StatusOr<std::shared_ptr<Var>> {
        return std::make_shared<Var>(handle->container, handle->name);
      });
}

absl::Status RunAgainAfter(KernelContext& c, const std::shared_ptr<Var>& variable) {
  return c.RunAgainAfter(std::shared_ptr<Claim>(variable, &variable->claim.AsItIs()));
}

absl::Status VariableNotFound(const KernelContext& c, int i, const Var& variable) {
  return absl::NotFoundError(
      StrCat(DoesNotExist(variable.container(), variable.name()), Origin(c, i)));
}

absl::Status VariableNotReadable(const KernelContext& c, int i, const ResourceHandle& handle) {
  return absl::FailedPreconditionError(
      StrCat("Could not find variable ", handle.name,
             ". This could mean that the variable has been deleted. In TF1, it can also mean the "
             "variable is uninitialized. Debug info: container=",
             handle.container,
             ", status error message=", DoesNotExist(handle.container, handle.name), Origin(c, i)));
}

void BringHome(Tensor* tensor) {
  if (!tensor->IsInitialized()) SettleDeferred(tensor, StepContext());
}

absl::Status MakeWritable(Tensor* tensor, Allocator& allocator) {
  BringHome(tensor);
  // Checks the tensor again: the executor has done so before, but the variable may have been
  // destroyed since then.
  if (!tensor->IsInitialized()) {
    return absl::FailedPreconditionError("Attempting to use uninitialized value");
  }
  if (tensor->BufferIsUnique()) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(*tensor, tensor->Clone(allocator));
  return absl::OkStatus();
}

absl::Status StoreValue(Tensor& value, Tensor* variable, Allocator& allocator) {
  if (!value.IsInitialized()) {
    return absl::FailedPreconditionError("Attempting to use uninitialized value");
  }
  BringHome(variable);
  if (value.BufferIsUnique() && !IsSmallPartOfBuffer(value)) {
    *variable = std::move(value);
    return absl::OkStatus();
  }
  const bool fits = variable->BufferIsUnique() && variable->dtype() == value.dtype() &&
                    variable->shape() == value.shape() && IsPlainBytes(value.dtype());
  if (!fits) {
    SLUICE_ASSIGN_OR_RETURN(*variable, value.Clone(allocator));
  } else if (value.bytes() > 0) {
    std::memcpy(variable->raw(), value.raw(), value.bytes());
  }
  return absl::OkStatus();
}

}  // namespace sluice
