// Limits of the memory of tensors of a server's sessions.
#include <string>

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

  Graph g_;
  const Output megabytes_ = Placeholder(g_, DT_FLOAT, {}, "megabytes");
  const Output large_{
      NodeBuilder(&g_, "TestMegabytes", At::current()).Name("large").Input(megabytes_).Finish(), 0};
  const Output first_ = Less(large_, large_, "first");
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

}  // namespace
}  // namespace sluice
