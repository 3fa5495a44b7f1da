// Standard containers for the scratch data of a kernel call. They use the step's allocator, so that
// a warm step does not use the heap. If this allocator has no memory, they use the heap, which the
// limit of a session does not cover. So use KernelContext::AllocateTemp for sizes that a user
// chooses freely.
#ifndef SLUICE_EXECUTOR_KERNEL_SCRATCH_H_
#define SLUICE_EXECUTOR_KERNEL_SCRATCH_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "executor/kernel/context.h"

namespace sluice {

template <typename T>
class ScratchAllocator {
 public:
  using value_type = T;
  explicit ScratchAllocator(const KernelContext& c) : memory_(c.step().allocator) {}
  template <typename U>
  ScratchAllocator(const ScratchAllocator<U>& o) : memory_(o.memory()) {}  // NOLINT: containers do

  T* allocate(size_t n) {
    const size_t bytes = kHeader + n * sizeof(T);
    void* block = memory_->Allocate(bytes);
    Allocator* const from = block != nullptr ? memory_ : nullptr;
    if (block == nullptr) block = ::operator new(bytes);
    *static_cast<Allocator**>(block) = from;
    return reinterpret_cast<T*>(static_cast<char*>(block) + kHeader);
  }
  void deallocate(T* elements, size_t n) {
    void* const block = reinterpret_cast<char*>(elements) - kHeader;
    Allocator* const from = *static_cast<Allocator**>(block);
    if (from == nullptr) return ::operator delete(block);
    from->Deallocate(block, kHeader + n * sizeof(T));
  }
  Allocator* memory() const { return memory_; }
  bool operator==(const ScratchAllocator& o) const { return memory_ == o.memory_; }

 private:
  // The number of bytes before the elements of a block. They begin with a pointer to the allocator
  // of the block, which is null if the block is from the heap.
  static constexpr size_t kHeader = kTensorAlignment;
  Allocator* memory_;
};

template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

template <typename T>
ScratchVector<T> Scratch(const KernelContext& c, int64_t n = 0) {
  return ScratchVector<T>(static_cast<size_t>(n), ScratchAllocator<T>(c));
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_SCRATCH_H_
