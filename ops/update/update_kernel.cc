#include "ops/update/update_kernel.h"

#include <algorithm>
#include <mutex>

#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"
#include "ops/loops/row_index.h"
#include "ops/loops/row_shares.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

template <typename T>
using OfSlots = absl::InlinedVector<T, kSlotsMax>;

// All of them, or none: then one that somebody has.
template <typename C>
C* TryLockInOrder(OfSlots<C*>& claims, OfSlots<std::unique_lock<C>>& locks) {
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  locks.resize(claims.size());
  return TryLockAll(absl::MakeConstSpan(claims), locks.data());
}

double ScalarAsDouble(const Tensor& t) {
  switch (t.dtype()) {
    case DT_HALF:
      return static_cast<float>(t.scalar<half>());
    case DT_BFLOAT16:
      return static_cast<float>(t.scalar<bfloat16>());
    case DT_FLOAT:
      return t.scalar<float>();
    case DT_DOUBLE:
      return t.scalar<double>();
    case DT_COMPLEX64:
      return t.scalar<complex64>().real();
    case DT_COMPLEX128:
      return t.scalar<complex128>().real();
    default:
      return 0;
  }
}

bool InDomain(ScalarSpec::Domain domain, const Tensor& t) {
  switch (domain) {
    case ScalarSpec::Domain::kAny:
      return true;
    case ScalarSpec::Domain::kPositive:
      return ScalarAsDouble(t) > 0;
    case ScalarSpec::Domain::kNonNegative:
      return ScalarAsDouble(t) >= 0;
    case ScalarSpec::Domain::kNonPositive:
      return ScalarAsDouble(t) <= 0;
  }
  return true;
}

int InputIndex(const KernelInit& init, std::string_view name) {
  return init.node().def().InputIndex(name);
}

// Rows lie anywhere in memory: no processor foresees them.
constexpr size_t kRowsAhead = 8;
void PrefetchForWriting(const char* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kMost = 4 * kLine;  // what follows is foreseen
  for (int64_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(row + at, 1);
}

}  // namespace

// The tensors that a call changes, claimed as long as this lives.
class UpdateKernel::Targets {
 public:
  absl::Status Open(KernelContext& c, const std::vector<int>& inputs, bool is_resource) {
    OfSlots<Claim*> claims;
    OfSlots<VariableClaim*> variable_claims;
    for (int i : inputs) {
      if (is_resource) {
        SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Var> variable, LookupVariable(c, i));
        variable_claims.push_back(&variable->claim);
        tensors_.push_back(&variable->tensor);
        variables_.push_back(std::move(variable));
      } else {
        const RefInput ref = c.ref_input(i);
        claims.push_back(ref.claim);
        tensors_.push_back(ref.tensor);
      }
    }
    if (Claim* taken = TryLockInOrder(claims, locks_)) return c.RunAgainAfter(taken);
    if (VariableClaim* taken = TryLockInOrder(variable_claims, variable_locks_)) {
      return RunAgainAfter(c, *std::find_if(variables_.begin(), variables_.end(),
                                            [&](const auto& v) { return &v->claim == taken; }));
    }
    return CheckInitialized(c, inputs);
  }

  const Tensor& tensor(int i) const { return *tensors_[i]; }
  int size() const { return static_cast<int>(tensors_.size()); }

  absl::Status MakeAllWritable(Allocator& allocator) {
    for (Tensor* t : tensors_) SLUICE_RETURN_IF_ERROR(MakeWritable(t, allocator));
    return absl::OkStatus();
  }
  void* raw(int i) { return tensors_[i]->raw(); }

 private:
  absl::Status CheckInitialized(KernelContext& c, const std::vector<int>& inputs) const {
    for (int i = 0; i < size(); ++i) {
      if (!variables_.empty() && !variables_[i]->is_initialized) {
        return VariableNotReadable(c, inputs[i], c.input(inputs[i]).scalar<ResourceHandle>());
      }
      BringHome(tensors_[i]);
      if (!tensors_[i]->IsInitialized()) {
        return absl::FailedPreconditionError(StrCat("Attempting to use uninitialized value ",
                                                    c.node().input(inputs[i]).node->name()));
      }
    }
    return absl::OkStatus();
  }

  OfSlots<std::shared_ptr<Var>> variables_;  // empty for references
  OfSlots<Tensor*> tensors_;
  OfSlots<std::unique_lock<Claim>> locks_;
  OfSlots<std::unique_lock<VariableClaim>> variable_locks_;
};

