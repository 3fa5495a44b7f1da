#include "executor/device/memory_account.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/device/pool_allocator.h"
#include "executor/device/unused_memory.h"
#include "graph/tensor/limited_heap.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

constexpr size_t kMegabyte = 1 << 20;

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

TEST(MemoryAccount, CountsBlocksAndRefusesThoseAboveItsLimit) {
  const auto account = MemoryAccount::Open(Heap(), 10 * kMegabyte);
  void* const first = account->Allocate(6 * kMegabyte);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(account->bytes_in_use(), 6 * kMegabyte);
  EXPECT_EQ(account->Allocate(5 * kMegabyte), nullptr);
  EXPECT_EQ(account->Allocate(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(account->bytes_in_use(), 6 * kMegabyte);
  EXPECT_EQ(DescribeMemoryLimits(account.get()), "The session uses 6.0 MB of at most 10.0 MB.");
  void* const second = account->Allocate(4 * kMegabyte);
  EXPECT_NE(second, nullptr);
  account->Deallocate(first, 6 * kMegabyte);
  account->Deallocate(second, 4 * kMegabyte);
  EXPECT_EQ(account->bytes_in_use(), 0);
}

TEST(MemoryAccount, ABlockThatDoesNotFitLeavesRoomForSmallerOnes) {
  const auto account = MemoryAccount::Open(Heap(), 10 * kMegabyte);
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    while (!is_done) EXPECT_EQ(account->Allocate(20 * kMegabyte), nullptr);
  });
  int refused = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (void* const block = account->Allocate(64)) {
      account->Deallocate(block, 64);
    } else {
      ++refused;
    }
  }
  is_done = true;
  other.join();
  EXPECT_EQ(refused, 0);
}

// A variable of a server outlives the session that assigned it.
TEST(MemoryAccount, LivesAsLongAsItsLastBlock) {
  auto account = MemoryAccount::Open(Heap(), 0);
  const int64_t before = Heap().bytes_in_use();
  Buffer* const block = Buffer::New(*account, DT_UINT8, 1000);
  account = nullptr;
  EXPECT_GT(Heap().bytes_in_use(), before);
  block->Unref();
  EXPECT_EQ(Heap().bytes_in_use(), before);
}

class PoolLimitTest : public ::testing::Test {
 protected:
  ~PoolLimitTest() override { pool_.SetLimit(0); }
  // Sets a limit that is `bytes` above what the process uses now.
  void LimitTo(int64_t bytes) {
    pool_.Trim();
    pool_.SetLimit(pool_.LimitedBytes() + bytes);
  }
  PoolAllocator& pool_ = PoolAllocator::Global();
};

TEST_F(PoolLimitTest, RefusesBlocksAboveIt) {
  LimitTo(64 * kMegabyte);
  EXPECT_EQ(pool_.Allocate(80 * kMegabyte), nullptr);
  void* const block = pool_.Allocate(40 * kMegabyte);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(pool_.Allocate(40 * kMegabyte), nullptr);
  pool_.Deallocate(block, 40 * kMegabyte);
}

TEST_F(PoolLimitTest, FreeBlocksMakeRoomForOthers) {
  LimitTo(64 * kMegabyte);
  for (const size_t megabytes : {40, 33, 48, 36}) {
    void* const block = pool_.Allocate(megabytes * kMegabyte);
    ASSERT_NE(block, nullptr) << megabytes;
    pool_.Deallocate(block, megabytes * kMegabyte);
  }
}

TEST_F(PoolLimitTest, SmallBlocksMayUseTheRest) {
  LimitTo(64 * kMegabyte);
  std::vector<void*> large;
  while (void* const block = pool_.Allocate(kMegabyte)) large.push_back(block);
  EXPECT_GT(large.size(), 40u);
  std::vector<void*> small;
  for (int i = 0; i < 100; ++i) small.push_back(pool_.Allocate(16 << 10));
  for (void* const block : small) {
    EXPECT_NE(block, nullptr);
    pool_.Deallocate(block, 16 << 10);
  }
  for (void* const block : large) pool_.Deallocate(block, kMegabyte);
}

TEST_F(PoolLimitTest, CountsTheHeapAndLimitsIt) {
  LimitTo(64 * kMegabyte);
  Buffer* const of_heap = Buffer::New(LimitedHeap(), DT_UINT8, 40 * kMegabyte);
  ASSERT_NE(of_heap, nullptr);
  EXPECT_EQ(pool_.Allocate(40 * kMegabyte), nullptr);
  EXPECT_EQ(Buffer::New(LimitedHeap(), DT_UINT8, 40 * kMegabyte), nullptr);
  of_heap->Unref();
  void* const block = pool_.Allocate(40 * kMegabyte);
  EXPECT_NE(block, nullptr);
  pool_.Deallocate(block, 40 * kMegabyte);
}

