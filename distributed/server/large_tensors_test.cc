// Tests transfers of tensors above the size limit of gRPC messages, between tasks and to clients.
//
// With SLUICE_LARGE_TENSORS=1 the tensors have more than 2 GB; that takes 14 GB of memory and a
// minute. Otherwise the limit is lowered to 1 MB, and the tensors have 3 MB.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "distributed/client/remote_session.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "executor/testing/test_ops.h"
#include "graph/strings.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using Clock = std::chrono::steady_clock;

bool IsReal() { return std::getenv("SLUICE_LARGE_TENSORS") != nullptr; }
int64_t MessageBytes() { return IsReal() ? kGrpcMessageBytes : 1 << 20; }

// Each word of the tensor depends on its position.
Tensor Large() {
  const int64_t n = (IsReal() ? int64_t{2'300'000'000} : int64_t{3'000'000}) / 8;
  Tensor value(DT_INT64, TensorShape({n}));
  for (int64_t i = 0; i < n; ++i) value.data<int64_t>()[i] = i;
  return value;
}

void ExpectIsLarge(const absl::StatusOr<Tensors>& out) {
  ASSERT_TRUE(out.ok()) << out.status();
  const Tensor& value = (*out)[0];
  ASSERT_GT(static_cast<int64_t>(value.bytes()), MessageBytes());
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    if (value.data<int64_t>()[i] != i) FAIL() << "at " << i;
  }
}

class LargeTensors : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ClusterSpec spec;
    for (const TaskName& task : {TaskName{"ps", 0}, TaskName{"worker", 0}}) {
      spec.SetAddress(task, StrCat("127.0.0.1:", FreePort()));
    }
    for (const TaskName& task : {TaskName{"ps", 0}, TaskName{"worker", 0}}) {
      servers_.push_back(*Server::Start(
          {.cluster = {spec, task}, .grpc_message_bytes = MessageBytes(), .lanes = GetParam()}));
    }
    DeviceScope ps(g_, "/job:ps/task:0");
    x_ = Placeholder(g_, DT_INT64, {-1}, "x");
    there_ = Identity(x_, "there");
    DeviceScope worker(g_, "/job:worker/task:0");
    back_ = Identity(there_, "back");
  }
  void TearDown() override {
    std::printf("%.2f s\n", std::chrono::duration<double>(Clock::now() - begin_).count());
  }
  Server& worker() { return *servers_[1]; }

  std::vector<std::unique_ptr<Server>> servers_;
  Graph g_;
  Output x_, there_, back_;
  const Clock::time_point begin_ = Clock::now();
};

// The feed goes to the parameter server with the request to run its part. The worker requests the
// result with RecvTensor.
TEST_P(LargeTensors, BetweenTasks) {
  const auto session = *worker().NewSession(g_);
  ExpectIsLarge(session->Run({{x_, Large()}}, {back_}));
}

// The fetch comes with the response of the parameter server's part.
TEST_P(LargeTensors, AsFetchesOfATask) {
  const auto session = *worker().NewSession(g_);
  ExpectIsLarge(session->Run({{x_, Large()}}, {there_}));
}

TEST_P(LargeTensors, ToAndFromAClient) {
  RemoteSessionOptions options;
  options.grpc_message_bytes = MessageBytes();
  const auto session = *RemoteSession::Connect(g_, servers_[0]->target(), options);
  ExpectIsLarge(session->Run({{x_, Large()}}, {there_}));
}

INSTANTIATE_TEST_SUITE_P(Wire, LargeTensors, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Lanes" : "Grpc"; });

}  // namespace
}  // namespace sluice
