// Memory for tables that are read at random, in huge pages if the system has them: with small pages
// most reads would miss the TLB.
//
// Thread safety: all functions and methods may be called from any thread.
#ifndef SLUICE_OPS_EMBEDDING_HUGE_PAGES_H_
#define SLUICE_OPS_EMBEDDING_HUGE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/mutex.h"

namespace sluice {

inline constexpr size_t kHugePage = size_t{2} << 20;

// Returns `bytes` zero bytes, aligned to kHugePage, or null if there is no memory. Pages that are
// not used take no memory. UnmapHugePages, with the same size, frees the bytes.
char* MapHugePages(size_t bytes);
void UnmapHugePages(char* memory, size_t bytes);

// The memory of a key index: pages of 4 KB, most of them in huge pages. The destructor frees all
// pages, used or not.
class IndexPages {
 public:
  static constexpr size_t kBytes = 4096;

  IndexPages() = default;
  ~IndexPages();
  IndexPages(const IndexPages&) = delete;
  IndexPages& operator=(const IndexPages&) = delete;

  // A page, aligned to its size, with any contents. Null if there is no memory.
  void* Allocate();
  // Lets Allocate return the page again. No thread may be able to reach it anymore.
  void Free(void* page);

  // The size of all pages that are or were in use.
  int64_t bytes() const;

 private:
  struct Region {
    char* memory;
    size_t bytes;
  };

  mutable Mutex mutex_;
  std::vector<Region> regions_ ABSL_GUARDED_BY(mutex_);
  size_t used_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes allocated from the last region
  size_t full_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes allocated from the other regions
  std::vector<void*> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_HUGE_PAGES_H_
