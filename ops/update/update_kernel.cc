#include "ops/update/update_kernel.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"
#include "ops/loops/row_index.h"
#include "ops/loops/row_shares.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

template <typename T>
using PerSlot = absl::InlinedVector<T, 1 + UpdateRule::kSlotsMax>;

// Locks all claims and returns null. If one is held elsewhere, returns it and locks none.
template <typename C>
C* TryLockInOrder(PerSlot<C*>& claims, PerSlot<std::unique_lock<C>>& locks) {
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  locks.resize(claims.size());
  return TryLockAll(absl::MakeConstSpan(claims), locks.data());
}

// Rules that restrict the domain of a scalar have real types only.
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
    default:
      return 0;
  }
}

bool InDomain(ScalarCheck::Domain domain, const Tensor& t) {
  switch (domain) {
    case ScalarCheck::kAny:
      return true;
    case ScalarCheck::kPositive:
      return ScalarAsDouble(t) > 0;
    case ScalarCheck::kNonNegative:
      return ScalarAsDouble(t) >= 0;
    case ScalarCheck::kNonPositive:
      return ScalarAsDouble(t) <= 0;
  }
  return true;
}

// "l2 shrinkage regularization strength is not a non-negative scalar: "
std::string MessageOf(const ScalarCheck& check, std::string_view input) {
  if (!check.message.empty()) return std::string(check.message);
  constexpr const char* kDomains[] = {"", "positive ", "non-negative ", "non-positive "};
  std::string noun(input);
  if (input == "l2_shrinkage") noun = "l2 shrinkage";
  if (input.starts_with("l1") || input.starts_with("l2")) noun += " regularization strength";
  return StrCat(noun, " is not a ", kDomains[check.domain], "scalar: ");
}