UpdateKernel::UpdateKernel(KernelInit& init, const UpdateSpec& spec, UpdateFunction function)
    : spec_(spec), function_(function), dtype_(init.attr<DataType>("T")) {
  for (const std::string& name : spec_.slots) slot_inputs_.push_back(InputIndex(init, name));
  for (const ScalarSpec& s : spec_.scalars) scalar_inputs_.push_back(InputIndex(init, s.name));
  grad_input_ = InputIndex(init, spec_.gradient);
  if (grad_input_ < 0) grad_input_ = InputIndex(init, "grad");  // sparse twin of a "delta"
  indices_input_ = InputIndex(init, "indices");
  global_step_input_ = InputIndex(init, "global_step");
  is_resource_ = BaseType(init.input_type(slot_inputs_[0])) == DT_RESOURCE;
  flags_.nesterov = init.AttrOr<bool>("use_nesterov", false);
  flags_.update_slots = init.AttrOr<bool>("update_slots", true);
  flags_.multiply_linear_by_lr = init.AttrOr<bool>("multiply_linear_by_lr", false);
}

absl::Status UpdateKernel::CheckSlots(const Targets& targets) const {
  for (int i = 0; i < targets.size(); ++i) {
    if (targets.tensor(i).dtype() != dtype_) {
      return InvalidArgument("expected a variable of type ", DataTypeName(dtype_), " as ",
                             spec_.slots[i], ", got ", DataTypeName(targets.tensor(i).dtype()));
    }
    if (targets.tensor(i).shape() == targets.tensor(0).shape()) continue;
    const std::string& label = spec_.slot_labels.empty() ? spec_.slots[i] : spec_.slot_labels[i];
    return InvalidArgument("var and ", label, " do not have the same shape",
                           targets.tensor(0).shape().ToString(), " ",
                           targets.tensor(i).shape().ToString());
  }
  return absl::OkStatus();
}

absl::Status UpdateKernel::CheckScalars(KernelContext& c, UpdateCall* call) const {
  for (size_t i = 0; i < scalar_inputs_.size(); ++i) {
    const Tensor& t = c.input(scalar_inputs_[i]);
    if (!t.shape().IsScalar() || !InDomain(spec_.scalars[i].domain, t)) {
      return InvalidArgument(spec_.scalars[i].message, t.shape().ToString());
    }
    call->scalars[i] = t.raw();
  }
  if (global_step_input_ >= 0) {
    const Tensor& t = c.input(global_step_input_);
    if (!t.shape().IsScalar()) {
      return InvalidArgument("global_step is not a scalar: ", t.shape().ToString());
    }
    call->global_step = t.scalar<int64_t>();
  }
  return absl::OkStatus();
}

absl::Status UpdateKernel::CheckDense(const Targets& targets, const TensorShape& grad) const {
  if (targets.tensor(0).shape() == grad) return absl::OkStatus();
  return InvalidArgument("var and ", spec_.gradient, " do not have the same shape",
                         targets.tensor(0).shape().ToString(), " ", grad.ToString());
}

absl::Status UpdateKernel::CheckSparse(const Targets& targets, const Tensor& grad,
                                       const Tensor& indices) const {
  const TensorShape& var = targets.tensor(0).shape();
  if (var.rank() < 1) return InvalidArgument("var must be at least 1 dimensional");
  if (!indices.shape().IsVector()) return InvalidArgument("indices must be one-dimensional");
  if (grad.rank() < 1) {
    return InvalidArgument("grad must be at least 1 dimensional, got shape ",
                           grad.shape().ToString());
  }
  for (int d = 1; d < var.rank(); ++d) {
    if (d < grad.rank() && grad.dim(d) == var.dim(d)) continue;
    return InvalidArgument("var and grad must match in dimension ", d);
  }
  if (grad.rank() != var.rank() || grad.dim(0) != indices.dim(0)) {
    return InvalidArgument("grad must be the same size as indices in the first dimension.");
  }
  const RowIndex rows(indices);
  if (const int64_t bad = rows.FirstOutside(var.dim(0)); bad >= 0) {
    return InvalidArgument("Index ", rows[bad], " at offset ", bad, " in indices is out of range");
  }
  return absl::OkStatus();
}

