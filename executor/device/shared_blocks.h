// Memory of this process that other processes of the same user can map and read directly. Tasks of
// a cluster on the same machine read tensors from it (distributed/lane/peer_memory.h).
//
// The memory is an anonymous file, mapped once, from which blocks are cut. The file cannot shrink,
// because a process that has mapped it would crash when it reads a removed page. Most of the file
// is only address space: pages are allocated at their first write.
//
// After a fork without exec the child does not have this memory, so that it cannot write into its
// parent's tensors. Such a child must not use tensors.
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_EXECUTOR_DEVICE_SHARED_BLOCKS_H_
#define SLUICE_EXECUTOR_DEVICE_SHARED_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice {

class SharedBlocks {
 public:
  // Blocks are whole pages.
  static constexpr size_t kPage = 4096;

  // Returns the object of this process, which the first call makes. Null if the system refuses the
  // memory.
  static SharedBlocks* Open();
  // Returns the object of this process. Null before Open.
  static SharedBlocks* Opened() { return opened_.load(std::memory_order_acquire); }

  int fd() const { return fd_; }
  const char* begin() const { return begin_; }
  // A page that is never part of a block, by which another process recognises this memory.
  void* label() const { return begin_; }
  size_t bytes() const { return bytes_; }
  bool Holds(const void* at) const {
    return reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(begin_) < bytes_;
  }

  // Returns a new block of zeros. Null if nothing is left. A block can be emptied and used again,
  // but its address space is never given to another block.
  void* Cut(size_t bytes);
  // Returns a block's pages to the system. They are zero at their next use.
  void Empty(void* block, size_t bytes);

 private:
  SharedBlocks(int fd, char* begin, size_t bytes) : fd_(fd), begin_(begin), bytes_(bytes) {}
  static SharedBlocks* Make();

  static std::atomic<SharedBlocks*> opened_;
  const int fd_;
  char* const begin_;
  const size_t bytes_;
  std::atomic<size_t> cut_{kPage};
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_SHARED_BLOCKS_H_
