#include "executor/testing/locks.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

// The address range of the program's own code, defined by the linker.
extern "C" const char __executable_start, etext;

namespace {

std::atomic<int64_t> g_locks{0};

// Counts a call if `caller` is in the program, and calls the library's function `name`.
template <typename Lock>
int Pass(const char* name, std::atomic<void*>& next, const void* caller, Lock* lock) {
  void* function = next.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = dlsym(RTLD_NEXT, name);
    next.store(function, std::memory_order_relaxed);
  }
  if (caller >= &__executable_start && caller < &etext) {
    g_locks.fetch_add(1, std::memory_order_relaxed);
  }
  return reinterpret_cast<int (*)(Lock*)>(function)(lock);
}

}  // namespace

extern "C" {
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static constinit std::atomic<void*> next{nullptr};
  return Pass("pthread_mutex_lock", next, __builtin_return_address(0), mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static constinit std::atomic<void*> next{nullptr};
  return Pass("pthread_rwlock_rdlock", next, __builtin_return_address(0), lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static constinit std::atomic<void*> next{nullptr};
  return Pass("pthread_rwlock_wrlock", next, __builtin_return_address(0), lock);
}
}  // extern "C"

namespace sluice::testing {

int64_t Locks() { return g_locks.load(std::memory_order_relaxed); }

}  // namespace sluice::testing
