#include "ops/update/update_kernel.h"

#include <algorithm>
#include <string>

#include "graph/ir/graph.h"
#include "ops/loops/row_index.h"
#include "ops/loops/row_shares.h"
#include "ops/state/variable_resource.h"
#include "ops/update/rule_inputs.h"
#include "ops/update/table_update.h"
#include "ops/update/targets.h"

namespace sluice {
namespace {

// Prefetches the first cache lines of each row, because the processor cannot predict the rows of a
// sparse update. It then prefetches the rest of the row itself.
constexpr size_t kRowsAhead = 8;
void PrefetchForWriting(const char* row, int64_t bytes) {
  constexpr int64_t kLine = 64, kMost = 4 * kLine;
  for (int64_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(row + at, 1);
}

// Makes the buffer of each target writable, by copying it if a reader shares it. Sets the pointers
// in `data`.
absl::Status MakeAllWritable(KernelContext& c, const UpdateTargets& targets, UpdateData* data) {
  for (int i = 0; i < targets.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(MakeWritable(targets.tensor(i), *c.step().allocator));
    data->slots[i] = targets.tensor(i)->raw();
  }
  return absl::OkStatus();
}

class UpdateKernel : public Kernel, public TileTaker {
 public:
  UpdateKernel(KernelInit& init, const UpdateRule& rule, double cost, UpdateFunction function);
  absl::Status Compute(KernelContext& c) override;
  // A dense gradient may arrive in tiles.
  int tiled_input() const override { return is_sparse() || rule_.is_row_wise ? -1 : grad_input(); }
  absl::Status ComputeFromTiles(KernelContext& c, const TileMaker& maker, const Tensor& a,
                                const Tensor& b) override;

 private:
  bool is_sparse() const { return inputs_.rows() >= 0; }
  int grad_input() const { return inputs_.gradient(); }
  absl::Status Open(KernelContext& c, UpdateTargets& targets, UpdateData* data) const;
  absl::Status CheckSlots(const UpdateTargets& targets) const;
  absl::Status CheckDense(const TensorShape& var, const TensorShape& grad) const;
  void RunSparse(KernelContext& c, const UpdateData& data, const Tensor& var,
                 const Tensor& indices) const;
  void RunRows(KernelContext& c, const UpdateData& data, const Tensor& var) const;

  const UpdateRule& rule_;
  const double cost_;  // nanoseconds per element
  const UpdateFunction function_;
  const DataType dtype_;
  const bool flag_;
  const RuleInputs inputs_;
};

UpdateKernel::UpdateKernel(KernelInit& init, const UpdateRule& rule, double cost,
                           UpdateFunction function)
    : rule_(rule),
      cost_(cost),
      function_(function),
      dtype_(init.attr<DataType>("T")),
      flag_(!rule.flag.empty() && init.attr<bool>(rule.flag)),
      inputs_(rule, init.node().def(), "indices") {}

absl::Status UpdateKernel::CheckSlots(const UpdateTargets& targets) const {
  const TensorShape& var = targets.tensor(0)->shape();
  for (int i = 0; i < targets.size(); ++i) {
    const Tensor& tensor = *targets.tensor(i);
    if (tensor.dtype() == dtype_ && tensor.shape() == var) continue;
    const UpdateSlot slot = i == 0 ? UpdateSlot("var") : rule_.slots[i - 1];
    SLUICE_INVALID_IF(tensor.dtype() != dtype_, "expected a variable of type ",
                      DataTypeName(dtype_), " as ", slot.name, ", got ",
                      DataTypeName(tensor.dtype()));
    return InvalidArgument("var and ", is_sparse() ? slot.sparse_label : slot.label,
                           " do not have the same shape", var.ToString(), " ",
                           tensor.shape().ToString());
  }
  return absl::OkStatus();
}

absl::Status UpdateKernel::CheckDense(const TensorShape& var, const TensorShape& grad) const {
  if (var == grad) return absl::OkStatus();
  return InvalidArgument("var and ", rule_.gradient().name, " do not have the same shape",
                         var.ToString(), " ", grad.ToString());
}

absl::Status CheckSparse(const TensorShape& var, const Tensor& grad, const Tensor& indices) {
  SLUICE_INVALID_IF(var.rank() < 1, "var must be at least 1 dimensional");
  SLUICE_INVALID_IF(!indices.shape().IsVector(), "indices must be one-dimensional");
  SLUICE_INVALID_IF(grad.rank() < 1, "grad must be at least 1 dimensional, got shape ",
                    grad.shape().ToString());
  for (int d = 1; d < var.rank(); ++d) {
    if (d < grad.rank() && grad.dim(d) == var.dim(d)) continue;
    return InvalidArgument("var and grad must match in dimension ", d);
  }
  SLUICE_INVALID_IF(grad.rank() != var.rank() || grad.dim(0) != indices.dim(0),
                    "grad must be the same size as indices in the first dimension.");
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
      c, {rows.size(), row_size, element, cost_, !rule_.is_row_wise},
      [&](int64_t i) { return rows[i] * row_size; },
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

// Updates each row by a separate call of the loop. A scalar variable is one row.
void UpdateKernel::RunRows(KernelContext& c, const UpdateData& data, const Tensor& var) const {
  const int64_t rows = var.rank() == 0 ? 1 : var.dim(0);
  if (var.num_elements() == 0) return;
  const int64_t row_size = var.num_elements() / rows;
  const int64_t row_bytes = row_size * static_cast<int64_t>(DataTypeSize(dtype_));
  c.ParallelFor(rows, cost_ * static_cast<double>(row_size), [&](int64_t begin, int64_t end) {
    UpdateData row = data;
    for (int64_t i = begin; i < end; ++i) {
      row.grad = static_cast<const char*>(data.grad) + i * row_bytes;
      row.offset = i * row_size;
      function_(row, 0, row_size);
    }
  });
}

absl::Status UpdateKernel::Open(KernelContext& c, UpdateTargets& targets, UpdateData* data) const {
  data->flag = flag_;
  SLUICE_RETURN_IF_ERROR(targets.Claim(c, 1 + rule_.num_slots(), UpdateTargets::Deferred::kSettle));
  SLUICE_RETURN_IF_ERROR(CheckSlots(targets));
  return inputs_.ReadScalars(c, data);
}

void SetOutput(KernelContext& c) {
  if (!c.input_is_ref(0)) return;
  const RefInput var = c.ref_input(0);
  c.set_output_ref(0, var.claim, var.tensor);
}

absl::Status UpdateKernel::Compute(KernelContext& c) {
  UpdateData data;
  UpdateTargets targets;
  SLUICE_RETURN_IF_ERROR(Open(c, targets, &data));
  const Tensor& grad = c.input(grad_input());
  const Tensor& var = *targets.tensor(0);
  if (is_sparse()) {
    SLUICE_RETURN_IF_ERROR(CheckSparse(var.shape(), grad, c.input(inputs_.rows())));
  } else {
    SLUICE_RETURN_IF_ERROR(CheckDense(var.shape(), grad.shape()));
  }
  SLUICE_RETURN_IF_ERROR(MakeAllWritable(c, targets, &data));
  data.grad = grad.raw();
  if (is_sparse()) {
    RunSparse(c, data, var, c.input(inputs_.rows()));
  } else if (rule_.is_row_wise) {
    RunRows(c, data, var);
  } else {
    c.ParallelFor(var.num_elements(), cost_,
                  [&](int64_t begin, int64_t end) { function_(data, begin, end); });
  }
  SetOutput(c);
  return absl::OkStatus();
}

absl::Status UpdateKernel::ComputeFromTiles(KernelContext& c, const TileMaker& maker,
                                            const Tensor& a, const Tensor& b) {
  UpdateData data;
  UpdateTargets targets;
  SLUICE_RETURN_IF_ERROR(Open(c, targets, &data));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, maker.ShapeOf(a, b));
  SLUICE_RETURN_IF_ERROR(CheckDense(targets.tensor(0)->shape(), shape));
  SLUICE_RETURN_IF_ERROR(MakeAllWritable(c, targets, &data));
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
  rule.ForEachForm([&](UpdateForm form) {
    KernelRegistry::Global().Add(
        {.op = rule.OpName(form),
         .constraints = {{"T", TypeSet(dtype)}},
         .make = [&rule, cost,
                  function](KernelInit& init) -> absl::StatusOr<std::unique_ptr<Kernel>> {
           return std::make_unique<UpdateKernel>(init, rule, cost, function);
         }});
  });
  RegisterTableUpdateKernel(rule, dtype, cost, function);
}

}  // namespace sluice