// Rows in order of the indices, since an index may come twice.
void UpdateKernel::RunSparse(KernelContext& c, const UpdateCall& call, const Tensor& var,
                             const Tensor& indices) const {
  const RowIndex rows(indices);
  if (rows.size() == 0) return;
  const int64_t row_size = var.num_elements() / var.dim(0);
  const auto element = static_cast<int64_t>(DataTypeSize(dtype_));
  const auto num_slots = static_cast<int>(spec_.slots.size());
  const auto ask_for = [&](int64_t position, int64_t begin, int64_t end) {
    const int64_t at = (rows[position] * row_size + begin) * element;
    for (int s = 0; s < num_slots; ++s) {
      PrefetchForWriting(static_cast<const char*>(call.slots[s]) + at, (end - begin) * element);
    }
  };
  ForRowShares(
      c, {rows.size(), row_size, element, spec_.cost},
      [&](int64_t i) { return rows[i] * row_size; },
      [&](absl::Span<const int64_t> positions, int64_t begin, int64_t end) {
        UpdateCall row = call;
        for (size_t i = 0; i < positions.size(); ++i) {
          if (i + kRowsAhead < positions.size()) ask_for(positions[i + kRowsAhead], begin, end);
          row.grad = static_cast<const char*>(call.grad) + positions[i] * row_size * element;
          function_(row, rows[positions[i]] * row_size, begin, end);
        }
      });
}

absl::Status UpdateKernel::Open(KernelContext& c, Targets& targets, UpdateCall* call) const {
  SLUICE_RETURN_IF_ERROR(targets.Open(c, slot_inputs_, is_resource_));
  SLUICE_RETURN_IF_ERROR(CheckSlots(targets));
  return CheckScalars(c, call);
}

absl::Status UpdateKernel::TakeSlots(KernelContext& c, Targets& targets, UpdateCall* call) {
  SLUICE_RETURN_IF_ERROR(targets.MakeAllWritable(*c.step().allocator));
  for (int i = 0; i < targets.size(); ++i) call->slots[i] = targets.raw(i);
  return absl::OkStatus();
}

void UpdateKernel::SetOutput(KernelContext& c) const {
  if (is_resource_) return;
  const RefInput var = c.ref_input(slot_inputs_[0]);
  c.set_output_ref(0, var.claim, var.tensor);
}

absl::Status UpdateKernel::Compute(KernelContext& c) {
  UpdateCall call = flags_;
  const Tensor& grad = c.input(grad_input_);
  Targets targets;
  SLUICE_RETURN_IF_ERROR(Open(c, targets, &call));
  if (indices_input_ < 0) {
    SLUICE_RETURN_IF_ERROR(CheckDense(targets, grad.shape()));
  } else {
    SLUICE_RETURN_IF_ERROR(CheckSparse(targets, grad, c.input(indices_input_)));
  }
  SLUICE_RETURN_IF_ERROR(TakeSlots(c, targets, &call));
  call.grad = grad.raw();

  if (indices_input_ < 0) {
    c.ParallelFor(targets.tensor(0).num_elements(), spec_.cost,
                  [&](int64_t begin, int64_t end) { function_(call, 0, begin, end); });
  } else {
    RunSparse(c, call, targets.tensor(0), c.input(indices_input_));
  }
  SetOutput(c);
  return absl::OkStatus();
}

absl::Status UpdateKernel::ComputeFromTiles(KernelContext& c, const TileMaker& maker,
                                            const Tensor& a, const Tensor& b) {
  UpdateCall call = flags_;
  Targets targets;
  SLUICE_RETURN_IF_ERROR(Open(c, targets, &call));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, maker.ShapeOf(a, b));
  SLUICE_RETURN_IF_ERROR(CheckDense(targets, shape));
  SLUICE_RETURN_IF_ERROR(TakeSlots(c, targets, &call));
  const int64_t width = shape.dim(1);
  const auto take = [&](const MatrixTile& tile) {
    UpdateCall part = call;
    part.grad = tile.data;
    if (tile.columns == width) {
      return function_(part, tile.row * width, 0, tile.rows * tile.columns);
    }
    const auto row_bytes = static_cast<size_t>(tile.columns) * DataTypeSize(dtype_);
    for (int64_t row = 0; row < tile.rows; ++row) {
      part.grad = static_cast<const char*>(tile.data) + static_cast<size_t>(row) * row_bytes;
      function_(part, (tile.row + row) * width + tile.column, 0, tile.columns);
    }
  };
  SLUICE_RETURN_IF_ERROR(maker.MakeTiles(c, a, b, spec_.cost, take));
  SetOutput(c);
  return absl::OkStatus();
}

}  // namespace sluice