// The rows of a sparse update lie anywhere in memory, so hardware does not prefetch them. It does
// prefetch the rest of a row after its first cache lines.
constexpr size_t kRowsAhead = 8;
void PrefetchForWriting(const char* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kMost = 4 * kLine;
  for (int64_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(row + at, 1);
}

// The variable and its slots, claimed while this object lives.
class Targets {
 public:
  absl::Status Open(KernelContext& c, int count, bool is_resource) {
    PerSlot<Claim*> claims;
    PerSlot<VariableClaim*> variable_claims;
    for (int i = 0; i < count; ++i) {
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
    return CheckInitialized(c);
  }

  int size() const { return static_cast<int>(tensors_.size()); }
  const Tensor& tensor(int i) const { return *tensors_[i]; }
  // After this, no other reader shares the buffers that `data` points to.
  absl::Status MakeWritable(Allocator& allocator, UpdateData* data) {
    for (int i = 0; i < size(); ++i) {
      SLUICE_RETURN_IF_ERROR(sluice::MakeWritable(tensors_[i], allocator));
      data->slots[i] = tensors_[i]->raw();
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckInitialized(KernelContext& c) const {
    for (int i = 0; i < size(); ++i) {
      if (!variables_.empty() && !variables_[i]->is_initialized) {
        return VariableNotReadable(c, i, c.input(i).scalar<ResourceHandle>());
      }
      BringHome(tensors_[i]);
      if (!tensors_[i]->IsInitialized()) {
        return absl::FailedPreconditionError(
            StrCat("Attempting to use uninitialized value ", c.node().input(i).node->name()));
      }
    }
    return absl::OkStatus();
  }

  PerSlot<std::shared_ptr<Var>> variables_;  // empty for references
  PerSlot<Tensor*> tensors_;
  PerSlot<std::unique_lock<Claim>> locks_;
  PerSlot<std::unique_lock<VariableClaim>> variable_locks_;
};

class UpdateKernel : public Kernel, public TileTaker {
 public:
  UpdateKernel(KernelInit& init, const UpdateRule& rule, double cost, UpdateFunction function);
  absl::Status Compute(KernelContext& c) override;
  // A dense gradient may arrive in tiles.
  int tiled_input() const override { return is_sparse() ? -1 : grad_input(); }
  absl::Status ComputeFromTiles(KernelContext& c, const TileMaker& maker, const Tensor& a,
                                const Tensor& b) override;

 private:
  bool is_sparse() const { return indices_input_ >= 0; }
  int grad_input() const { return inputs_[gradient_]; }
  absl::Status Open(KernelContext& c, Targets& targets, UpdateData* data) const;
  absl::Status CheckSlots(const Targets& targets) const;
  absl::Status ReadScalars(KernelContext& c, UpdateData* data) const;
  absl::Status CheckDense(const Targets& targets, const TensorShape& grad) const;
  static absl::Status CheckSparse(const Targets& targets, const Tensor& grad,
                                  const Tensor& indices);
  void RunSparse(KernelContext& c, const UpdateData& data, const Tensor& var,
                 const Tensor& indices) const;
  void SetOutput(KernelContext& c) const;

  const UpdateRule& rule_;
  const double cost_;  // nanoseconds per element
  const UpdateFunction function_;
  const DataType dtype_;
  const bool is_resource_;
  const bool flag_;
  int indices_input_ = -1;                               // -1: dense
  int gradient_ = 0;                                     // the rule's input that is the gradient
  std::array<int, UpdateRule::kInputsMax> inputs_ = {};  // positions of the rule's in the op's
};

UpdateKernel::UpdateKernel(KernelInit& init, const UpdateRule& rule, double cost,
                           UpdateFunction function)
    : rule_(rule),
      cost_(cost),
      function_(function),
      dtype_(init.attr<DataType>("T")),
      is_resource_(BaseType(init.input_type(0)) == DT_RESOURCE),
      flag_(!rule.flag.empty() && init.attr<bool>(rule.flag)) {
  const OpDef& def = init.node().def();
  indices_input_ = def.InputIndex("indices");
  for (int i = 0; i < rule.num_inputs(); ++i) {
    const UpdateInput& input = rule.inputs[i];
    inputs_[i] = def.InputIndex(input.is_gradient() && is_sparse() ? "grad" : input.name);
    if (input.is_gradient()) gradient_ = i;
  }
}

absl::Status UpdateKernel::CheckSlots(const Targets& targets) const {
  for (int i = 0; i < targets.size(); ++i) {
    const UpdateSlot slot = i == 0 ? UpdateSlot("var") : rule_.slots[i - 1];
    const Tensor& tensor = targets.tensor(i);
    if (tensor.dtype() != dtype_) {
      return InvalidArgument("expected a variable of type ", DataTypeName(dtype_), " as ",
                             slot.name, ", got ", DataTypeName(tensor.dtype()));
    }
    if (tensor.shape() == targets.tensor(0).shape()) continue;
    return InvalidArgument("var and ", is_sparse() ? slot.sparse_label : slot.label,
                           " do not have the same shape", targets.tensor(0).shape().ToString(), " ",
                           tensor.shape().ToString());
  }
  return absl::OkStatus();
}

absl::Status UpdateKernel::ReadScalars(KernelContext& c, UpdateData* data) const {
  for (int i = 0; i < rule_.num_inputs(); ++i) {
    const UpdateInput& input = rule_.inputs[i];
    if (input.is_gradient()) continue;
    const ScalarCheck& check = is_sparse() ? input.sparse : input.dense;
    const Tensor& t = c.input(inputs_[i]);
    if (!t.shape().IsScalar() || !InDomain(check.domain, t)) {
      return InvalidArgument(MessageOf(check, input.name), t.shape().ToString());
    }
    data->scalars[i] = t.raw();
  }
  return absl::OkStatus();
}

absl::Status UpdateKernel::CheckDense(const Targets& targets, const TensorShape& grad) const {
  if (targets.tensor(0).shape() == grad) return absl::OkStatus();
  return InvalidArgument("var and ", rule_.inputs[gradient_].name, " do not have the same shape",
                         targets.tensor(0).shape().ToString(), " ", grad.ToString());
}

absl::Status UpdateKernel::CheckSparse(const Targets& targets, const Tensor& grad,
                                       const Tensor& indices) {
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

// Updates the rows in the order of the indices, since an index may repeat.
void UpdateKernel::RunSparse(KernelContext& c, const UpdateData& data, const Tensor& var,
                             const Tensor& indices) const {
  const RowIndex rows(indices);
  if (rows.size() == 0) return;
  const int64_t row_size = var.num_elements() / var.dim(0);
  const auto element = static_cast<int64_t>(DataTypeSize(dtype_));
  const auto prefetch = [&](int64_t position, int64_t begin, int64_t end) {
    const int64_t at = (rows[position] * row_size + begin) * element;
    for (int s = 0; s <= rule_.num_slots(); ++s) {
      PrefetchForWriting(static_cast<const char*>(data.slots[s]) + at, (end - begin) * element);
    }
  };
  ForRowShares(
      c, {rows.size(), row_size, element, cost_}, [&](int64_t i) { return rows[i] * row_size; },
      [&](absl::Span<const int64_t> positions, int64_t begin, int64_t end) {
        UpdateData row = data;
        for (size_t i = 0; i < positions.size(); ++i) {
          if (i + kRowsAhead < positions.size()) prefetch(positions[i + kRowsAhead], begin, end);
          row.grad = static_cast<const char*>(data.grad) + positions[i] * row_size * element;
          row.offset = rows[positions[i]] * row_size;
          function_(row, begin, end);
        }
      });
}

absl::Status UpdateKernel::Open(KernelContext& c, Targets& targets, UpdateData* data) const {
  data->flag = flag_;
  SLUICE_RETURN_IF_ERROR(targets.Open(c, 1 + rule_.num_slots(), is_resource_));
  SLUICE_RETURN_IF_ERROR(CheckSlots(targets));
  return ReadScalars(c, data);
}

void UpdateKernel::SetOutput(KernelContext& c) const {
  if (is_resource_) return;
  const RefInput var = c.ref_input(0);
  c.set_output_ref(0, var.claim, var.tensor);
}

absl::Status UpdateKernel::Compute(KernelContext& c) {
  UpdateData data;
  Targets targets;
  SLUICE_RETURN_IF_ERROR(Open(c, targets, &data));
  const Tensor& grad = c.input(grad_input());
  if (is_sparse()) {
    SLUICE_RETURN_IF_ERROR(CheckSparse(targets, grad, c.input(indices_input_)));
  } else {
    SLUICE_RETURN_IF_ERROR(CheckDense(targets, grad.shape()));
  }
  SLUICE_RETURN_IF_ERROR(targets.MakeWritable(*c.step().allocator, &data));
  data.grad = grad.raw();
  if (is_sparse()) {
    RunSparse(c, data, targets.tensor(0), c.input(indices_input_));
  } else {
    c.ParallelFor(targets.tensor(0).num_elements(), cost_,
                  [&](int64_t begin, int64_t end) { function_(data, begin, end); });
  }
  SetOutput(c);
  return absl::OkStatus();
}

absl::Status UpdateKernel::ComputeFromTiles(KernelContext& c, const TileMaker& maker,
                                            const Tensor& a, const Tensor& b) {
  UpdateData data;
  Targets targets;
  SLUICE_RETURN_IF_ERROR(Open(c, targets, &data));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, maker.ShapeOf(a, b));
  SLUICE_RETURN_IF_ERROR(CheckDense(targets, shape));
  SLUICE_RETURN_IF_ERROR(targets.MakeWritable(*c.step().allocator, &data));
  const int64_t width = shape.dim(1);
  const auto take = [&](const MatrixTile& tile) {
    UpdateData part = data;
    part.grad = tile.data;
    part.offset = tile.row * width;
    if (tile.columns == width) return function_(part, 0, tile.rows * width);
    const auto row_bytes = static_cast<size_t>(tile.columns) * DataTypeSize(dtype_);
    for (int64_t row = 0; row < tile.rows; ++row) {
      part.grad = static_cast<const char*>(tile.data) + static_cast<size_t>(row) * row_bytes;
      part.offset = (tile.row + row) * width + tile.column;
      function_(part, 0, tile.columns);
    }
  };
  SLUICE_RETURN_IF_ERROR(maker.MakeTiles(c, a, b, cost_, take));
  SetOutput(c);
  return absl::OkStatus();
}

}  // namespace

void RegisterUpdateKernels(const UpdateRule& rule, DataType dtype, double cost,
                           UpdateFunction function) {
  rule.ForEachForm([&](bool is_resource, bool is_sparse) {
    KernelRegistry::Global().Add(
        {.op = rule.OpName(is_resource, is_sparse),
         .constraints = {{"T", TypeSet(dtype)}},
         .make = [&rule, cost,
                  function](KernelInit& init) -> absl::StatusOr<std::unique_ptr<Kernel>> {
           return std::make_unique<UpdateKernel>(init, rule, cost, function);
         }});
  });
}

}  // namespace sluice
