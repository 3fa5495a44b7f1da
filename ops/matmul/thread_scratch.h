// Scratch memory that each thread keeps for the matrix products that it computes.
#ifndef SLUICE_OPS_MATMUL_THREAD_SCRATCH_H_
#define SLUICE_OPS_MATMUL_THREAD_SCRATCH_H_

#include <memory>

namespace sluice {

// Returns the calling thread's only object of type Scratch. Its members are not initialised. It
// lives from the first call to the end of the thread.
template <typename Scratch>
Scratch& ThreadScratch() {
  thread_local const std::unique_ptr<Scratch> scratch = std::make_unique_for_overwrite<Scratch>();
  return *scratch;
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_THREAD_SCRATCH_H_
