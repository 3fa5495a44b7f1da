// Limits of the memory of tensors of a server's sessions.
#include <string>

#include "distributed/client/monitor.h"
#include "distributed/client/remote_session.h"
#include "distributed/server/server.h"
#include "executor/device/pool_allocator.h"
#include "executor/kernel/context.h"
#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "graph/build/node_builder.h"
#include "graph/infer/shape_context.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMegabyte = 1 << 20;

// A vector of `megabytes`.
OP(TestMegabytes, "")
    .Input("megabytes", DT_FLOAT)
    .Output("vector", DT_FLOAT)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector()); });

absl::Status MegabytesCompute(KernelContext& c) {
  const int64_t bytes = static_cast<int64_t>(c.input(0).scalar<float>()) * kMegabyte;
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape({bytes / 4})));
  out->data<float>()[0] = 1;
  return absl::OkStatus();
}
KERNEL(TestMegabytes, FunctionKernel<MegabytesCompute>);

class MemoryTest : public ::testing::Test {
 protected:
  ~MemoryTest() override {
    server_.reset();
    PoolAllocator::Global().SetLimit(0);
  }
  void Start(ServerOptions options) {
    options.port = 0;
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  std::unique_ptr<Session> Connect() {
    auto session = RemoteSession::Connect(g_, server_->target(), {.isolate_session_state = true});
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }
  absl::Status Compute(Session& session, float megabytes) {
    return session.Run({{megabytes_, Tensor::Scalar(megabytes)}}, {first_}).status();
  }
  absl::Status Keep(Session& session, Output kept, float megabytes) {
    return session.Run({{megabytes_, Tensor::Scalar(megabytes)}}, {}, {Operation(kept.node)})
        .status();
  }
  // The sum of a metric over all sessions, in megabytes.
  double Metric(const std::string& name) {
    const std::string text = *MetricsAt(server_->target(), {});
    double sum = 0;
    for (size_t at = text.find("\n" + name); at != std::string::npos;
         at = text.find("\n" + name, at + 1)) {
      sum += std::stod(text.substr(text.find("} ", at) + 2));
    }
    return sum / kMegabyte;
  }

  Graph g_;
  const Output megabytes_ = Placeholder(g_, DT_FLOAT, {}, "megabytes");
  const Output large_{
      NodeBuilder(&g_, "TestMegabytes", At::current()).Name("large").Input(megabytes_).Finish(), 0};
  const Output first_ = Less(large_, large_, "first");
  const Output kept_ = Assign(Variable(g_, "kept"), large_, "keep");
  const Output also_kept_ = Assign(Variable(g_, "also_kept"), large_, "keep_too");
  std::unique_ptr<Server> server_;
};

TEST_F(MemoryTest, AStepAboveTheLimitOfItsSessionIsRejected) {
  Start({.session_memory_bytes = 50 * kMegabyte});
  const auto session = Connect();
  EXPECT_TRUE(Compute(*session, 40).ok());
  const absl::Status status = Compute(*session, 60);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  const std::string text(status.message());
  EXPECT_THAT(text, HasSubstr("{{node large}}"));
  EXPECT_THAT(text, HasSubstr(" MB of at most 50.0 MB."));
  EXPECT_THAT(text, HasSubstr("planned memory: "));  // the table of the step's tensors
  EXPECT_THAT(text, HasSubstr("large:0 (TestMegabytes)"));
  EXPECT_TRUE(Compute(*session, 40).ok());
}

TEST_F(MemoryTest, VariablesCountUntilTheirSessionEnds) {
  Start({.session_memory_bytes = 50 * kMegabyte});
  auto session = Connect();
  const auto other = Connect();
  ASSERT_TRUE(Keep(*session, kept_, 30).ok());
  EXPECT_EQ(Keep(*session, also_kept_, 30).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Compute(*session, 10).ok());
  EXPECT_TRUE(Compute(*other, 40).ok());
  EXPECT_NEAR(Metric("sluice_session_memory_bytes{"), 30, 1);
  ASSERT_TRUE(session->Close().ok());
  EXPECT_NEAR(Metric("sluice_session_memory_bytes{"), 0, 1);
}

TEST_F(MemoryTest, AllSessionsHaveALimitTogether) {
  PoolAllocator& pool = PoolAllocator::Global();
  pool.Trim();
  Start({.memory_bytes = pool.LimitedBytes() + 100 * kMegabyte});
  auto first = Connect();
  auto second = Connect();
  ASSERT_TRUE(Keep(*first, kept_, 60).ok());
  const absl::Status status = Keep(*second, kept_, 60);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("All sessions use "));
  EXPECT_TRUE(Compute(*second, 10).ok());  // cheap steps go on
  ASSERT_TRUE(first->Close().ok());
  first.reset();
  EXPECT_TRUE(Keep(*second, kept_, 60).ok());
}

}  // namespace
}  // namespace sluice
