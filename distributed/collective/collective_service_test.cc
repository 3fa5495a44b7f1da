#include "distributed/collective/collective_service.h"

#include <memory>
#include <optional>
#include <string>

#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "distributed/testing/fake_call.h"
#include "distributed/testing/loopback.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// Has the CollectiveServices of two workers, of which the first is the leader.
class CollectiveServiceTest : public ::testing::Test {
 protected:
  struct Task {
    std::string device;
    std::shared_ptr<Collectives> collectives;
    std::unique_ptr<CollectiveService> service;
  };

  CollectiveServiceTest() {
    ClusterSpec spec;
    for (int i = 0; i < 2; ++i) spec.SetAddress({"worker", i}, "worker:" + std::to_string(i));
    for (int i = 0; i < 2; ++i) {
      const TaskName name = {"worker", i};
      Task& task = tasks_[i];
      task.device = name.ToString() + "/device:CPU:0";
      task.collectives =
          std::make_shared<Collectives>(std::map<std::string, uint64_t>{{task.device, 10u + i}});
      task.service =
          std::make_unique<CollectiveService>(Cluster{spec, name}, &loopback_, task.collectives);
    }
  }
  void Serve(int task) {
    loopback_.Serve("worker:" + std::to_string(task), tasks_[task].service->Methods());
  }
  // Starts an all-reduce on a task. Its result goes to results_.
  void Start(int task, float value, CancellationManager* cancellation = nullptr) {
    CollectiveCall call;
    call.group_key = 1;
    call.group_size = 2;
    call.instance_key = 2;
    call.device = tasks_[task].device;
    call.node = "sum";
    call.op = "CollectiveReduce";
    call.step_id = task + 100;
    call.input = Tensor::Scalar(value);
    call.dtype = DT_FLOAT;
    call.cancellation = cancellation;
    call.done = [this, task](absl::StatusOr<Tensor> result) { results_[task] = std::move(result); };
    tasks_[task].collectives->Start(std::move(call));
  }
  absl::Status Call(int task, const char* method, const google::protobuf::Message& request) {
    FakeCall call(EncodeMessage(request));
    for (const RpcMethod& served : tasks_[task].service->Methods()) {
      if (served.path == WorkerMethod(method)) served.handle(call);
    }
    return call.Await().status();
  }

  Loopback loopback_;
  Task tasks_[2];
  std::optional<absl::StatusOr<Tensor>> results_[2];
};

TEST_F(CollectiveServiceTest, TheLeaderIsTheFirstWorker) {
  for (const Task& task : tasks_) {
    EXPECT_EQ(task.service->leader(), "/job:worker/replica:0/task:0");
  }
}

TEST_F(CollectiveServiceTest, MembersOnTwoTasksShareTheSum) {
  Serve(0);
  Serve(1);
  Start(1, 3.0f);
  EXPECT_FALSE(results_[1].has_value());
  Start(0, 4.0f);
  for (const auto& result : results_) {
    ASSERT_TRUE(result && result->ok());
    EXPECT_EQ((*result)->scalar<float>(), 7);
  }
}

TEST_F(CollectiveServiceTest, AMemberWaitsForALeaderThatStartsLater) {
  Serve(1);
  Start(1, 3.0f);
  Serve(0);
  Start(0, 4.0f);
  ASSERT_TRUE(results_[1] && results_[1]->ok());
}

TEST_F(CollectiveServiceTest, StopEndsTheCallsOfTheTask) {
  Serve(0);
  Serve(1);
  Start(0, 3.0f);
  tasks_[0].service->Stop();
  ASSERT_TRUE(results_[0].has_value());
  EXPECT_EQ(results_[0]->status(),
            absl::CancelledError("the server of /job:worker/replica:0/task:0 stops"));
}

TEST_F(CollectiveServiceTest, InvalidRequestsAreRefused) {
  pb::CompleteGroupRequest group;
  EXPECT_THAT(Call(0, "CompleteGroup", group).message(),
              HasSubstr("expected a member's ticket and step"));
  group.mutable_device_attributes()->set_physical_device_desc("1 2");
  EXPECT_EQ(Call(0, "CompleteGroup", group),
            absl::InvalidArgumentError("group_size must be positive integer but got 0"));
  pb::RecvBufRequest buffer;
  buffer.set_buf_rendezvous_key("1|x|r|n|c");
  EXPECT_EQ(
      Call(0, "RecvBuf", buffer),
      absl::InvalidArgumentError("expected the key of a collective's message, got '1|x|r|n|c'"));
}

}  // namespace
}  // namespace sluice