// A client could take all memory in constants of 60 KB.
TEST_F(PoolLimitTest, CountsSmallBlocksOfTheHeap) {
  LimitTo(64 * kMegabyte);
  std::vector<Buffer*> buffers;
  while (Buffer* const buffer = Buffer::New(LimitedHeap(), DT_UINT8, 60'000)) {
    buffers.push_back(buffer);
    ASSERT_LT(buffers.size(), 2000u);
  }
  EXPECT_GT(buffers.size(), 900u);
  for (Buffer* const buffer : buffers) buffer->Unref();
  Buffer* const again = Buffer::New(LimitedHeap(), DT_UINT8, 60'000);
  ASSERT_NE(again, nullptr);
  again->Unref();
}

TEST_F(PoolLimitTest, CountsHeldBytes) {
  LimitTo(64 * kMegabyte);
  HeldBytes message;
  ASSERT_TRUE(message.Add(30 * kMegabyte));
  HeldBytes other = std::move(message);
  ASSERT_TRUE(other.Add(10 * kMegabyte));
  EXPECT_FALSE(message.Add(40 * kMegabyte));
  EXPECT_EQ(pool_.Allocate(40 * kMegabyte), nullptr);
  other = HeldBytes();
  EXPECT_TRUE(message.Add(40 * kMegabyte));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Strings grew beyond the limit until the system refused.
TEST_F(PoolLimitTest, CountsWhatElseTheHeapHolds) {
  LimitTo(128 * kMegabyte);
  std::vector<std::string> strings;
  for (int i = 0; i < 100'000; ++i) strings.emplace_back(1000, 'x');
  EXPECT_EQ(pool_.Allocate(60 * kMegabyte), nullptr);
  EXPECT_GT(pool_.LimitedBytes(), pool_.Limit() - 40 * static_cast<int64_t>(kMegabyte));
  void* const small = pool_.Allocate(16 << 10);
  EXPECT_NE(small, nullptr);
  pool_.Deallocate(small, 16 << 10);
}
#endif

// A server kept 2.5 GB after a large graph had ended.
TEST(UnusedMemory, GoesBackToTheSystem) {
  PoolAllocator& pool = PoolAllocator::Global();
  UnusedMemory unused;
  const int64_t before = ResidentBytes();
  std::vector<std::pair<void*, size_t>> blocks;
  for (const size_t bytes : {100 * kMegabyte, 30 * kMegabyte, kMegabyte, kMegabyte / 8}) {
    for (size_t total = 0; total < 100 * kMegabyte; total += bytes) {
      blocks.emplace_back(pool.Allocate(bytes), bytes);
      std::memset(blocks.back().first, 1, bytes);
    }
  }
  for (const auto& [block, bytes] : blocks) pool.Deallocate(block, bytes);
  unused.Return();  // the blocks were used since the last call
  unused.Return();
  EXPECT_LT(ResidentBytes() - before, 32 * static_cast<int64_t>(kMegabyte));
}

TEST(UnusedMemory, OfStringsGoesBackToTheSystem) {
  UnusedMemory unused;
  const int64_t before = ResidentBytes();
  std::string* const kept = [] {
    std::vector<std::string> strings;
    for (int i = 0; i < 200'000; ++i) strings.emplace_back(1000, 'x');
    return new std::string(1000, 'y');  // above all of them in memory
  }();
  for (int i = 0; i < 3; ++i) unused.Return();
  EXPECT_LT(ResidentBytes() - before, 64 * static_cast<int64_t>(kMegabyte));
  delete kept;
}

TEST(UnusedMemory, StepsThatRunKeepTheirBlocks) {
  PoolAllocator& pool = PoolAllocator::Global();
  const auto step = [&pool] {
    std::vector<std::pair<void*, size_t>> blocks;
    for (const size_t bytes : {50 * kMegabyte, kMegabyte, kMegabyte, kMegabyte / 8}) {
      blocks.emplace_back(pool.Allocate(bytes), bytes);
    }
    for (const auto& [block, bytes] : blocks) pool.Deallocate(block, bytes);
  };
  UnusedMemory unused;
  step();
  unused.Return();
  const int64_t before = pool.SystemAllocations();
  for (int i = 0; i < 5; ++i) {
    step();
    unused.Return();
  }
  EXPECT_EQ(pool.SystemAllocations(), before);
}

TEST(SystemMemory, IsThatOfTheContainerIfItHasALimit) {
  EXPECT_GT(SystemMemoryBytes(), 0);
  const int64_t container = ContainerMemoryBytes();
  EXPECT_TRUE(container == 0 || SystemMemoryBytes() <= container) << container;
}

}  // namespace
}  // namespace sluice
