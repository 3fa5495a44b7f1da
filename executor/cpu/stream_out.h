// Results that are more than the caches keep, written past them: what lies where they go need not
// be read before, which is a quarter of what a sum moves, and a third of a function of one tensor.
#ifndef SLUICE_EXECUTOR_CPU_STREAM_OUT_H_
#define SLUICE_EXECUTOR_CPU_STREAM_OUT_H_

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Whether a result of `bytes` (0: its elements are objects) is more than the caches of `threads`
// and what they share keep, and the processor gains: AMD's do, Intel's lose. SLUICE_STREAM_OUT, 0
// or 1, says it instead: tests run what other machines do. A result that lies over an operand gains
// nowhere, since it has been read.
bool IsWorthStreaming(size_t bytes, int threads);
// Shorter rows are not worth it one by one.
inline constexpr int64_t kLeastStreamedRow = 1024;

// Operands that are read next: as many bytes as are copied, from there on; null: none.
struct ReadNext {
  const char* x = nullptr;
  const char* y = nullptr;
};

// Copies past the caches, and between two lines of it asks for one of what is read next: all at
// once would stop the processor.
void StreamOut(void* to, const void* from, size_t bytes, ReadNext next = {});
// Has to come between a thread's last StreamOut and its word to others that the result is there. It
// waits for the memory: once for many pieces.
void FinishStreaming();

// Of what is made piece by piece.
inline constexpr size_t kMostStreamedBytes = 4096;

// Makes units [begin, end) of a result, of `unit_bytes` each (no more than kMostStreamedBytes): by
// f(first, last, to), which makes some of them at `to`, in the first cache, from where they go out.
// Unit i is made of what lies i * unit_bytes behind `operands`.
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

// The same where `streams`, and told to others; else by f(begin, end, to) where they belong.
template <typename F>
void MakeUnits(bool streams, int64_t begin, int64_t end, size_t unit_bytes, char* result,
               const F& f, ReadNext operands) {
  if (!streams) return f(begin, end, result + begin * static_cast<int64_t>(unit_bytes));
  StreamPieces(begin, end, unit_bytes, result, f, operands);
  FinishStreaming();
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_STREAM_OUT_H_
