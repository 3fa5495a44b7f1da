#include "ops/embedding/records.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kSlabBytesMin = size_t{4} << 20;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPageMax = size_t{64} << 10;  // the largest page of Linux, on some ARM processors

absl::Status TooManyKeys() {
  return absl::ResourceExhaustedError("embedding table: too many keys for one server");
}

// Zero bytes, which begin at a huge page: lookups touch records at random, so that most of them
// would miss the TLB with small pages. `bytes` is a multiple of the page size, as munmap requires.
// Null if there is no memory. Pages that are not used take no memory.
char* MapSlab(size_t bytes) {
  void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* first = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(first) % kHugePage;
  char* slab = first + before;
  if (before > 0) munmap(first, before);
  if (before < kHugePage) munmap(slab + bytes, kHugePage - before);
  madvise(slab, bytes, MADV_HUGEPAGE);
  return slab;
}

}  // namespace

Records::Records(int64_t row_bytes, int slots)
    : row_bytes_((row_bytes + 7) / 8 * 8),
      slots_(slots),
      record_bytes_(sizeof(Record) + static_cast<size_t>(row_bytes_) * (1 + slots)) {
  while ((record_bytes_ << shift_) < kSlabBytesMin) ++shift_;
  mask_ = (uint32_t{1} << shift_) - 1;
  slab_bytes_ = ((record_bytes_ << shift_) + kPageMax - 1) / kPageMax * kPageMax;
  // Pages of the array that are not used take no memory. Zero bytes are null pointers.
  slabs_ = static_cast<std::atomic<char*>*>(std::calloc(kSlabsMax, sizeof(std::atomic<char*>)));
}

Records::~Records() {
  if (slabs_ == nullptr) return;
  for (size_t i = 0; i < kSlabsMax && slabs_[i].load() != nullptr; ++i) {
    munmap(slabs_[i].load(), slab_bytes_);
  }
  std::free(slabs_);
}

absl::Status Records::MakeSlab(size_t slab) {
  ScopedLock lock(&mutex_);
  if (slabs_ == nullptr || slab >= kSlabsMax || (uint64_t{slab} << shift_) >= kNone) {
    return TooManyKeys();
  }
  if (slabs_[slab].load() != nullptr) return absl::OkStatus();
  char* block = MapSlab(slab_bytes_);
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        StrCat("embedding table: no memory for ", slab_bytes_, " bytes of records"));
  }
  slab_count_.fetch_add(1, std::memory_order_relaxed);
  slabs_[slab].store(block, std::memory_order_release);
  return absl::OkStatus();
}

absl::StatusOr<Records::Number> Records::Allocate() {
  if (has_free_.load(std::memory_order_relaxed)) {
    ScopedLock lock(&mutex_);
    if (!free_.empty()) {
      const Number number = free_.back();
      free_.pop_back();
      has_free_.store(!free_.empty(), std::memory_order_relaxed);
      return number;
    }
  }
  // The slab exists before end() includes the number.
  Number number = next_.load(std::memory_order_relaxed);
  do {
    if (number == kNone) return TooManyKeys();
    const size_t slab = number >> shift_;
    if (slabs_ == nullptr || slab >= kSlabsMax ||
        slabs_[slab].load(std::memory_order_acquire) == nullptr) {
      SLUICE_RETURN_IF_ERROR(MakeSlab(slab));
    }
  } while (!next_.compare_exchange_weak(number, number + 1));
  return number;
}

void Records::Free(Number number) {
  ScopedLock lock(&mutex_);
  free_.push_back(number);
  has_free_.store(true, std::memory_order_relaxed);
}

}  // namespace sluice
