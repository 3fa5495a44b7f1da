// The records of an embedding table: one per key, of a fixed size, in slabs (large blocks of
// memory). A record's number determines its place in the slabs.
//
// A record has a header (struct Record: the key, the step of the last update, the number of updates
// and a lock), then the weights of the row, then the optimizer's slots. The weights and each slot
// take RowBytes() bytes, the size of a row rounded up to 8 bytes.
//
// Thread safety: all methods may be called from any thread. A record's key is constant while its
// number is in use. A writer holds the record's RowLock to change anything else in the record.
// Readers take no lock: ReadRow copies the weights while no writer holds the lock, and copies them
// again if a writer came in between.
// Errors: RESOURCE_EXHAUSTED if there is no memory, or if all numbers are in use.
#ifndef SLUICE_OPS_EMBEDDING_RECORDS_H_
#define SLUICE_OPS_EMBEDDING_RECORDS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "absl/status/statusor.h"
#include "graph/mutex.h"

namespace sluice {

struct Record {
  int64_t key = 0;
  std::atomic<int64_t> updated{0};  // the step of the last update, plus 1. 0: not in use
  std::atomic<uint32_t> count{0};   // number of updates, or 2^32 - 1 if there were more
  std::atomic<uint32_t> lock{0};    // odd: held. Changes with each update

  std::atomic<uint64_t>* words() { return reinterpret_cast<std::atomic<uint64_t>*>(this + 1); }
  const std::atomic<uint64_t>* words() const {
    return reinterpret_cast<const std::atomic<uint64_t>*>(this + 1);
  }
};
static_assert(sizeof(Record) == 24);

// Holds the lock of a record. Waits until it is free.
class RowLock {
 public:
  explicit RowLock(Record* record) : record_(record) {
    uint32_t free = record->lock.load(std::memory_order_relaxed) & ~1u;
    while (!record->lock.compare_exchange_weak(free, free + 1, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
      if (free & 1) record->lock.wait(free);
      free &= ~1u;
    }
  }
  // The store is sequentially consistent, so that notify_all cannot miss a thread that begins to
  // wait at the same time.
  ~RowLock() {
    record_->lock.store(record_->lock.load(std::memory_order_relaxed) + 1);
    record_->lock.notify_all();
  }
  RowLock(const RowLock&) = delete;
  RowLock& operator=(const RowLock&) = delete;

 private:
  Record* const record_;
};

// Copies 16 bytes that another thread may write at the same time. ReadRow discards such a copy. On
// x86-64 the load is assembly, so that the compiler and ThreadSanitizer see no data race.
inline void CopyChunk(const std::atomic<uint64_t>* from, char* to) {
#if defined(__x86_64__)
  __m128i chunk;
  asm volatile("movdqu %1, %0" : "=x"(chunk) : "m"(*reinterpret_cast<const __m128i_u*>(from)));
  _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to), chunk);
#else
  const uint64_t words[] = {from[0].load(std::memory_order_acquire),
                            from[1].load(std::memory_order_acquire)};
  std::memcpy(to, words, sizeof words);
#endif
}

