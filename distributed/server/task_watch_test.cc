// Tests announcements of a task and the watches of other tasks.
#include "distributed/server/task_watch.h"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "distributed/cluster/address_book.h"
#include "distributed/message/bytes.h"
#include "distributed/message/respond.h"
#include "distributed/message/service_methods.h"
#include "distributed/proto/worker.pb.h"
#include "distributed/server/announcements.h"
#include "distributed/testing/fake_call.h"
#include "distributed/testing/loopback.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

uint64_t CountIn(const absl::StatusOr<grpc::ByteBuffer>& response) {
  uint64_t count = 99;
  EXPECT_TRUE(response.ok() && DecodeCount(*response, &count).ok()) << response.status();
  return count;
}

TEST(Announcements, AWatcherGetsTheirNumberWhenThereAreMore) {
  Announcements announcements;
  const RpcMethod method = announcements.Method();
  announcements.Announce();
  FakeCall behind(EncodeCount(0));
  method.handle(behind);
  EXPECT_EQ(CountIn(behind.Await()), 1u);
  FakeCall waits(EncodeCount(1));
  method.handle(waits);
  EXPECT_FALSE(waits.is_finished());
  announcements.Announce();
  EXPECT_EQ(CountIn(waits.Await()), 2u);
}

TEST(Announcements, AWatcherMayGiveUp) {
  Announcements announcements;
  FakeCall waits(EncodeCount(0));
  announcements.Method().handle(waits);
  waits.cancellation().StartCancel();
  EXPECT_EQ(waits.Await().status().code(), absl::StatusCode::kCancelled);
  announcements.Announce();  // finds no watcher
  FakeCall cancelled(EncodeCount(1));
  cancelled.cancellation().StartCancel();
  announcements.Method().handle(cancelled);
  EXPECT_EQ(cancelled.Await().status().code(), absl::StatusCode::kCancelled);
}

TEST(Announcements, StopEndsPresentAndLaterCalls) {
  Announcements announcements;
  FakeCall waits(EncodeCount(0)), late(EncodeCount(0));
  announcements.Method().handle(waits);
  announcements.Stop();
  announcements.Method().handle(late);
  for (FakeCall* call : {&waits, &late}) {
    EXPECT_EQ(call->Await().status(), absl::UnavailableError("the server stops"));
  }
}

// Like a call over gRPC, it may be freed as soon as it was finished.
class ShortCall final : public RpcCall {
 public:
  explicit ShortCall(std::atomic<int>* ended) : ended_(ended) {}
  grpc::ByteBuffer& request() override { return request_; }
  CancellationManager& cancellation() override { return cancellation_; }
  void Finish(const absl::StatusOr<grpc::ByteBuffer>&) override {
    ++*ended_;
    delete this;
  }

 private:
  std::atomic<int>* const ended_;
  grpc::ByteBuffer request_ = EncodeCount(0);
  CancellationManager cancellation_;
};

TEST(Announcements, AnAnnouncementMayEndACallThatIsJustBeginning) {
  constexpr int kCalls = 2000;
  Announcements announcements;
  std::atomic<int> ended{0};
  std::thread announcer([&] {
    while (ended < kCalls) announcements.Announce();
  });
  const RpcMethod method = announcements.Method();
  for (int i = 0; i < kCalls; ++i) method.handle(*new ShortCall(&ended));
  announcer.join();
  EXPECT_EQ(ended, kCalls);
}

TEST(Announcements, ADamagedRequestIsRefused) {
  Announcements announcements;
  FakeCall call(BytesOf("seven"));
  announcements.Method().handle(call);
  EXPECT_EQ(call.Await().status(),
            absl::InvalidArgumentError("damaged message: expected a number of 8 bytes"));
}

// A task that can be watched.
class WatchedTask {
 public:
  std::vector<RpcMethod> Methods() {
    return {UnaryMethod(WorkerMethod("GetStatus"), this, &WatchedTask::GetStatus),
            announcements_.Method()};
  }
  Announcements& announcements() { return announcements_; }

 private:
  absl::Status GetStatus(const pb::GetStatusRequest&, pb::GetStatusResponse*) {
    return absl::OkStatus();
  }
  Announcements announcements_;
};

class TaskWatchTest : public ::testing::Test {
 protected:
  TaskWatchTest() { addresses_.Set({"ps", 0}, "ps:1"); }
  void Watch() {
    watch_.emplace(
        TaskName{"ps", 0}, &addresses_, &loopback_,
        TaskWatch::Handlers{.is_there = [this] { events_.push_back("there"); },
                            .gone =
                                [this](const absl::Status& why) {
                                  events_.push_back("gone: " + std::string(why.message()));
                                },
                            .announced = [this] { events_.push_back("announced"); }});
  }

  AddressBook addresses_{ClusterSpec()};
  Loopback loopback_;
  WatchedTask task_;
  std::vector<std::string> events_;
  std::optional<TaskWatch> watch_;
};

TEST_F(TaskWatchTest, ReportsATaskThatStartsLaterAndItsAnnouncements) {
  Watch();
  EXPECT_THAT(events_, ElementsAre());
  loopback_.Serve("ps:1", task_.Methods());
  EXPECT_THAT(events_, ElementsAre("there"));
  task_.announcements().Announce();
  task_.announcements().Announce();
  EXPECT_THAT(events_, ElementsAre("there", "announced", "announced"));
}

TEST_F(TaskWatchTest, ReportsAnnouncementsFromBeforeTheWatch) {
  task_.announcements().Announce();
  loopback_.Serve("ps:1", task_.Methods());
  Watch();
  EXPECT_THAT(events_, ElementsAre("there", "announced"));
}

TEST_F(TaskWatchTest, ReportsATaskThatGoesAndRestarts) {
  loopback_.Serve("ps:1", task_.Methods());
  Watch();
  loopback_.Stop("ps:1");
  task_.announcements().Stop();
  EXPECT_THAT(events_, ElementsAre("there", "gone: the server stops"));
  WatchedTask next;
  loopback_.Serve("ps:1", next.Methods());
  next.announcements().Announce();
  EXPECT_THAT(events_, ElementsAre("there", "gone: the server stops", "there", "announced"));
  watch_.reset();
}

TEST_F(TaskWatchTest, StopsAtAnErrorThatStays) {
  loopback_.Serve("ps:1", {{WorkerMethod("GetStatus"), [](RpcCall& call) {
                              call.Finish(absl::UnauthenticatedError("no token"));
                            }}});
  Watch();
  EXPECT_THAT(events_, ElementsAre());
  watch_.reset();  // returns: no call is open
}

TEST_F(TaskWatchTest, TheDestructorCancelsTheOpenCall) {
  loopback_.Serve("ps:1", task_.Methods());
  Watch();
  watch_.reset();
  task_.announcements().Announce();
  EXPECT_THAT(events_, ElementsAre("there"));
}

}  // namespace
}  // namespace sluice
