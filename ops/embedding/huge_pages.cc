#include "ops/embedding/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace sluice {
namespace {

constexpr size_t kPageMax = size_t{64} << 10;  // the largest page of Linux, on some ARM processors

// munmap requires a multiple of the page size.
size_t InPages(size_t bytes) { return (bytes + kPageMax - 1) / kPageMax * kPageMax; }

// Most tables of a model are small. Their first region takes no huge page.
constexpr size_t kFirstRegion = size_t{128} << 10;
constexpr size_t kRegion = size_t{16} << 20;
constexpr std::align_val_t kAlignment{IndexPages::kBytes};

}  // namespace

char* MapHugePages(size_t bytes) {
  const size_t size = InPages(bytes);
  void* mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* first = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(first) % kHugePage;
  char* aligned = first + before;
  if (before > 0) munmap(first, before);
  if (before < kHugePage) munmap(aligned + size, kHugePage - before);
  madvise(aligned, size, MADV_HUGEPAGE);
  return aligned;
}

void UnmapHugePages(char* memory, size_t bytes) { munmap(memory, InPages(bytes)); }

IndexPages::~IndexPages() {
  for (const Region& region : regions_) {
    if (region.bytes == kFirstRegion) {
      ::operator delete(region.memory, kAlignment);
    } else {
      UnmapHugePages(region.memory, region.bytes);
    }
  }
}

void* IndexPages::Allocate() {
  ScopedLock lock(&mutex_);
  if (!free_.empty()) {
    void* page = free_.back();
    free_.pop_back();
    return page;
  }
  if (regions_.empty() || used_ == regions_.back().bytes) {
    const bool is_first = regions_.empty();
    const size_t bytes = is_first ? kFirstRegion : kRegion;
    char* memory = is_first ? static_cast<char*>(::operator new(bytes, kAlignment, std::nothrow))
                            : MapHugePages(bytes);
    if (memory == nullptr) return nullptr;
    full_ += used_;
    used_ = 0;
    regions_.push_back({memory, bytes});
  }
  char* page = regions_.back().memory + used_;
  used_ += kBytes;
  return page;
}

void IndexPages::Free(void* page) {
  ScopedLock lock(&mutex_);
  free_.push_back(page);
}

int64_t IndexPages::bytes() const {
  ScopedLock lock(&mutex_);
  return static_cast<int64_t>(full_ + used_);
}

}  // namespace sluice
