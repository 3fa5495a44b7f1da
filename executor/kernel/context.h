// KernelContext is the argument of Kernel::Compute and AsyncKernel::ComputeAsync. It gives one call
// of a kernel its inputs, its outputs, memory, threads and the step.
//
// Ownership: the executor owns the context. It is valid during Compute, or until an asynchronous
// kernel calls `done`.
// Thread safety: each call has its own context, which one thread at a time may use. The functions
// that ParallelFor runs on several threads may use elements of tensors, but not the context.
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

// A value on an edge of the graph. It is one of these:
// 1. A tensor.
// 2. A reference: the address of a variable's tensor (`ref`) and the variable's lock (`ref_claim`,
//    executor/wait/claim.h). `ref` is null in other values.
// 3. Dead: there is no tensor, because the node that computes it is on a branch that was not taken.
struct Value {
  Tensor tensor;
  Tensor* ref = nullptr;
  Claim* ref_claim = nullptr;
  bool is_dead = false;
};

// An input that is a reference to a variable: the tensor of the variable itself, and its lock. A
// kernel must hold the claim while it reads or writes `*tensor`, even if the op's attribute
// use_locking is false. Tensors that were read from the variable earlier may share its buffer. So
// a kernel may write elements in place only if tensor->BufferIsUnique(). Otherwise it must write
// them to a copy.
struct RefInput {
  Tensor* tensor;
  Claim* claim;
};

// The part of the context that all kernels of a step on one device share. While a constant is
// computed at compile time, all pointers are null except allocator and the two ResourceManagers.
struct StepContext {
  int64_t step_id = 0;
  Allocator* allocator = nullptr;
  ThreadPool* intra_op = nullptr;             // null: loops run in the caller
  ResourceManager* resources = nullptr;       // of the device
  ResourceManager* step_resources = nullptr;  // of this step: stacks, TensorArrays, temporaries
  CancellationManager* cancellation = nullptr;
  Rendezvous* rendezvous = nullptr;  // null: the step has no Sends and Recvs
  Stalls* stalls = nullptr;          // null: nobody reports what kernels wait for
  // Runs a closure on a thread of the inter-op pool. If the session has no such pool, runs it on
  // the caller's thread before it returns.
  std::function<void(std::function<void()>)>* schedule = nullptr;

  // The same as KernelContext::ParallelFor and KernelContext::num_threads.
  void ParallelFor(int64_t total, double cost, absl::FunctionRef<void(int64_t, int64_t)> f) const;
  int num_threads() const;
};

class KernelContext {
 public:
  // inputs[i] is the address of input i. If bit i of `movable` is set, no other node reads input i
  // later. The kernel may then move the value away or reuse its buffer. The kernel writes its
  // results to outputs[0], …, outputs[num_outputs - 1].
  KernelContext(const StepContext& step, const Node& node, Value* const* inputs, int num_inputs,
                uint64_t movable, Value* outputs, int num_outputs)
      : step_(&step),
        node_(&node),
        inputs_(inputs),
        outputs_(outputs),
        movable_(movable),
        num_inputs_(num_inputs),
        num_outputs_(num_outputs) {}
  // Like the first constructor, and makes output_dtype faster. output_types[i] is the base type of
  // output i. The array must outlive the context.
  KernelContext(const StepContext& step, const Node& node, Value* const* inputs, int num_inputs,
                uint64_t movable, Value* outputs, int num_outputs, const DataType* output_types)
      : KernelContext(step, node, inputs, num_inputs, movable, outputs, num_outputs) {
    output_types_ = output_types;
  }

  // --- inputs
  int num_inputs() const { return num_inputs_; }
  // Returns an input that the op declares as a value. An input that the op declares as a reference
  // must be read with ref_input.
  const Tensor& input(int i) const { return inputs_[i]->tensor; }
  DataType input_dtype(int i) const {
    return inputs_[i]->ref ? inputs_[i]->ref->dtype() : inputs_[i]->tensor.dtype();
  }
  // For Merge. False if input i is dead, because its branch was not taken.
  bool has_input(int i) const { return !inputs_[i]->is_dead; }
  bool input_is_ref(int i) const { return inputs_[i]->ref != nullptr; }
  RefInput ref_input(int i) const { return {inputs_[i]->ref, inputs_[i]->ref_claim}; }
  // For kernels that keep input i, for example in a queue. Moves the tensor out of the input if no
  // other node reads it later. Otherwise the returned tensor shares the buffer of the input.
  Tensor TakeInput(int i) { return IsMovable(i) ? std::move(inputs_[i]->tensor) : input(i); }
  // Returns input i, which the kernel may change or move away. Null if another node may still read
  // the input.
  Tensor* MovableInput(int i) { return IsMovable(i) ? &inputs_[i]->tensor : nullptr; }
  // For kernels that pass values on unchanged (Switch, Merge, Enter, …). Returns input i, or a
  // copy of it if another node may still read the input. The kernel may move the result away.
  Value& input_value(int i) { return IsMovable(i) ? *inputs_[i] : CopyOfInput(i); }

