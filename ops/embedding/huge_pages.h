// Allocates memory for embedding tables, in huge pages (2 MiB) if the system has them. Tables are
// read at random. With small pages, most of these reads would miss the TLB.
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

// Allocates the memory of a KeyIndex (key_index.h): pages of 4 KiB, most of them in huge pages of
// the system. The destructor frees all pages, used or not.
class IndexPages {
 public:
  static constexpr size_t kBytes = 4096;

  IndexPages() = default;
  ~IndexPages();
  IndexPages(const IndexPages&) = delete;
  IndexPages& operator=(const IndexPages&) = delete;

  // Returns a page, aligned to its size, whose contents are arbitrary. Null if there is no memory.
  void* Allocate();
  // Lets Allocate return the page again. No thread may be able to reach it anymore.
  void Free(void* page);

  // The size of all pages that Allocate has returned, including those that were freed.
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
