// Memory of this process that others of its user can map, and read without the system's help.
//
// A file without a name, mapped once, from which blocks are cut. It cannot be made smaller, so that
// whoever maps it cannot lose what it reads. Most of it is addresses only: pages are taken when
// they are first written to.
//
// After a fork without exec the child has none of it, so that it cannot write into its parent's
// tensors: whoever forks so may not use tensors in the child.
// Thread safety: all methods from any thread.
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

  // The process's own, made by the first call; null where the system gives none.
  static SharedBlocks* Open();
  // Null before Open.
  static SharedBlocks* Opened() { return opened_.load(std::memory_order_acquire); }

  int fd() const { return fd_; }
  const char* begin() const { return begin_; }
  // A page that is never cut, for whoever wants to know these blocks again.
  void* label() const { return begin_; }
  size_t bytes() const { return bytes_; }
  bool Holds(const void* at) const {
    return reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(begin_) < bytes_;
  }

  // Null when all has been cut. Blocks are zero, and never joined again.
  void* Cut(size_t bytes);
  // Gives a block's pages back to the system; they are zero when they are next used.
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
