#include "executor/testing/allocations.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>

namespace {
std::atomic<int64_t> g_allocations{0};
}  // namespace

void* operator new(size_t size, const std::nothrow_t&) noexcept {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size);
}
void* operator new(size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) std::terminate();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace sluice::testing {

int64_t Allocations() { return g_allocations.load(std::memory_order_relaxed); }

}  // namespace sluice::testing
