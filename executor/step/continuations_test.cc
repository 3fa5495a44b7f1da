#include "executor/step/continuations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "executor/step/outbox.h"

namespace sluice {
namespace {

struct Logged final : Continuation {
  Logged(std::string n, std::vector<std::string>* l) : name(std::move(n)), log(l) {}
  void GoOnHere() override {
    log->push_back(name + " here");
    if (next != nullptr) ContinuationScope::Current()->Add(next);
  }
  void GoOnElsewhere() override { log->push_back(name + " elsewhere"); }
  const std::string name;
  std::vector<std::string>* const log;
  Logged* next = nullptr;
};

TEST(ContinuationScope, GoesOnAtItsEndOnceWithEachAndWithWhatThatAdds) {
  std::vector<std::string> log;
  Logged a("a", &log), b("b", &log);
  a.next = &b;
  EXPECT_EQ(ContinuationScope::Current(), nullptr);
  {
    ContinuationScope scope;
    EXPECT_TRUE(scope.Add(&a));
    EXPECT_FALSE(scope.Add(&a));
    std::thread([] { EXPECT_EQ(ContinuationScope::Current(), nullptr); }).join();
    EXPECT_TRUE(log.empty());
  }
  EXPECT_EQ(log, (std::vector<std::string>{"a here", "b here"}));
}

// A thread that begins long work, or work that waits, must not delay the continuations of its
// scope.
TEST(ContinuationScope, AllGoesOnElsewhereBeforeWork) {
  std::vector<std::string> log;
  Logged a("a", &log), b("b", &log);
  ContinuationScope::BeforeWork();  // without a scope
  ContinuationScope scope;
  scope.Add(&a);
  scope.Add(&b);
  ContinuationScope::BeforeWork();
  EXPECT_EQ(log, (std::vector<std::string>{"a elsewhere", "b elsewhere"}));
  EXPECT_TRUE(scope.is_empty());
}

struct Counted final : Outbox::Sender {
  void SendKept() override { ++times; }
  int times = 0;
};

TEST(Outbox, SendsWhenItIsFlushedClosedAndAtItsEnd) {
  const auto sender = std::make_shared<Counted>();
  {
    Outbox outbox;
    const Outbox inner;  // does nothing
    EXPECT_EQ(Outbox::Current(), &outbox);
    outbox.Add(sender);
    outbox.Add(sender);
    Outbox::Flush();
    EXPECT_EQ(sender->times, 1);
    Outbox::Flush();
    EXPECT_EQ(sender->times, 1);
    outbox.Add(sender);
    {
      const Outbox::Closed closed;
      EXPECT_EQ(sender->times, 2);
      EXPECT_EQ(Outbox::Current(), nullptr);
    }
    Outbox::Current()->Add(sender);
  }
  EXPECT_EQ(sender->times, 3);
  EXPECT_EQ(Outbox::Current(), nullptr);
  Outbox::Flush();
}

}  // namespace
}  // namespace sluice
