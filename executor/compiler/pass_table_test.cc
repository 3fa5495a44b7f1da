#include "executor/compiler/pass_table.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "graph/strings.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;

TEST(PassTable, NamesAreUniqueAndEachStageHasTheFunctionThatItNeeds) {
  std::set<std::string> names;
  for (const Pass& pass : PassTable()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_EQ(pass.fuse != nullptr, pass.stage == PassStage::kDraft) << pass.name;
    EXPECT_EQ(pass.run != nullptr, pass.stage != PassStage::kDraft) << pass.name;
  }
}

TEST(PassTable, OnlyNamesOfThePassesThatCanBeDisabledAreAccepted) {
  EXPECT_TRUE(CheckDisabledPasses({"all", "simplify", "fuse_elementwise", "rematerialize"}).ok());
  for (const char* name : {"late_fetches", "late_reads", "constant_folding"}) {
    const absl::Status status = CheckDisabledPasses({name});
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(StrCat("no pass '", name, "'")));
    EXPECT_THAT(std::string(status.message()), HasSubstr("accumulate_sums, all, choose_layout"));
  }
}

TEST(PassTable, DisabledPassesDoNotRun) {
  Graph g;
  const Output sum = Add(Const(g, 1), Const(g, 2));
  const Output read = Add(sum, sum);
  ASSERT_TRUE(RunPasses(PassStage::kPruned, g, {.disabled = {"all"}}).ok());
  EXPECT_EQ(read.node->input(0), sum);
  std::set<std::string> names = PassNames();
  names.erase("all");
  ASSERT_TRUE(RunPasses(PassStage::kPruned, g, {.disabled = names}).ok());
  EXPECT_EQ(read.node->input(0), sum);
  ASSERT_TRUE(RunPasses(PassStage::kPruned, g, {.keep = {read.node->name()}}).ok());
  EXPECT_EQ(read.node->input(0).node->op(), "Const");
}

// The page has a table with a row for each pass: its name, exactness and description.
TEST(PassTable, TheDocumentationListsEveryPass) {
  std::ifstream file("docs/optimizations.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const Pass& pass : PassTable()) {
    const std::string row =
        StrCat("| `", pass.name, "` | ", pass.exactness, " | ", pass.description, " |");
    EXPECT_THAT(page, HasSubstr(row));
  }
}

}  // namespace
}  // namespace sluice
