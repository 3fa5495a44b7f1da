#include "executor/kernel/context.h"

#include "executor/cpu/thread_pool.h"
#include "graph/ir/graph.h"
#include "graph/strings.h"

namespace sluice {

const std::string& KernelContext::name() const { return node_->name(); }

DataType KernelContext::DeclaredType(int i) const { return BaseType(node_->output_type(i)); }

absl::StatusOr<Tensor*> KernelContext::AllocateOutput(int i, const TensorShape& shape) {
  const DataType dtype = output_dtype(i);
  Tensor& output = outputs_[i].tensor;
  if (output.Reuse(dtype, shape)) return &output;
  Buffer* buffer = Buffer::New(*step_->allocator, dtype, shape.num_elements());
  if (buffer == nullptr) [[unlikely]] {
    return Tensor::Allocate(*step_->allocator, dtype, shape).status();  // the message
  }
  output.Reset(dtype, shape, BufferRef(buffer));
  return &output;
}

absl::StatusOr<Tensor*> KernelContext::ForwardOrAllocate(absl::Span<const int> candidates, int i,
                                                         const TensorShape& shape) {
  const DataType dtype = output_dtype(i);
  const size_t size = DataTypeSize(dtype);
  for (int c : candidates) {
    if (!IsMovable(c) || inputs_[c]->ref != nullptr) continue;
    Tensor& input = inputs_[c]->tensor;
    // Buffers of objects are not forwarded to other types: their elements have destructors.
    if (!(input.dtype() == dtype || (size != 0 && DataTypeSize(input.dtype()) == size)) ||
        input.num_elements() != shape.num_elements() || !input.HasBufferAlone()) {
      continue;
    }
    outputs_[i].tensor.Reset(dtype, shape, input.ReleaseBuffer());
    return &outputs_[i].tensor;
  }
  return AllocateOutput(i, shape);
}

absl::Status KernelContext::RunAgainAfter(std::shared_ptr<Claim> claim) {
  rarely().awaited = std::move(claim);
  return absl::AbortedError("waits for a variable");
}

void StepContext::ParallelFor(int64_t total, double cost,
                              absl::FunctionRef<void(int64_t, int64_t)> f) const {
  if (total <= 0) return;
  if (intra_op == nullptr) {
    f(0, total);
  } else {
    intra_op->ParallelFor(total, cost, f);
  }
}

int StepContext::num_threads() const {
  return intra_op == nullptr ? 1 : intra_op->num_threads() + 1;
}

void KernelContext::ParallelFor(int64_t total, double cost,
                                absl::FunctionRef<void(int64_t, int64_t)> f) {
  step_->ParallelFor(total, cost, f);
}

int KernelContext::num_threads() const { return step_->num_threads(); }

Value& KernelContext::CopyOfInput(int i) {
  std::unique_ptr<Value[]>& copies = rarely().copies;
  if (copies == nullptr) copies = std::make_unique<Value[]>(num_inputs_);
  copies[i] = *inputs_[i];
  return copies[i];
}

}  // namespace sluice
