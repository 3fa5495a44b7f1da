// Tests the files to which debug ops write watched tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/files/files.h"
#include "executor/session/session.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/tensor_proto.h"
#include "ops/sugar.h"
#include "ops/summary/builders.h"

namespace sluice {
namespace {

TEST(DebugDump, WritesTheTensorAsAnEventOfItsDevice) {
  const std::string root = StrCat(::testing::TempDir(), "/debug_dump");
  Graph g;
  Output x = Constant(g, {1.0f, 2.0f});
  Output watched = DebugIdentity(x, {.device_name = "/job:a/task:0",
                                     .tensor_name = "x:0",
                                     .debug_urls = {StrCat("file://", root)}});
  Session session(g);
  const absl::StatusOr<Tensors> run = session.Run({}, {watched});
  ASSERT_TRUE(run.ok()) << run.status();

  const absl::StatusOr<std::vector<std::string>> files =
      MatchFiles(StrCat(root, "/_tfdbg_device_,job_a,task_0/x_0_DebugIdentity_*"));
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_FALSE(files->empty());
  const absl::StatusOr<std::string> bytes = ReadWholeFile(files->back());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  pb::Event event;
  ASSERT_TRUE(event.ParseFromString(*bytes));
  ASSERT_EQ(event.summary().value_size(), 1);
  EXPECT_EQ(event.summary().value(0).node_name(), "x:0:DebugIdentity");
  EXPECT_EQ(event.summary().value(0).tag(), "x");
  const absl::StatusOr<Tensor> tensor = TensorFromProto(event.summary().value(0).tensor());
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->SummarizeValues(-1), "1 2");
}

TEST(DebugDump, RejectsUrlsThatItCannotWrite) {
  Graph g;
  Output watched = DebugNanCount(Constant(g, {1.0f}),
                                 {.tensor_name = "x:0", .debug_urls = {"grpc://localhost:1"}});
  Session session(g);
  EXPECT_EQ(session.Run({}, {watched}).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace sluice
