#include "ops/embedding/records.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "graph/status.h"
#include "ops/embedding/huge_pages.h"

namespace sluice {
namespace {

// With this shift a slab is a multiple of a huge page, because a record is a multiple of 8 bytes.
constexpr int kShiftMax = 18;
constexpr size_t kSlabBytesMax = size_t{64} << 20;

absl::Status TooManyKeys() {
  return absl::ResourceExhaustedError("embedding table: too many keys for one server");
}

}  // namespace

Records::Records(int64_t row_bytes, int slots)
    : row_bytes_((row_bytes + 7) / 8 * 8),
      slots_(slots),
      record_bytes_(sizeof(Record) + static_cast<size_t>(row_bytes_) * (1 + slots)) {
  shift_ = kShiftMax;
  while (shift_ > 0 && (record_bytes_ << shift_) > kSlabBytesMax) --shift_;
  mask_ = (uint32_t{1} << shift_) - 1;
  slab_bytes_ = record_bytes_ << shift_;
  // Pages of the array that are not used take no memory. Zero bytes are null pointers.
  slabs_ = static_cast<std::atomic<char*>*>(std::calloc(kSlabsMax, sizeof(std::atomic<char*>)));
}

Records::~Records() {
  if (slabs_ == nullptr) return;
  for (size_t i = 0; i < kSlabsMax && slabs_[i].load() != nullptr; ++i) {
    UnmapHugePages(slabs_[i].load(), slab_bytes_);
  }
  std::free(slabs_);
}

int64_t Records::bytes() const {
  const size_t number = end();
  const size_t rest = (number & mask_) * record_bytes_;
  const size_t last = std::min((rest + kHugePage - 1) / kHugePage * kHugePage, slab_bytes_);
  return static_cast<int64_t>((number >> shift_) * slab_bytes_ + last);
}

absl::Status Records::MakeSlab(size_t slab) {
  ScopedLock lock(&mutex_);
  if (slabs_ == nullptr || slab >= kSlabsMax || (uint64_t{slab} << shift_) >= kNone) {
    return TooManyKeys();
  }
  if (slabs_[slab].load() != nullptr) return absl::OkStatus();
  char* block = MapHugePages(slab_bytes_);
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        StrCat("embedding table: no memory for ", slab_bytes_, " bytes of records"));
  }
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
