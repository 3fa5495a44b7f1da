#include "executor/device/shared_blocks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace sluice {

std::atomic<SharedBlocks*> SharedBlocks::opened_{nullptr};

SharedBlocks* SharedBlocks::Open() {
  static SharedBlocks* const blocks = Make();
  opened_.store(blocks, std::memory_order_release);
  return blocks;
}

SharedBlocks* SharedBlocks::Make() {
  // The file has twice the size of the machine's memory, because holes between blocks cost nothing.
  // kMost limits the address space that each process needs that maps the file.
  constexpr size_t kMost = size_t{256} << 30;
  const auto pages = static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
  const size_t bytes = std::min(2 * pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)), kMost);
  rlimit limit = {};
  // A file beyond this limit would end the process with a signal.
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < bytes) return nullptr;
  const int fd = memfd_create("sluice-blocks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return nullptr;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    void* const begin =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (begin != MAP_FAILED) {
      madvise(begin, bytes, MADV_DONTFORK);
      madvise(begin, bytes, MADV_DONTDUMP);  // a core dump would fill the holes
      return new SharedBlocks(fd, static_cast<char*>(begin), bytes);
    }
  }
  close(fd);
  return nullptr;
}

void* SharedBlocks::Cut(size_t bytes) {
  size_t at = cut_.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_ - at) return nullptr;
  } while (!cut_.compare_exchange_weak(at, at + bytes, std::memory_order_relaxed));
  return begin_ + at;
}

void SharedBlocks::Empty(void* block, size_t bytes) { madvise(block, bytes, MADV_REMOVE); }

}  // namespace sluice
