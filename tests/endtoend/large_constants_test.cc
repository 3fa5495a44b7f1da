// Graphs with constants that are too large for a message. Only touched pages need memory.
#include <sys/resource.h>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/indexing/builders.h"
#include "ops/sugar.h"
#include "training/checkpoint/saver.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// A constant above 2 GB made the graph's message too large, and the error, if any, did not name the
// constant (#6144, #5383).
TEST(LargeConstantsTest, AConstantMayBeLargerThanAMessage) {
  constexpr int64_t kRows = (int64_t{5} << 29) + 1;  // 2.5 GiB
  Tensor table(DT_UINT8, {kRows});
  ASSERT_TRUE(table.IsInitialized());
  table.data<uint8_t>()[kRows - 1] = 7;
  Graph g;
  const Output constant = Constant(g, table, "table");
  const Output row = Placeholder(g, DT_INT64, {}, "row");
  const Output value = GatherV2(constant, row, Constant(g, 0), {.name = "value"});
  Session session(g);
  const absl::StatusOr<Tensors> out = session.Run({{row, Tensor::Scalar(kRows - 1)}}, {value});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<uint8_t>(), 7);

  const auto too_large = AllOf(
      HasSubstr("Const node 'table': a GraphDef has at most 2147483647 bytes, got constants of "),
      HasSubstr(", 2684354561 of them here [built at "), HasSubstr("large_constants_test.cc:"));
  const absl::Status exported = ExportGraphDef(g).status();
  EXPECT_EQ(exported.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(exported.message(), too_large);

  // Checkpoints contain only variables, so only the graph next to them cannot be written.
  Variable w(g, "w", 1.0f);
  Saver saver(g);
  Session trained(g);
  ASSERT_TRUE(trained.Run({w.initializer()}).ok());
  const std::string path = ::testing::TempDir() + "/row47";
  EXPECT_THAT(saver.Save(trained, path).status().message(), too_large);
  const absl::StatusOr<std::string> saved = saver.Save(trained, path, {.write_meta_graph = false});
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_TRUE(saver.Restore(trained, *saved).ok());

  rusage used;
  ASSERT_EQ(getrusage(RUSAGE_SELF, &used), 0);
  EXPECT_LT(used.ru_maxrss, 3 << 19) << "KiB: the constant was copied";

  // Functions are stored as messages, so the constant is rejected when it becomes one.
  pb::NodeDef node;
  EXPECT_EQ(
      NodeToProto(*constant.node, {}, &node).message(),
      "Const node 'table': attr 'value': Cannot create a tensor proto whose content is larger "
      "than 2GB, got 2684354561 bytes");
}

}  // namespace
}  // namespace sluice
