// Room that a kernel needs during a call, from the step's memory: a warm step asks the heap for
// none. For standard containers, which end the process where there is no memory, so not for sizes
// that a user chooses freely (KernelContext::AllocateTemp).
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
    void* block = memory_->Allocate(n * sizeof(T));
    // As containers expect it: no memory is an error of `new`.
    for (; block == nullptr; block = memory_->Allocate(n * sizeof(T))) {
      ::operator delete(::operator new(n * sizeof(T)));
    }
    return static_cast<T*>(block);
  }
  void deallocate(T* block, size_t n) { memory_->Deallocate(block, n * sizeof(T)); }
  Allocator* memory() const { return memory_; }
  bool operator==(const ScratchAllocator& o) const { return memory_ == o.memory_; }

 private:
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
