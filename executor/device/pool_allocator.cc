#include "executor/device/pool_allocator.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <vector>

#include "executor/device/shared_blocks.h"
#include "executor/device/size_class.h"
#include "graph/mutex.h"
#include "graph/tensor/limited_heap.h"

// Free blocks are poisoned, so that AddressSanitizer reports a use after the last Unref.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define SLUICE_POISON(block, bytes) __asan_poison_memory_region(block, bytes)
#define SLUICE_UNPOISON(block, bytes) __asan_unpoison_memory_region(block, bytes)
#else
#define SLUICE_POISON(block, bytes) (void)0
#define SLUICE_UNPOISON(block, bytes) (void)0
#endif

namespace sluice {
namespace {

// Blocks up to this size are cut from chunks and never return to the system.
constexpr size_t kCarvedLimit = 4096;
constexpr int kCarvedClasses = SizeClassOf(kCarvedLimit) + 1;
constexpr size_t kChunkBytes = 64 << 10;
constexpr size_t kHugePage = 2 << 20;
// Blocks of at least this size are whole pages. They are shared blocks if those are open, except
// blocks of huge pages, which few systems support for files in memory.
constexpr size_t kShareFrom = 32 << 10;
// The most that one thread keeps of one class of small blocks.
constexpr size_t kThreadBytes = 128 << 10;
// The shared lists are trimmed when they keep more than this and a quarter of the pool's memory.
constexpr int64_t kIdleBytes = 64 << 20;
// The heap's uncounted bytes are measured at most once in this time.
constexpr std::chrono::milliseconds kMeasureInterval{10};

struct FreeBlock {
  FreeBlock* next;
};

// A list of free blocks of one class.
struct FreeList {
  FreeBlock* head = nullptr;
  int64_t count = 0;

