#include "ops/linalg/matrix_batch.h"

#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {

absl::StatusOr<MatrixBatch> MatrixBatch::Of(KernelContext& c, int num_inputs) {
  for (int i = 0; i < num_inputs; ++i) {
    SLUICE_INVALID_IF(c.input(i).rank() < 2, "Input tensor ", i, " must have rank >= 2, got ",
                      c.input(i).rank());
    SLUICE_INVALID_IF(c.input(i).rank() != c.input(0).rank(),
                      "All input tensors must have the same rank, got shapes ",
                      c.input(0).shape().ToString(), " and ", c.input(i).shape().ToString());
  }
  const TensorShape& first = c.input(0).shape();
  TensorShape batch(first.dims().subspan(0, first.rank() - 2));
  for (int i = 1; i < num_inputs; ++i) {
    if (c.input(i).shape().dims().subspan(0, batch.rank()) == batch.dims()) continue;
    return InvalidArgument("All input tensors must have the same outer dimensions, got shapes ",
                           first.ToString(), " and ", c.input(i).shape().ToString());
  }
  return MatrixBatch(c, std::move(batch));
}

absl::StatusOr<MatrixBatch> MatrixBatch::OfSquares(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(MatrixBatch batch, Of(c, 1));
  SLUICE_RETURN_IF_ERROR(batch.CheckSquare(0));
  return batch;
}

absl::Status MatrixBatch::CheckSquare(int i) const {
  if (rows(i) == columns(i)) return absl::OkStatus();
  return InvalidArgument("Input matrix must be square, got shape ",
                         c_->input(i).shape().ToString());
}

absl::StatusOr<Tensor*> MatrixBatch::Output(int i, std::initializer_list<int64_t> dims) const {
  std::vector<int64_t> all(batch_.dims().begin(), batch_.dims().end());
  all.insert(all.end(), dims.begin(), dims.end());
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(all));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c_->AllocateOutput(i, shape));
  return out;
}

absl::Status MatrixBatch::ForEach(double cost, absl::FunctionRef<absl::Status(int64_t)> f) const {
  // Skips the loop if there are no elements, because there may be very many empty matrices.
  bool has_elements = false;
  for (int i = 0; i < c_->num_outputs(); ++i) {
    has_elements = has_elements || c_->output_value(i).tensor.num_elements() > 0;
  }
  if (!has_elements) return absl::OkStatus();
  return ForEach(*c_, count(), cost, f);
}

absl::Status MatrixBatch::ForEach(KernelContext& c, int64_t count, double cost,
                                  absl::FunctionRef<absl::Status(int64_t)> f) {
  Mutex mutex;
  int64_t failed_at = count;
  absl::Status failed;
  c.ParallelFor(count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const absl::Status status = f(i);
      if (status.ok()) continue;
      ScopedLock lock(&mutex);
      if (i < failed_at) {
        failed_at = i;
        failed = status;
      }
      return;
    }
  });
  return failed;
}

}  // namespace sluice
