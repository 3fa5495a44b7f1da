#include "executor/memory/pool_allocator.h"

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "executor/memory/size_class.h"
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

TEST(PoolAllocator, HugeRequestsAreNull) {
  EXPECT_EQ(PoolAllocator::Global().Allocate(SIZE_MAX / 2), nullptr);
}

}  // namespace
}  // namespace sluice
