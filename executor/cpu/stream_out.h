// Streaming (non-temporal) stores for results that do not fit into the caches. With them the
// processor does not read the overwritten cache lines first, which saves a quarter of the memory
// traffic of a binary elementwise op, and a third for a unary op.
#ifndef SLUICE_EXECUTOR_CPU_STREAM_OUT_H_
#define SLUICE_EXECUTOR_CPU_STREAM_OUT_H_

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Whether streaming a result of `bytes` bytes (0 if its elements are objects, as strings) saves
// time. It does if the result exceeds the private caches of `threads` threads and the shared cache,
// and if the processor is AMD's: Intel's lose time. For tests, the environment variable
// SLUICE_STREAM_OUT (0 or 1) overrides the choice by processor. Do not stream a result that
// overwrites its operand: the operand's lines are in the cache already, so streaming saves nothing.
bool IsWorthStreaming(size_t bytes, int threads);
// The length in bytes of the shortest row that is worth its own StreamOut.
inline constexpr int64_t kLeastStreamedRow = 1024;

// The addresses of the operands that the caller reads after a call of StreamOut. The caller reads
// as many bytes of each operand as StreamOut copies. Null if there is no such operand.
struct ReadNext {
  const char* x = nullptr;
  const char* y = nullptr;
};

// Copies with streaming stores. Meanwhile it prefetches the operands in `next`, one line of each
// per line that it writes: prefetching all of them at once would stall the processor.
void StreamOut(void* to, const void* from, size_t bytes, ReadNext next = {});
// Waits until the thread's streaming stores are complete. A thread must call it after its last
// StreamOut and before it notifies other threads that the result is ready. The wait is slow, so
// call it once for many StreamOuts.
void FinishStreaming();

// The largest `unit_bytes` of StreamPieces.
inline constexpr size_t kMostStreamedBytes = 4096;

// Computes units [begin, end) of a result, each of `unit_bytes` bytes (at most kMostStreamedBytes),
// such as rows. f(first, last, to) computes units [first, last) into `to`, a buffer that stays in
// the first-level cache. Then StreamOut copies them to the result. `operands` are prefetched: unit
// i reads them at offset i * unit_bytes.
template <typename F>
void StreamPieces(int64_t begin, int64_t end, size_t unit_bytes, char* result, const F& f,
                  ReadNext operands = {}) {
  assert(unit_bytes > 0 && unit_bytes <= kMostStreamedBytes);
  constexpr size_t kPieceBytes = 2048;
  alignas(64) char piece[kMostStreamedBytes];
  const auto units = static_cast<int64_t>(std::max<size_t>(kPieceBytes / unit_bytes, 1));
  for (int64_t first = begin; first < end; first += units) {
    const int64_t last = std::min(first + units, end);
    f(first, last, piece);
    const auto behind = last * static_cast<int64_t>(unit_bytes);
    StreamOut(result + first * static_cast<int64_t>(unit_bytes), piece,
              static_cast<size_t>(last - first) * unit_bytes,
              {operands.x == nullptr ? nullptr : operands.x + behind,
               operands.y == nullptr ? nullptr : operands.y + behind});
  }
}

// Computes units [begin, end) of a result. If `streams`, calls StreamPieces and FinishStreaming.
// Otherwise calls f once, which then writes all units directly to the result.
template <typename F>
void MakeUnits(bool streams, int64_t begin, int64_t end, size_t unit_bytes, char* result,
               const F& f, ReadNext operands) {
  if (!streams) return f(begin, end, result + begin * static_cast<int64_t>(unit_bytes));
  StreamPieces(begin, end, unit_bytes, result, f, operands);
  FinishStreaming();
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_STREAM_OUT_H_