  void Push(void* block, size_t bytes) {
    FreeBlock* free = static_cast<FreeBlock*>(block);
    free->next = head;
    head = free;
    ++count;
    SLUICE_POISON(block, bytes);
  }
  void* Pop(size_t bytes) {
    FreeBlock* block = head;
    if (block == nullptr) return nullptr;
    SLUICE_UNPOISON(block, bytes);
    head = block->next;
    --count;
    return block;
  }
};

// Free large blocks of one class. The block that any thread freed last is reused first, because it
// is still in the caches. Blocks that are passed between threads thus leave no idle block in each.
class Shelf {
 public:
  // Null if the shelf is empty or other threads took the blocks meanwhile.
  void* Take() {
    for (int i = kPlaces - 1; i >= 0; --i) {
      if (places_[i].load(std::memory_order_relaxed) == nullptr) continue;
      if (void* block = places_[i].exchange(nullptr, std::memory_order_acquire)) return block;
    }
    return nullptr;
  }
  // False if the shelf is full.
  bool Put(void* block) {
    for (std::atomic<void*>& place : places_) {
      void* empty = nullptr;
      if (place.load(std::memory_order_relaxed) == nullptr &&
          place.compare_exchange_strong(empty, block, std::memory_order_release)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr int kPlaces = 32;
  std::array<std::atomic<void*>, kPlaces> places_{};
};

// The free blocks that all threads share.
class CentralLists {
 public:
  static CentralLists& Get() {
    static CentralLists* lists = new CentralLists;
    return *lists;
  }

  // Returns a block, or null if there is no memory. Adds more blocks to `extra` if that is not
  // null.
  void* Take(int size_class, FreeList* extra) {
    const size_t bytes = SizeOfClass(size_class);
    void* const shelved = bytes > kCarvedLimit ? shelves_[size_class].Take() : nullptr;
    if (shelved != nullptr) {
      SLUICE_UNPOISON(shelved, bytes);
      CountTaken(size_class);
      return shelved;
    }
    ScopedLock lock(&mutex_);
    FreeList& list = lists_[size_class];
    if (list.count == 0 && bytes <= kCarvedLimit && !Carve(list, bytes)) return nullptr;
    if (void* block = list.Pop(bytes)) {
      CountTaken(size_class);
      while (extra != nullptr && extra->count < 16 && list.count > 0) {
        extra->Push(list.Pop(bytes), bytes);
      }
      return block;
    }
    if (idle_bytes() > kIdleBytes + system_bytes() / 4) TrimTo(system_bytes() / 8);
    return FromSystem(bytes, SharedBlocks::Opened());
  }

  void Give(int size_class, void* block) {
    const size_t bytes = SizeOfClass(size_class);
    if (bytes > kCarvedLimit) {
      idle_[size_class].now.fetch_add(1, std::memory_order_relaxed);
      SLUICE_POISON(block, bytes);
      if (shelves_[size_class].Put(block)) return;
      SLUICE_UNPOISON(block, bytes);  // the list's link goes there
    }
    ScopedLock lock(&mutex_);
    lists_[size_class].Push(block, bytes);
  }

  void Trim() {
    ScopedLock lock(&mutex_);
    TrimTo(0);
  }

  int64_t TrimUnused() {
    ScopedLock lock(&mutex_);
    const int64_t before = system_bytes();
    for (int c = kCarvedClasses; c < kSizeClasses; ++c) {
      for (int64_t unused = idle_[c].least; unused > 0 && FreeOne(c); --unused) {
      }
      idle_[c].least.store(idle_[c].now);
    }
    return before - system_bytes();
  }

  void SetLimit(int64_t bytes) {
    ScopedLock lock(&mutex_);
    base_bytes_ += MeasureUncounted();
    uncounted_bytes_ = 0;
    measured_ = {};
    limit_.store(bytes, std::memory_order_relaxed);
  }
  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  bool HasRoom(size_t bytes, RoomFor use) {
    if (limit() <= 0) return true;
    ScopedLock lock(&mutex_);
    return MakeRoom(bytes, use);
  }

  int64_t system_allocations() const { return system_allocations_.load(std::memory_order_relaxed); }
  int64_t system_bytes() const { return system_bytes_.load(std::memory_order_relaxed); }
  int64_t idle_bytes() const {
    int64_t bytes = 0;
    for (int c = kCarvedClasses; c < kSizeClasses; ++c) {
      bytes += idle_[c].now.load(std::memory_order_relaxed) * static_cast<int64_t>(SizeOfClass(c));
    }
    return bytes;
  }
  int64_t limited_bytes() const {
    return system_bytes() + Heap().bytes_in_use() + HeldBytes::All();
  }
  // As it was last measured.
  int64_t uncounted_bytes() const { return uncounted_bytes_.load(std::memory_order_relaxed); }

 private:
  // The number of free blocks of a class.
  struct Idle {
    std::atomic<int64_t> now{0};
    std::atomic<int64_t> least{0};  // since the last TrimUnused
  };

  void CountTaken(int size_class) {
    if (size_class < kCarvedClasses) return;
    Idle& idle = idle_[size_class];
    const int64_t now = idle.now.fetch_sub(1, std::memory_order_relaxed) - 1;
    // If two threads do this at once, TrimUnused may return a block too much.
    if (now < idle.least.load(std::memory_order_relaxed)) {
      idle.least.store(now, std::memory_order_relaxed);
    }
  }

  // Returns whether the limit permits further bytes. If necessary, first returns free blocks to the
  // system. Memory that is not counted, such as that of strings, reduces the limit of large blocks
  // only, so that cheap steps of other sessions can go on.
  bool MakeRoom(size_t bytes, RoomFor use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const int64_t most = limit();
    if (most <= 0) return true;
    const int64_t part = bytes >= kLimitedFrom ? most - most / 16 : most;
    const bool sees_all = bytes >= kLimitedFrom && use == RoomFor::kNewBlock;
    const int64_t others = sees_all ? Uncounted() : 0;
    const auto excess = [&] {
      return limited_bytes() + others + static_cast<int64_t>(bytes) - part;
    };
    if (excess() > 0) TrimTo(std::max<int64_t>(0, idle_bytes() - excess()));
    return excess() <= 0;
  }

  // The bytes of the process's heap that nothing counts, such as the characters of strings, beyond
  // those before the limit was set.
  int64_t MeasureUncounted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const struct mallinfo2 heap = mallinfo2();
    // malloc counts the addresses that it leaves out in order to align a block.
    const int64_t gaps = huge_blocks_ * static_cast<int64_t>(kHugePage);
    return static_cast<int64_t>(heap.uordblks + heap.hblkhd) - (limited_bytes() - shared_bytes_) -
           gaps - base_bytes_;
  }

  // The same, as it was a short time ago: to measure it may take a millisecond.
  int64_t Uncounted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto now = std::chrono::steady_clock::now();
    if (now - measured_ > kMeasureInterval) {
      measured_ = now;
      uncounted_bytes_ = std::max<int64_t>(0, MeasureUncounted());
    }
    return uncounted_bytes();
  }

  // `shared` may be null.
  void* FromSystem(size_t bytes, SharedBlocks* shared) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    void* const block = MakeRoom(bytes, RoomFor::kNewBlock) ? Unused(bytes, shared) : nullptr;
    if (block == nullptr) return nullptr;
    system_allocations_.fetch_add(1, std::memory_order_relaxed);
    system_bytes_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    return block;
  }