// Copies the first `bytes` bytes of a record's weights, as they were before or after an update, and
// returns `updated` of the same moment. Waits while a writer holds the record's lock. The fence
// ensures that the lock is loaded again after the weights.
inline int64_t ReadRow(const Record& record, int64_t bytes, void* row) {
  const int64_t chunks = bytes / 16, rest = bytes % 16;
  for (;;) {
    const uint32_t before = record.lock.load(std::memory_order_acquire);
    if (before & 1) {
      record.lock.wait(before);
      continue;
    }
    const int64_t updated = record.updated.load(std::memory_order_acquire);
    const std::atomic<uint64_t>* from = record.words();
    char* to = static_cast<char*>(row);
    for (const auto* end = from + 2 * chunks; from != end; from += 2, to += 16) CopyChunk(from, to);
    for (int64_t left = rest; left > 0; left -= 8, to += 8) {
      const uint64_t word = (from++)->load(std::memory_order_acquire);
      std::memcpy(to, &word, static_cast<size_t>(std::min<int64_t>(left, 8)));
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (record.lock.load(std::memory_order_relaxed) == before) return updated;
  }
}

// Replaces the weights. The caller holds the lock. The stores have release order, so that a reader
// that sees a new word also sees that the lock is held.
inline void WriteRow(Record& record, int64_t bytes, const void* row) {
  const int64_t words = bytes / 8;
  const char* in = static_cast<const char*>(row);
  for (int64_t i = 0; i < words; ++i) {
    uint64_t word;
    std::memcpy(&word, in + 8 * i, 8);
    record.words()[i].store(word, std::memory_order_release);
  }
  if (words * 8 < bytes) {
    uint64_t word = 0;
    std::memcpy(&word, in + 8 * words, static_cast<size_t>(bytes - words * 8));
    record.words()[words].store(word, std::memory_order_release);
  }
}

class Records {
 public:
  using Number = uint32_t;
  static constexpr Number kNone = UINT32_MAX;

  // `row_bytes`: bytes of the weights, and of each slot.
  Records(int64_t row_bytes, int slots);
  ~Records();
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  int64_t RowBytes() const { return row_bytes_; }
  int slots() const { return slots_; }
  Record* at(Number number) const {
    char* slab = slabs_[number >> shift_].load(std::memory_order_acquire);
    return reinterpret_cast<Record*>(slab + (number & mask_) * record_bytes_);
  }
  // The number of cache lines that the first `bytes` bytes of a record may occupy. LinesOf limits
  // `bytes` to eight lines.
  struct Lines {
    int64_t count;  // at most 9, because a record may begin inside a line
    int64_t bytes;
    // Prefetches these cache lines of `record`.
    void Prefetch(const Record* record) const {
      const char* begin = reinterpret_cast<const char*>(record);
      for (int64_t i = 0; i + 1 < count; ++i) __builtin_prefetch(begin + i * kLine);
      __builtin_prefetch(begin + bytes - 1);
    }
  };
  Lines LinesOf(int64_t bytes) const {
    constexpr int64_t kLinesMost = 8;
    bytes = std::min(bytes, kLinesMost * kLine);
    // A record begins at a multiple of `alignment`. In the worst case, this is the last such
    // multiple in a cache line.
    const auto alignment = static_cast<int64_t>(record_bytes_ & -record_bytes_);
    const int64_t worst = kLine - std::min(alignment, kLine);
    return {(worst + bytes - 1) / kLine + 1, bytes};
  }
  // Returns the address of the record's first slot. The next slots begin RowBytes() bytes apart.
  char* slots_of(Record* record) const { return reinterpret_cast<char*>(record + 1) + row_bytes_; }

  // Returns a number that is not in use. The caller fills in its record and then sets `updated`.
  absl::StatusOr<Number> Allocate();
  // Lets Allocate return the number again. No thread may be able to reach its record anymore.
  void Free(Number number);

  // All numbers that are or were in use are less than this.
  Number end() const { return next_.load(std::memory_order_acquire); }
  // The size in bytes of the records that are or were in use, rounded up to whole huge pages.
  int64_t bytes() const;

 private:
  static constexpr int64_t kLine = 64;
  static constexpr size_t kSlabsMax = 1 << 18;
  absl::Status MakeSlab(size_t slab);

  const int64_t row_bytes_;
  const int slots_;
  const size_t record_bytes_;
  int shift_ = 0;  // a slab has 1 << shift_ records
  uint32_t mask_ = 0;
  size_t slab_bytes_ = 0;
  std::atomic<char*>* slabs_ = nullptr;  // [kSlabsMax]
  std::atomic<Number> next_{0};
  std::atomic<bool> has_free_{false};
  Mutex mutex_;
  std::vector<Number> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_RECORDS_H_
