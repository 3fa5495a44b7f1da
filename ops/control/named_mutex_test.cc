#include "ops/control/named_mutex.h"

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

// A caller that requests the mutex, and the result of its request.
struct Asker {
  explicit Asker(std::string name) : node(std::move(name)) {}
  void Ask(NamedMutex& mutex, CancellationManager* cancellation = nullptr,
           Stalls* stalls = nullptr) {
    mutex.Acquire({.cancellation = cancellation, .stalls = stalls, .node = node, .op = "MutexLock"},
                  [this](absl::StatusOr<Variant> hold) { result = std::move(hold); });
  }
  bool HasLock() const { return result && result->ok(); }
  void Drop() { result.reset(); }
  std::string node;
  std::optional<absl::StatusOr<Variant>> result;
};

TEST(NamedMutexTest, GoesFromOneToTheNextInOrder) {
  auto mutex = std::make_shared<NamedMutex>("m");
  Asker a("a"), b("b"), c("c");
  a.Ask(*mutex);
  b.Ask(*mutex);
  c.Ask(*mutex);
  EXPECT_TRUE(a.HasLock());
  EXPECT_FALSE(b.result || c.result);
  a.Drop();
  EXPECT_TRUE(b.HasLock());
  EXPECT_FALSE(c.result);
  EXPECT_TRUE((*b.result)->get<MutexHold>()->Consume());
  EXPECT_TRUE(c.HasLock());
}

TEST(NamedMutexTest, ALockIsConsumedOnce) {
  auto mutex = std::make_shared<NamedMutex>("m");
  Asker a("a"), b("b");
  a.Ask(*mutex);
  const MutexHold* hold = (*a.result)->get<MutexHold>();
  EXPECT_TRUE(hold->Consume());
  EXPECT_FALSE(hold->Consume());
  b.Ask(*mutex);
  a.Drop();  // b keeps the mutex
  EXPECT_EQ(mutex->DebugString(), "mutex 'm': held by 'b', 0 waiting");
}

TEST(NamedMutexTest, ACancelledWaitLeavesTheLine) {
  auto mutex = std::make_shared<NamedMutex>("m");
  CancellationManager cancellation;
  Asker a("a"), b("b"), c("c"), late("late");
  a.Ask(*mutex);
  b.Ask(*mutex, &cancellation);
  c.Ask(*mutex);
  cancellation.StartCancel();
  ASSERT_TRUE(b.result);
  EXPECT_EQ(b.result->status(), absl::CancelledError("Lock acquisition cancelled."));
  late.Ask(*mutex, &cancellation);
  EXPECT_TRUE(absl::IsCancelled(late.result->status()));
  a.Drop();
  EXPECT_TRUE(c.HasLock());
}

TEST(NamedMutexTest, AWaitIsShownWithTheHolder) {
  auto mutex = std::make_shared<NamedMutex>("m");
  Stalls stalls;
  Asker a("a"), b("b");
  a.Ask(*mutex);
  b.Ask(*mutex, nullptr, &stalls);
  const std::vector<Stalls::Report> reports = stalls.Describe();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].node, "b");
  EXPECT_EQ(reports[0].resource, "mutex 'm'");
  EXPECT_EQ(reports[0].state, "held by 'a', 1 waiting");
  a.Drop();
  EXPECT_TRUE(stalls.Describe().empty());
}

}  // namespace
}  // namespace sluice