  void* Unused(size_t bytes, SharedBlocks* shared) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (shared != nullptr && bytes >= kShareFrom && bytes < kHugePage) {
      if (void* const block = SharedBlock(bytes, *shared)) {
        shared_bytes_ += static_cast<int64_t>(bytes);
        return block;
      }
    }
    const size_t alignment = bytes >= kHugePage ? kHugePage : kTensorAlignment;
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* block = std::aligned_alloc(alignment, rounded);
    if (block == nullptr) return nullptr;
    if (bytes >= kHugePage) {
      ++huge_blocks_;
      madvise(block, rounded, MADV_HUGEPAGE);
    }
    return block;
  }

  void* SharedBlock(size_t bytes, SharedBlocks& shared) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::vector<void*>& emptied = emptied_[bytes];
    if (emptied.empty()) return shared.Cut(bytes);
    void* const block = emptied.back();
    emptied.pop_back();
    return block;
  }

  void ToSystem(void* block, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SharedBlocks* const shared = SharedBlocks::Opened();
    if (shared != nullptr && shared->Holds(block)) {
      shared->Empty(block, bytes);
      emptied_[bytes].push_back(block);
      shared_bytes_ -= static_cast<int64_t>(bytes);
    } else {
      std::free(block);
      if (bytes >= kHugePage) --huge_blocks_;
    }
    system_bytes_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }

  bool Carve(FreeList& list, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    char* chunk = static_cast<char*>(FromSystem(kChunkBytes, nullptr));
    if (chunk == nullptr) return false;
    for (size_t at = kChunkBytes / bytes * bytes; at >= bytes; at -= bytes) {
      list.Push(chunk + at - bytes, bytes);
    }
    return true;
  }

  // Frees the largest blocks first, because few calls then return much memory.
  void TrimTo(int64_t idle_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    int64_t idle = this->idle_bytes();
    for (int c = kSizeClasses - 1; c >= kCarvedClasses; --c) {
      while (idle > idle_bytes && FreeOne(c)) idle -= static_cast<int64_t>(SizeOfClass(c));
    }
  }

  // Returns a free block of a class above kCarvedLimit to the system. False if there is none.
  bool FreeOne(int size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const size_t bytes = SizeOfClass(size_class);
    void* block = lists_[size_class].Pop(bytes);
    if (block == nullptr) block = shelves_[size_class].Take();
    if (block == nullptr) return false;
    SLUICE_UNPOISON(block, bytes);
    CountTaken(size_class);
    ToSystem(block, bytes);
    return true;
  }

  std::array<Shelf, kSizeClasses> shelves_;  // for classes above kCarvedLimit
  Mutex mutex_;
  std::array<FreeList, kSizeClasses> lists_ ABSL_GUARDED_BY(mutex_);
  std::map<size_t, std::vector<void*>> emptied_ ABSL_GUARDED_BY(mutex_);  // shared blocks, by size
  std::array<Idle, kSizeClasses> idle_;  // for classes above kCarvedLimit
  std::atomic<int64_t> limit_{0};
  int64_t shared_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of system_bytes_
  int64_t huge_blocks_ ABSL_GUARDED_BY(mutex_) = 0;   // of kHugePage and more
  int64_t base_bytes_ ABSL_GUARDED_BY(mutex_) = 0;    // uncounted when the limit was set
  std::chrono::steady_clock::time_point measured_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> uncounted_bytes_{0};
  std::atomic<int64_t> system_allocations_{0};
  std::atomic<int64_t> system_bytes_{0};
};

}  // namespace

