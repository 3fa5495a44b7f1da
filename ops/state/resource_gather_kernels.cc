// Kernels that read parts of variables.
#include "executor/kernel/context.h"
#include "executor/kernel/deferred_updates.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/copy_rows.h"
#include "ops/loops/row_index.h"
#include "ops/state/variable_resource.h"

namespace sluice {
namespace {

class ResourceGatherKernel : public Kernel {
 public:
  explicit ResourceGatherKernel(KernelInit& init)
      : batch_dims_(init.AttrOr<int64_t>("batch_dims", 0)), dtype_(init.attr<DataType>("dtype")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Var> variable, LookupVariableAsItIs(c, 0));
    if (variable->claim.MayBeDeferred()) [[unlikely]] {
      const std::unique_lock lock(variable->claim.AsItIs(), std::try_to_lock);
      if (!lock) return RunAgainAfter(c, variable);
      if (batch_dims_ == 0) {
        const std::shared_ptr<DeferredUpdates> holder = WhoHas(&variable->tensor);
        if (holder != nullptr && variable->tensor.dtype() == dtype_) {
          return Gather(c, variable->tensor, holder.get());
        }
      }
      variable->claim.Settle(c.step());
    }
    ReadableVariable readable;
    SLUICE_RETURN_IF_ERROR(readable.Take(c, std::move(variable)));
    SLUICE_RETURN_IF_ERROR(readable.CheckRead(dtype_));
    return Gather(c, *readable.tensor(), nullptr);
  }

 private:
  // Gathers rows of the variable `home`. If its updates are deferred, reads them from `holder`,
  // which has the variable's tensor.
  absl::Status Gather(KernelContext& c, const Tensor& home, DeferredUpdates* holder) const {
    const Tensor& indices = c.input(1);
    SLUICE_ASSIGN_OR_RETURN(const int batch_dims, CheckShapes(home.shape(), indices.shape()));

    int64_t batches = 1;
    int64_t row_size = 1;
    TensorShape shape = indices.shape();
    for (int d = 0; d < batch_dims; ++d) batches = SaturatedProduct(batches, home.dim(d));
    for (int d = batch_dims + 1; d < home.rank(); ++d) {
      row_size = SaturatedProduct(row_size, home.dim(d));
      shape.AddDim(home.dim(d));
    }
    SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(shape.dims()));
    const RowIndex index(indices);
    const int64_t limit = home.dim(batch_dims);
    SLUICE_RETURN_IF_ERROR(CheckRowsInside(indices, limit));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    const Tensor& params = holder == nullptr ? home : holder->Rows(&home, indices, c.step());
    const int64_t per_batch = batches > 0 ? index.size() / batches : 0;
    CopyRows(
        c, params, row_size,
        [&](int64_t i) { return (per_batch > 0 ? i / per_batch : 0) * limit + index[i]; },
        index.size(), out);
    return absl::OkStatus();
  }

  absl::StatusOr<int> CheckShapes(const TensorShape& params, const TensorShape& indices) const {
    const int64_t batch_dims = batch_dims_ < 0 ? batch_dims_ + indices.rank() : batch_dims_;
    SLUICE_INVALID_IF(params.rank() < 1, "params must be at least 1 dimensional");
    SLUICE_INVALID_IF(batch_dims < 0 || batch_dims > indices.rank(), "batch_dims ", batch_dims_,
                      " does not fit indices of shape ", indices.ToString());
    SLUICE_INVALID_IF(batch_dims >= params.rank(), "params must have at least ", batch_dims,
                      " (batch_dims) dimensions but it has shape ", params.ToString());
    for (int d = 0; d < batch_dims; ++d) {
      if (params.dim(d) == indices.dim(d)) continue;
      return InvalidArgument("params.shape[", d, "]: ", params.dim(d),
                             " should be equal to indices.shape[", d, "]: ", indices.dim(d));
    }
    return static_cast<int>(batch_dims);
  }

  const int64_t batch_dims_;
  const DataType dtype_;
};

absl::Status CheckIndices(const KernelContext& c, const RowIndex& index, int64_t rows,
                          int64_t depth, const TensorShape& params, const TensorShape& out) {
  if (depth == 0) return absl::OkStatus();  // empty rows take no memory, so they may be very many
  for (int64_t i = 0; i < rows; ++i) {
    bool inside = true;
    std::string text;
    for (int d = 0; d < depth; ++d) {
      const int64_t at = index[i * depth + d];
      inside = inside && at >= 0 && at < params.dim(d);
    }
    if (inside) continue;
    for (int d = 0; d < depth; ++d) StrAppend(&text, d > 0 ? ", " : "", index[i * depth + d]);
    const int batch_rank = out.rank() - (params.rank() - static_cast<int>(depth));
    return InvalidArgument(
        "indices[", PositionText(TensorShape(out.dims().subspan(0, batch_rank)), i), "] = [", text,
        "] does not index into param shape ", params.ToString(), ", node name: ", c.name());
  }
  return absl::OkStatus();
}

absl::Status ResourceGatherNd(KernelContext& c, Attr<DataType, "dtype"> dtype) {
  const Tensor& indices = c.input(1);
  ReadableVariable variable;
  SLUICE_RETURN_IF_ERROR(variable.Take(c));
  SLUICE_RETURN_IF_ERROR(variable.CheckRead(dtype));
  const Tensor& params = *variable.tensor();
  SLUICE_INVALID_IF(params.rank() < 1, "params must be at least a vector");
  SLUICE_INVALID_IF(indices.rank() < 1, "indices must be at least a vector");
  const int64_t depth = indices.dim(indices.rank() - 1);
  SLUICE_INVALID_IF(depth > params.rank(),
                    "index innermost dimension length must be <= params rank; saw: ", depth,
                    " vs. ", params.rank());
  TensorShape shape(indices.shape().dims().subspan(0, indices.rank() - 1));
  const int64_t rows = shape.num_elements();
  int64_t row_size = 1;
  for (int d = static_cast<int>(depth); d < params.rank(); ++d) {
    row_size = SaturatedProduct(row_size, params.dim(d));
    shape.AddDim(params.dim(d));
  }
  SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(shape.dims()));
  const RowIndex index(indices);
  SLUICE_RETURN_IF_ERROR(CheckIndices(c, index, rows, depth, params.shape(), shape));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  CopyRows(
      c, params, row_size,
      [&](int64_t i) {
        int64_t at = 0;
        for (int d = 0; d < depth; ++d) at = at * params.dim(d) + index[i * depth + d];
        return at;
      },
      rows, out);
  return absl::OkStatus();
}

KERNEL(ResourceGather, ResourceGatherKernel);
KERNEL(ResourceGatherNd, FunctionKernel<ResourceGatherNd>);

}  // namespace
}  // namespace sluice
