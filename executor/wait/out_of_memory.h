// Turns a failed allocation into the error RESOURCE_EXHAUSTED, so that it does not end the process.
//
// The standard library, Protobuf and Eigen report a failed allocation only by throwing
// std::bad_alloc or std::length_error. Sluice has no other exceptions. Only OrOutOfMemory catches
// these two. It runs kernels, the compilation of steps, iterators, and the handlers of calls.
//
// Thread safety: the functions have no state.
#ifndef SLUICE_EXECUTOR_WAIT_OUT_OF_MEMORY_H_
#define SLUICE_EXECUTOR_WAIT_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>
#include <type_traits>

#include "absl/status/status.h"

namespace sluice {

inline absl::Status OutOfMemory() {
  return absl::ResourceExhaustedError("OOM when allocating strings or other lists");
}

// Returns the result of `f`, a Status or StatusOr, or OK if `f` returns void. Returns
// RESOURCE_EXHAUSTED if an allocation in `f` failed.
template <typename F>
auto OrOutOfMemory(F f) {
  using Result = decltype(f());
  try {
    if constexpr (std::is_void_v<Result>) {
      f();
      return absl::OkStatus();
    } else {
      return f();
    }
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // of a container
  }
  if constexpr (std::is_void_v<Result>) {
    return OutOfMemory();
  } else {
    return Result(OutOfMemory());
  }
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_OUT_OF_MEMORY_H_