  // --- outputs
  int num_outputs() const { return num_outputs_; }
  // The type of output i. For a reference: the type of its tensor, without the ref flag.
  DataType output_dtype(int i) const {
    return output_types_ != nullptr ? output_types_[i] : DeclaredType(i);
  }
  // Allocates output i and returns its tensor, which belongs to the executor. Numbers are left
  // uninitialised. RESOURCE_EXHAUSTED if there is no memory.
  absl::StatusOr<Tensor*> AllocateOutput(int i, const TensorShape& shape);
  // Makes output i in the buffer of an input, to save memory. Takes the first input among
  // `candidates` (indices of inputs) for which all of this is true:
  // 1. No other node reads the input later, and it is not a reference.
  // 2. The input's elements fill its buffer, and no other tensor shares the buffer.
  // 3. The input has as many elements as `shape`.
  // 4. It has the type of the output, or another type of the same size per element. If the elements
  //    are strings, resources or variants, only the same type will do.
  // If there is no such candidate, does the same as AllocateOutput. The kernel may read an element
  // of the input until it writes the element of the output at the same position.
  absl::StatusOr<Tensor*> ForwardOrAllocate(absl::Span<const int> candidates, int i,
                                            const TensorShape& shape);
  absl::StatusOr<Tensor*> ForwardOrAllocate(std::initializer_list<int> candidates, int i,
                                            const TensorShape& shape) {
    return ForwardOrAllocate(absl::MakeConstSpan(candidates.begin(), candidates.size()), i, shape);
  }
  void set_output(int i, Tensor tensor) { outputs_[i].tensor = std::move(tensor); }
  // Makes output i a reference to `tensor`, whose lock is `claim`. The caller must keep both alive
  // as long as a node may use the reference.
  void set_output_ref(int i, Claim* claim, Tensor* tensor) {
    outputs_[i].ref = tensor;
    outputs_[i].ref_claim = claim;
  }
  // For Switch, Merge and Recv. Nodes that read output i then do not run, except Merge and Send.
  void set_output_dead(int i) { outputs_[i].is_dead = true; }
  Value& output_value(int i) { return outputs_[i]; }

  // Allocates a tensor for intermediate results. RESOURCE_EXHAUSTED if there is no memory.
  absl::StatusOr<Tensor> AllocateTemp(DataType dtype, const TensorShape& shape) {
    return Tensor::Allocate(*step_->allocator, dtype, shape);
  }

  // A kernel calls this if it cannot take `claim`, the lock of a variable, because another kernel
  // holds it. The kernel must return the status of this call, and must not have changed anything
  // before. The executor calls the kernel again when the claim may be free. Asynchronous kernels
  // wait for claims themselves and must not call this.
  absl::Status RunAgainAfter(std::shared_ptr<Claim> claim);
  // The same for a claim that something else keeps alive while the node waits, such as the claim of
  // a ref input.
  absl::Status RunAgainAfter(Claim* claim) { return RunAgainAfter(UnownedClaim(claim)); }
  static std::shared_ptr<Claim> UnownedClaim(Claim* claim) {
    return std::shared_ptr<Claim>(std::shared_ptr<void>(), claim);
  }
  // Called by the executor. Returns the claim that the kernel passed to RunAgainAfter. Null if the
  // kernel did not call RunAgainAfter.
  std::shared_ptr<Claim> TakeAwaited() { return rarely_ ? std::move(rarely_->awaited) : nullptr; }

  // --- surroundings
  const StepContext& step() const { return *step_; }
  const Node& node() const { return *node_; }
  const std::string& name() const;
  ResourceManager& resources() const { return *step_->resources; }
  // Splits [0, total) into ranges, calls `f(begin, end)` for each of them, on several threads, and
  // returns when all calls have returned. `cost` is the rough number of nanoseconds per element. If
  // the total time is short, the caller's thread usually makes all calls itself.
  void ParallelFor(int64_t total, double cost, absl::FunctionRef<void(int64_t, int64_t)> f);
  // The largest number of threads that ParallelFor uses, including the caller's.
  int num_threads() const;

  // The loop frame and the iteration in which the kernel is called. Keys of tensors that are sent,
  // and names of temporary variables, contain them. 0 outside loops.
  uint64_t frame_id = 0;
  int64_t iteration = 0;
  // For Send, which runs even if its input is dead, in order to report this to the Recv.
  bool is_input_dead = false;

 private:
  // movable_ has 64 bits, so that the inputs from 64 on are never moved. Few nodes have that many.
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
  // State that few calls need. It is allocated when it is needed, so that other calls cost little.
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
