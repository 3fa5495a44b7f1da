#include "executor/device/pool_allocator.h"

#include <sys/mman.h>

#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "executor/device/shared_blocks.h"
#include "executor/device/size_class.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(SizeClass, HoldsTheSizeAndWastesAtMostAnEighth) {
  for (size_t bytes = 1; bytes < (size_t{1} << 40); bytes += 1 + bytes / 7) {
    for (size_t n : {bytes, bytes + 1}) {
      const size_t held = SizeOfClass(SizeClassOf(n));
      ASSERT_GE(held, n);
      if (n > kFineLimit) {
        ASSERT_LE(held - n, n / 8 + 1);
      }
      if (SizeClassOf(n) > 0) {
        ASSERT_LT(SizeOfClass(SizeClassOf(n) - 1), n);
      }
    }
  }
  EXPECT_LT(SizeClassOf(kLargestBlock), kSizeClasses);
}

TEST(PoolAllocator, BlocksAreAlignedAndDistinct) {
  PoolAllocator& pool = PoolAllocator::Global();
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t bytes : {1u, 64u, 65u, 1000u, 5000u, 70000u, 3000000u}) {
    for (int i = 0; i < 5; ++i) {
      char* block = static_cast<char*>(pool.Allocate(bytes));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kTensorAlignment, 0u);
      std::memset(block, static_cast<int>(blocks.size()), bytes);
      blocks.emplace_back(block, bytes);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].first[0], static_cast<char>(i));
    EXPECT_EQ(blocks[i].first[blocks[i].second - 1], static_cast<char>(i));
  }
  for (auto [block, bytes] : blocks) pool.Deallocate(block, bytes);
}

TEST(PoolAllocator, WarmUseAsksNothingOfTheSystem) {
  PoolAllocator& pool = PoolAllocator::Global();
  auto step = [&] {
    std::vector<std::pair<void*, size_t>> blocks;
    for (size_t bytes = 64; bytes < (4u << 20); bytes = bytes * 3 / 2) {
      for (int i = 0; i < 3; ++i) blocks.emplace_back(pool.Allocate(bytes), bytes);
    }
    for (auto [block, bytes] : blocks) pool.Deallocate(block, bytes);
  };
  step();
  const int64_t before = pool.SystemAllocations();
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(pool.SystemAllocations(), before);
}

TEST(PoolAllocator, BlocksFreedByAnotherThreadComeBack) {
  PoolAllocator& pool = PoolAllocator::Global();
  int64_t before = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(pool.Allocate(1 << 20));
    std::thread([&] {
      for (void* block : blocks) pool.Deallocate(block, 1 << 20);
    }).join();
    if (round == 2) before = pool.SystemBytes();
  }
  EXPECT_EQ(pool.SystemBytes(), before);
}

TEST(PoolAllocator, ABlockThatGoesFromThreadToThreadIsTheOnlyOne) {
  PoolAllocator& pool = PoolAllocator::Global();
  constexpr size_t kBytes = 5 << 20;
  pool.Deallocate(pool.Allocate(kBytes), kBytes);
  const int64_t before = pool.SystemBytes();
  std::vector<std::thread> threads;  // no thread ends before all have used it
  std::promise<void> done;
  std::shared_future<void> ended = done.get_future().share();
  for (int i = 0; i < 8; ++i) {
    std::promise<void> freed;
    void* const block = pool.Allocate(kBytes);
    threads.emplace_back([&, ended, block] {
      pool.Deallocate(block, kBytes);
      freed.set_value();
      ended.wait();
    });
    freed.get_future().wait();
  }
  EXPECT_EQ(pool.SystemBytes(), before);
  done.set_value();
  for (std::thread& thread : threads) thread.join();
}

TEST(PoolAllocator, ManyThreadsNeverShareABlock) {
  PoolAllocator& pool = PoolAllocator::Global();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 5000; ++i) {
        const size_t bytes = 6000 + 1000 * (i % 3);
        int* const block = static_cast<int*>(pool.Allocate(bytes));
        block[0] = block[bytes / sizeof(int) - 1] = t;
        std::this_thread::yield();
        ASSERT_TRUE(block[0] == t && block[bytes / sizeof(int) - 1] == t);
        pool.Deallocate(block, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// All later blocks of the process are shared, so these tests come last.
TEST(SharedBlocks, HoldThePoolsBlocksAndGiveTheirPagesBack) {
  SharedBlocks* const shared = SharedBlocks::Open();
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(SharedBlocks::Open(), shared);
  PoolAllocator& pool = PoolAllocator::Global();
  constexpr size_t kBytes = 40 << 10;
  char* const block = static_cast<char*>(pool.Allocate(kBytes));
  ASSERT_TRUE(shared->Holds(block) && shared->Holds(block + kBytes - 1));
  EXPECT_FALSE(shared->Holds(shared->begin() - 1));
  EXPECT_FALSE(shared->Holds(shared->begin() + shared->bytes()));
  std::memset(block, 1, kBytes);
  pool.Deallocate(block, kBytes);
  const int64_t before = pool.SystemBytes();
  pool.Trim();
  EXPECT_LE(pool.SystemBytes(), before - static_cast<int64_t>(kBytes));
  std::vector<unsigned char> is_there(kBytes / SharedBlocks::kPage);
  ASSERT_EQ(mincore(block, kBytes, is_there.data()), 0);
  for (unsigned char page : is_there) EXPECT_EQ(page & 1, 0);
  EXPECT_EQ(pool.Allocate(kBytes), block);  // its addresses are reused
  EXPECT_EQ(block[0], 0);
  pool.Deallocate(block, kBytes);
}

TEST(PoolAllocator, HugeRequestsAreNull) {
  EXPECT_EQ(PoolAllocator::Global().Allocate(SIZE_MAX / 2), nullptr);
}

}  // namespace
}  // namespace sluice
