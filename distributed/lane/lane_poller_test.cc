#include "distributed/lane/lane_poller.h"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace sluice {
namespace {

// The reading end of a pipe. Passes each byte to a function.
class Pipe final : public LanePoller::Source {
 public:
  explicit Pipe(std::function<void(Pipe&, char)> on_byte) : on_byte_(std::move(on_byte)) {
    EXPECT_EQ(pipe(ends_), 0);
  }
  ~Pipe() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  int fd() const override { return ends_[0]; }
  void Readable() override {
    char byte;
    ASSERT_EQ(read(ends_[0], &byte, 1), 1);
    on_byte_(*this, byte);
  }
  void Write(const std::string& bytes) {
    ASSERT_EQ(write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

 private:
  int ends_[2];
  const std::function<void(Pipe&, char)> on_byte_;
};

TEST(LanePoller, ASourceIsReadOnceEachTimeItIsArmed) {
  LanePoller poller;
  std::string read;
  std::promise<void> has_two, has_three;
  const auto pipe = std::make_shared<Pipe>([&](Pipe& self, char byte) {
    read += byte;
    if (read.size() == 2) return has_two.set_value();  // without arming it
    if (read.size() == 3) has_three.set_value();
    poller.Arm(self);
  });
  poller.Add(pipe);
  pipe->Write("abc");
  has_two.get_future().wait();
  EXPECT_EQ(read, "ab");
  poller.Arm(*pipe);
  has_three.get_future().wait();
  EXPECT_EQ(read, "abc");
  poller.Stop();
}

TEST(LanePoller, AnotherThreadListensWhileOneBlocks) {
  LanePoller poller;
  std::latch may_end(1);
  std::promise<void> other_was_read;
  const auto blocks = std::make_shared<Pipe>([&](Pipe&, char) {
    EXPECT_TRUE(poller.MayBlock().ok());
    may_end.wait();
  });
  const auto other = std::make_shared<Pipe>([&](Pipe&, char) { other_was_read.set_value(); });
  poller.Add(blocks);
  poller.Add(other);
  blocks->Write("x");
  other->Write("x");
  other_was_read.get_future().wait();
  may_end.count_down();
  poller.Stop();
}

TEST(LanePoller, ARemovedSourceIsReleased) {
  LanePoller poller;
  auto pipe = std::make_shared<Pipe>([](Pipe&, char) {});
  const std::weak_ptr<Pipe> watched = pipe;
  poller.Add(pipe);
  poller.Remove(*pipe);
  pipe.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(LanePoller, TicksAfterTheTimeThatTheLastOneSet) {
  std::promise<void> third, woken;
  int ticks = 0;
  LanePoller poller([&] {
    ++ticks;
    if (ticks == 3) third.set_value();
    if (ticks == 4) woken.set_value();
    return ticks < 3 ? 1 : 1'000'000;
  });
  poller.Add(std::make_shared<Pipe>([](Pipe&, char) {}));
  third.get_future().wait();
  poller.Wake();  // the next tick would be in a quarter of an hour
  woken.get_future().wait();
  poller.Stop();
}

TEST(LanePoller, StopWaitsForWorkOfOtherThreads) {
  LanePoller poller;
  std::atomic<int> done{0};
  for (int i = 0; i < 5; ++i) poller.RunElsewhere([&](const absl::Status&) { ++done; });
  poller.Stop();
  EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace sluice
