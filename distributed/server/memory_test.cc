// Tests the memory limits of a server and of its sessions.
#include <algorithm>
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
using ::testing::AllOf;
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

// The memory of a client's constants was counted, but never refused.
TEST_F(MemoryTest, AConstantAboveTheLimitOfItsSessionIsRejected) {
  Start({.session_memory_bytes = 50 * kMegabyte});
  Tensor value(DT_FLOAT, {60 * kMegabyte / 4});
  std::fill_n(value.data<float>(), value.num_elements(), 1.0f);
  NodeSpec spec;
  spec.name = "repeated";
  spec.op = "Const";
  spec.attrs = {{"value", value}, {"dtype", DT_FLOAT}};
  const absl::StatusOr<Node*> constant = g_.Add(std::move(spec));
  ASSERT_TRUE(constant.ok()) << constant.status();
  const auto session =
      RemoteSession::Connect(g_, server_->target(), {.isolate_session_state = true});
  const absl::Status status = session.ok() ? Compute(**session, 1) : session.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  const std::string text(status.message());
  EXPECT_THAT(text, HasSubstr("{{node repeated}}"));
  EXPECT_THAT(text, HasSubstr("The session uses "));
  EXPECT_THAT(text, HasSubstr(" MB of at most 50.0 MB."));
  EXPECT_THAT(text, HasSubstr("60 MB      all            yes      repeated:0 (Const)"));
}

TEST_F(MemoryTest, FeedsCountForTheirSession) {
  Start({.session_memory_bytes = 50 * kMegabyte});
  const Output fed = Placeholder(g_, DT_FLOAT, {-1}, "fed");
  const Output is_less = Less(fed, fed);
  const auto session = Connect();
  const auto feed = [&](int64_t megabytes) {
    const Tensor value(DT_FLOAT, {megabytes * kMegabyte / 4});
    return session->Run({{fed, value}}, {is_less}).status();
  };
  EXPECT_TRUE(feed(30).ok());
  const absl::Status status = feed(60);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("OOM when feeding tensor"), HasSubstr("{{node fed}}"),
                    HasSubstr(" MB of at most 50.0 MB."), HasSubstr("planned memory: ")));
  EXPECT_TRUE(feed(30).ok());
}

}  // namespace
}  // namespace sluice
