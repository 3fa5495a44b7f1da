#include "executor/cpu/stream_out.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "executor/cpu/avx512.h"
#include "executor/cpu/prefetch.h"

namespace sluice {

#if defined(__x86_64__) && defined(__GNUC__)
namespace {

constexpr size_t kLine = kLineBytes;

// Copies whole aligned cache lines with streaming stores. If kAsks, prefetches the operands in
// `next`.
template <bool kAsks>
SLUICE_AVX512 void LinesByAvx512(char* to, const char* from, size_t bytes, ReadNext next) {
  for (size_t at = 0; at < bytes; at += kLine) {
    if (kAsks) Prefetch(next.x, static_cast<int64_t>(at));
    if (kAsks) Prefetch(next.y, static_cast<int64_t>(at));
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), _mm512_loadu_si512(from + at));
  }
}

template <bool kAsks>
void LinesBySse(char* to, const char* from, size_t bytes, ReadNext next) {
  for (size_t at = 0; at < bytes; at += kLine) {
    if (kAsks) Prefetch(next.x, static_cast<int64_t>(at));
    if (kAsks) Prefetch(next.y, static_cast<int64_t>(at));
    for (size_t i = at; i < at + kLine; i += sizeof(__m128i)) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
  }
}

template <bool kAsks>
void Lines(char* to, const char* from, size_t bytes, ReadNext next) {
  if (HasAvx512()) return LinesByAvx512<kAsks>(to, from, bytes, next);
  LinesBySse<kAsks>(to, from, bytes, next);
}

}  // namespace

bool IsWorthStreaming(size_t bytes, int threads) {
  constexpr size_t kShared = 32 << 20, kOfThread = 2 << 20;
  static const bool gains = [] {
    const char* const said = std::getenv("SLUICE_STREAM_OUT");
    return said != nullptr ? *said == '1' : __builtin_cpu_is("amd") != 0;
  }();
  return bytes >= std::max(kShared, kOfThread * static_cast<size_t>(threads)) && gains;
}

void StreamOut(void* to, const void* from, size_t bytes, ReadNext next) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  const size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(out) % kLine);
  const size_t lines = (bytes - head) / kLine * kLine;
  if (head != 0) std::memcpy(out, in, head);
  const bool asks = next.x != nullptr || next.y != nullptr;
  // For a missing operand, lines of the source are prefetched, which are in the cache anyway.
  if (next.x == nullptr) next.x = in;
  if (next.y == nullptr) next.y = in;
  (asks ? Lines<true> : Lines<false>)(out + head, in + head, lines, next);
  const size_t done = head + lines;
  if (done != bytes) std::memcpy(out + done, in + done, bytes - done);
}

void FinishStreaming() { _mm_sfence(); }

#else

bool IsWorthStreaming(size_t, int) { return false; }
void StreamOut(void* to, const void* from, size_t bytes, ReadNext) { std::memcpy(to, from, bytes); }
void FinishStreaming() {}

#endif

}  // namespace sluice
