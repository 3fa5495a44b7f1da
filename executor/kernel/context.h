// Gives one call of a kernel its inputs, outputs, memory, threads and step.
//
// Ownership: the executor owns the context. It is valid during Compute, or until an asynchronous
// kernel calls `done`.
// Thread safety: each call has its own context. The function that ParallelFor calls may use
// elements of tensors, but not the context.
#ifndef SLUICE_EXECUTOR_KERNEL_CONTEXT_H_
#define SLUICE_EXECUTOR_KERNEL_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernel/kernel.h"
#include "executor/wait/claim.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class CancellationManager;  // executor/wait/cancellation.h
class ResourceManager;      // executor/device/resource_manager.h
class Rendezvous;           // executor/wait/rendezvous.h
class Stalls;               // executor/wait/stalls.h
class ThreadPool;           // executor/cpu/thread_pool.h

// A value on an edge of the graph: a tensor, or a reference to a variable's tensor with the lock of
// the variable (Claim, executor/wait/claim.h), or dead (the branch was not taken).
struct Value {
  Tensor tensor;
  Tensor* ref = nullptr;
  Claim* ref_claim = nullptr;
  bool is_dead = false;
};

// A ref input: the tensor of the variable itself. A kernel must hold the claim while it reads or
// writes `*tensor`, even if the op's attribute use_locking is false. Tensors that were read from
// the variable earlier may share its buffer. So write elements in place only if
// Tensor::BufferIsUnique; otherwise write them to a copy.
struct RefInput {
  Tensor* tensor;
  Claim* claim;
};

// The part of the context that all kernels of a step share.
struct StepContext {
  int64_t step_id = 0;
  Allocator* allocator = nullptr;
  ThreadPool* intra_op = nullptr;             // null: loops run in the caller
  ResourceManager* resources = nullptr;       // of the device
  ResourceManager* step_resources = nullptr;  // of this step: stacks, TensorArrays, temporaries
  CancellationManager* cancellation = nullptr;
  Rendezvous* rendezvous = nullptr;
  Stalls* stalls = nullptr;
  // Runs a closure on the inter-op pool.
  std::function<void(std::function<void()>)>* schedule = nullptr;

  // Like the KernelContext functions of these names.
  void ParallelFor(int64_t total, double cost, absl::FunctionRef<void(int64_t, int64_t)> f) const;
  int num_threads() const;
};

class KernelContext {
 public:
  // inputs[i] is the address of input i. If bit i of `movable` is set, no later node reads that
  // value, and the kernel may move it away or reuse its buffer.
  KernelContext(const StepContext& step, const Node& node, Value* const* inputs, int num_inputs,
                uint64_t movable, Value* outputs, int num_outputs)
      : step_(&step),
        node_(&node),
        inputs_(inputs),
        outputs_(outputs),
        movable_(movable),
        num_inputs_(num_inputs),
        num_outputs_(num_outputs) {}
  // As above. `output_types` are the base types of the outputs, so that output_dtype need not ask
  // the node for them.
  KernelContext(const StepContext& step, const Node& node, Value* const* inputs, int num_inputs,
                uint64_t movable, Value* outputs, int num_outputs, const DataType* output_types)
      : KernelContext(step, node, inputs, num_inputs, movable, outputs, num_outputs) {
    output_types_ = output_types;
  }

  // --- inputs
  int num_inputs() const { return num_inputs_; }
  // For inputs declared as values. A ref input must be read with ref_input.
  const Tensor& input(int i) const { return inputs_[i]->tensor; }
  DataType input_dtype(int i) const {
    return inputs_[i]->ref ? inputs_[i]->ref->dtype() : inputs_[i]->tensor.dtype();
  }
  bool has_input(int i) const { return !inputs_[i]->is_dead; }  // Merge only
  bool input_is_ref(int i) const { return inputs_[i]->ref != nullptr; }
  RefInput ref_input(int i) const { return {inputs_[i]->ref, inputs_[i]->ref_claim}; }
  // Returns the input to a kernel that keeps it. The tensor is moved if no later node reads it.
  // Otherwise the returned tensor shares its buffer.
  Tensor TakeInput(int i) { return IsMovable(i) ? std::move(inputs_[i]->tensor) : input(i); }
  // The input, which the kernel may change or move away. Null if other nodes read it too.
  Tensor* MovableInput(int i) { return IsMovable(i) ? &inputs_[i]->tensor : nullptr; }
  // For kernels that forward values unchanged (Switch, Merge, Enter, …). The result may be moved
  // from; it is a copy if other nodes read the value too.
  Value& input_value(int i) { return IsMovable(i) ? *inputs_[i] : CopyOfInput(i); }