// The free blocks of one thread, up to kCarvedLimit.
class PoolAllocator::ThreadCache {
 public:
  void* Take(int size_class) {
    if (void* block = lists_[size_class].Pop(SizeOfClass(size_class))) return block;
    return CentralLists::Get().Take(size_class, &lists_[size_class]);
  }

  void Give(int size_class, void* block) {
    const size_t bytes = SizeOfClass(size_class);
    FreeList& list = lists_[size_class];
    if (static_cast<size_t>(list.count) * bytes >= kThreadBytes) {
      while (static_cast<size_t>(list.count) * bytes > kThreadBytes / 2) {
        CentralLists::Get().Give(size_class, list.Pop(bytes));
      }
    }
    list.Push(block, bytes);
  }

  ~ThreadCache() {
    for (int c = 0; c < kCarvedClasses; ++c) {
      while (void* block = lists_[c].Pop(SizeOfClass(c))) CentralLists::Get().Give(c, block);
    }
  }

 private:
  std::array<FreeList, kCarvedClasses> lists_;
};

namespace {

// Null before the thread's first block and after its end.
thread_local PoolAllocator::ThreadCache* t_cache = nullptr;

struct CacheOwner {
  bool ended = false;
  PoolAllocator::ThreadCache* cache = nullptr;
  ~CacheOwner();
};
thread_local CacheOwner t_owner;

CacheOwner::~CacheOwner() {
  delete cache;
  t_cache = nullptr;
  ended = true;
}

// False if the thread is ending. Its last blocks then go through the shared lists.
bool OpenCache() {
  if (t_owner.ended) return false;
  t_owner.cache = t_cache = new PoolAllocator::ThreadCache;
  return true;
}

}  // namespace

PoolAllocator& PoolAllocator::Global() {
  static PoolAllocator* allocator = new PoolAllocator;
  return *allocator;
}

void* PoolAllocator::Allocate(size_t bytes) {
  if (bytes > kLargestBlock) [[unlikely]]
    return nullptr;
  const int size_class = SizeClassOf(bytes);
  if (bytes > kCarvedLimit || (t_cache == nullptr && !OpenCache())) {
    return CentralLists::Get().Take(size_class, nullptr);
  }
  return t_cache->Take(size_class);
}

void PoolAllocator::Deallocate(void* block, size_t bytes) {
  const int size_class = SizeClassOf(bytes);
  if (bytes > kCarvedLimit || (t_cache == nullptr && !OpenCache())) {
    CentralLists::Get().Give(size_class, block);
    return;
  }
  t_cache->Give(size_class, block);
}

int64_t PoolAllocator::SystemAllocations() const {
  return CentralLists::Get().system_allocations();
}
int64_t PoolAllocator::SystemBytes() const { return CentralLists::Get().system_bytes(); }
int64_t PoolAllocator::BytesInUse() const {
  return CentralLists::Get().system_bytes() - CentralLists::Get().idle_bytes();
}
void PoolAllocator::Trim() { CentralLists::Get().Trim(); }
int64_t PoolAllocator::TrimUnused() { return CentralLists::Get().TrimUnused(); }

void PoolAllocator::SetLimit(int64_t bytes) {
  CentralLists::Get().SetLimit(bytes);
  SetHeapRoom([](size_t room, RoomFor use) { return CentralLists::Get().HasRoom(room, use); });
}
int64_t PoolAllocator::Limit() const { return CentralLists::Get().limit(); }
int64_t PoolAllocator::LimitedBytes() const {
  return CentralLists::Get().limited_bytes() + CentralLists::Get().uncounted_bytes();
}

}  // namespace sluice
