#include "executor/wait/claim.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace sluice {
namespace {

struct Counter final : Claim::Waiter {
  void OnFree() override { ++told; }
  int told = 0;
};

TEST(ClaimTest, IsOfOneAloneOrOfManyThatLook) {
  Claim claim;
  ASSERT_TRUE(claim.try_lock());
  EXPECT_FALSE(claim.try_lock());
  EXPECT_FALSE(claim.try_lock_shared());
  claim.unlock();
  ASSERT_TRUE(claim.try_lock_shared());
  ASSERT_TRUE(claim.try_lock_shared());
  EXPECT_FALSE(claim.try_lock());
  claim.unlock_shared();
  EXPECT_FALSE(claim.try_lock()) << "one still looks";
  claim.unlock_shared();
  EXPECT_TRUE(claim.try_lock());
  claim.unlock();
}

TEST(ClaimTest, TellsWaitersOnceInTheirOrder) {
  struct InOrder final : Claim::Waiter {
    InOrder(int n, std::vector<int>* o) : number(n), order(o) {}
    void OnFree() override { order->push_back(number); }
    int number;
    std::vector<int>* order;
  };
  std::vector<int> order;
  InOrder first(1, &order), second(2, &order), third(3, &order);
  Claim claim;
  claim.lock();
  EXPECT_TRUE(claim.Await(&first));
  EXPECT_TRUE(claim.Await(&second));
  EXPECT_TRUE(claim.Await(&third));
  EXPECT_TRUE(order.empty());
  claim.unlock();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  claim.lock();
  claim.unlock();
  EXPECT_EQ(order.size(), 3) << "told again";
}

TEST(ClaimTest, KeepsNoWaiterWhereNobodyHasIt) {
  Claim claim;
  Counter counter;
  EXPECT_FALSE(claim.Await(&counter));
  claim.lock();
  claim.unlock();
  EXPECT_EQ(counter.told, 0);
}

TEST(ClaimTest, TheLastOfThoseThatLookTells) {
  Claim claim;
  Counter counter;
  claim.lock_shared();
  claim.lock_shared();
  ASSERT_TRUE(claim.Await(&counter));
  claim.lock_shared();  // more may still come
  claim.unlock_shared();
  claim.unlock_shared();
  EXPECT_EQ(counter.told, 0);
  claim.unlock_shared();
  EXPECT_EQ(counter.told, 1);
  EXPECT_TRUE(claim.try_lock());
  claim.unlock();
}

TEST(ClaimTest, AWaiterMayDestroyTheClaim) {
  struct Last final : Claim::Waiter {
    explicit Last(std::unique_ptr<Claim>* c) : claim(c) {}
    void OnFree() override { claim->reset(); }
    std::unique_ptr<Claim>* claim;
  };
  auto claim = std::make_unique<Claim>();
  Last last(&claim);
  claim->lock();
  ASSERT_TRUE(claim->Await(&last));
  claim->unlock();
  EXPECT_EQ(claim, nullptr);
}

TEST(ClaimTest, AllAreTakenOrNone) {
  std::array<Claim, 3> claims;
  const std::array<Claim*, 3> all = {&claims[0], &claims[1], &claims[2]};
  claims[2].lock();
  {
    std::array<std::unique_lock<Claim>, 3> locks;
    EXPECT_EQ(TryLockAll<Claim>(all, locks.data()), &claims[2]);
    EXPECT_TRUE(claims[0].try_lock());
    EXPECT_TRUE(claims[1].try_lock());
    claims[0].unlock();
    claims[1].unlock();
  }
  claims[2].unlock();
  std::array<std::unique_lock<Claim>, 3> locks;
  EXPECT_EQ(TryLockAll<Claim>(all, locks.data()), nullptr);
  for (Claim& claim : claims) EXPECT_FALSE(claim.try_lock());
}

// Every blocked thread is woken, and no thread sees a partial change.
TEST(ClaimTest, HoldsBetweenThreads) {
  constexpr int kThreads = 4, kRounds = 20000;
  Claim claim;
  int64_t first = 0, second = 0;
  std::atomic<int64_t> torn{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        if ((i + t) % 3 == 0) {
          std::lock_guard lock(claim);
          ++first;
          ++second;
        } else {
          std::shared_lock lock(claim);
          if (first != second) ++torn;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn.load(), 0);
  int64_t changes = 0;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kRounds; ++i) changes += (i + t) % 3 == 0 ? 1 : 0;
  }
  EXPECT_EQ(first, changes);
}

}  // namespace
}  // namespace sluice