  // --- outputs
  int num_outputs() const { return num_outputs_; }
  DataType output_dtype(int i) const {  // base type
    return output_types_ != nullptr ? output_types_[i] : DeclaredType(i);
  }
  // Allocates output i, whose tensor the context owns. Numbers are left uninitialised.
  // RESOURCE_EXHAUSTED if there is no memory.
  absl::StatusOr<Tensor*> AllocateOutput(int i, const TensorShape& shape);
  // Makes output i in the buffer of an input that no later node reads. No other tensor may share
  // the buffer, and the input must have as many elements as `shape`, each as large as an element of
  // the output. Takes the first such input in `candidates` (indices), or allocates if no candidate
  // fits. The kernel may still read an element of the input until it writes the element of the
  // output at the same position.
  absl::StatusOr<Tensor*> ForwardOrAllocate(absl::Span<const int> candidates, int i,
                                            const TensorShape& shape);
  absl::StatusOr<Tensor*> ForwardOrAllocate(std::initializer_list<int> candidates, int i,
                                            const TensorShape& shape) {
    return ForwardOrAllocate(absl::MakeConstSpan(candidates.begin(), candidates.size()), i, shape);
  }
  void set_output(int i, Tensor tensor) { outputs_[i].tensor = std::move(tensor); }
  // Makes output i a reference to `tensor`. The claim and the tensor must live as long as the
  // resource manager.
  void set_output_ref(int i, Claim* claim, Tensor* tensor) {
    outputs_[i].ref = tensor;
    outputs_[i].ref_claim = claim;
  }
  void set_output_dead(int i) { outputs_[i].is_dead = true; }  // Switch and Recv only
  Value& output_value(int i) { return outputs_[i]; }

  // Scratch memory from the step's allocator.
  absl::StatusOr<Tensor> AllocateTemp(DataType dtype, const TensorShape& shape) {
    return Tensor::Allocate(*step_->allocator, dtype, shape);
  }

  // A kernel calls this if another kernel holds `claim`. The kernel must return the status of this
  // call, and must not have changed anything before. The executor calls the kernel again when the
  // claim may be free. Asynchronous kernels wait for claims themselves and must not call this.
  absl::Status RunAgainAfter(std::shared_ptr<Claim> claim);
  // For a claim that lives as long as the resource manager, such as the claim of a ref input.
  absl::Status RunAgainAfter(Claim* claim) { return RunAgainAfter(UnownedClaim(claim)); }
  static std::shared_ptr<Claim> UnownedClaim(Claim* claim) {
    return std::shared_ptr<Claim>(std::shared_ptr<void>(), claim);
  }
  // For the executor: the claim that was passed to RunAgainAfter. Null if it was not called.
  std::shared_ptr<Claim> TakeAwaited() { return rarely_ ? std::move(rarely_->awaited) : nullptr; }

  // --- surroundings
  const StepContext& step() const { return *step_; }
  const Node& node() const { return *node_; }
  const std::string& name() const;
  ResourceManager& resources() const { return *step_->resources; }
  // Calls `f(begin, end)` over [0, total) in shards, some on other threads, and waits for all.
  // `cost` is the rough number of nanoseconds per element. Small work runs in the caller.
  void ParallelFor(int64_t total, double cost, absl::FunctionRef<void(int64_t, int64_t)> f);
  // The largest number of threads that ParallelFor uses, including the caller's.
  int num_threads() const;

  // The loop frame and the iteration in which the kernel is called. Keys of tensors that are sent,
  // and names of temporary variables, contain them. 0 outside loops.
  uint64_t frame_id = 0;
  int64_t iteration = 0;
  bool is_input_dead = false;  // Send only

 private:
  // Only the first 64 inputs are movable. Longer lists are rare.
  bool IsMovable(int i) const { return i < 64 && ((movable_ >> i) & 1) != 0; }
  Value& CopyOfInput(int i);
  DataType DeclaredType(int i) const;

  const StepContext* step_;
  const Node* node_;
  const DataType* output_types_ = nullptr;
  Value* const* inputs_;
  Value* outputs_;
  uint64_t movable_;
  int num_inputs_;
  int num_outputs_;
  // State that few calls need, behind one pointer so that the other calls cost little.
  struct Rarely {
    std::unique_ptr<Value[]> copies;  // of inputs, made by input_value
    std::shared_ptr<Claim> awaited;
  };
  Rarely& rarely() {
    if (rarely_ == nullptr) rarely_ = std::make_unique<Rarely>();
    return *rarely_;
  }
  std::unique_ptr<Rarely> rarely_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_CONTEXT_H_
