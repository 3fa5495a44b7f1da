// The samples and the table of docs/variables.md.
#include <cstdio>

#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

class VariablesTest : public testing::TestWithParam<bool> {
 protected:
  Variable Make(float value) {
    Variable v(g_, "v", value, {.use_resource = GetParam()});
    init_ = InitializeVariables(g_);
    return v;
  }
  // A read after what is in scope: of a ref variable by its reference, not by the shared snapshot.
  Output ReadNow(const Variable& v) { return GetParam() ? v.Read() : Identity(v.handle()) * 1.0f; }
  float Fetch(Output value) {
    Session session(g_);
    EXPECT_TRUE(session.Run({init_}).ok());
    absl::StatusOr<Tensors> out = session.Run({}, {value}, {});
    EXPECT_TRUE(out.ok()) << out.status();
    return out.ok() ? (*out)[0].scalar<float>() : -1;
  }
  Graph g_;
  Operation init_;
};

TEST_P(VariablesTest, AReadAfterAWriteSeesIt) {
  Variable v = Make(1);
  Operation write = v.AssignAdd(1.0f);
  ControlDependencies after(g_, {write});
  EXPECT_EQ(Fetch(ReadNow(v)), 2);
}

TEST_P(VariablesTest, AReadBeforeAWriteKeepsTheOldValue) {
  Variable v = Make(1);
  Output before = ReadNow(v);
  Operation write;
  {
    ControlDependencies after(g_, {before});
    write = v.AssignAdd(1.0f);
  }
  ControlDependencies after(g_, {write});
  EXPECT_EQ(Fetch(before + 10 * ReadNow(v)), 21);
}

TEST_P(VariablesTest, AFetchWithoutAnOrderSeesTheWrites) {
  Variable v = Make(1);
  Output computed = v.Read() * 10.0f;
  Output counted =
      WhileLoop([&](const OutputList& i) { return Less(i[0], Constant(g_, 3)); },
                [&](const OutputList& i) {
                  ControlDependencies after(g_, {v.AssignAdd(Cast(i[0], DT_FLOAT) + 1.0f)});
                  return OutputList{i[0] + 1};
                },
                {Constant(g_, 0)})[0];
  Session session(g_);
  ASSERT_TRUE(session.Run({init_}).ok());
  absl::StatusOr<Tensors> out = session.Run({}, {v.Read(), counted});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 7);
  out = session.Run({}, {v.Read(), computed}, {v.AssignAdd(1.0f)});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 8);
}

TEST_P(VariablesTest, AFetchBeforeAWriteKeepsTheOldValue) {
  Variable v = Make(1);
  Output before = v.Read();
  ControlDependencies after(g_, {before});
  Operation write = v.AssignAdd(1.0f);
  Session session(g_);
  ASSERT_TRUE(session.Run({init_}).ok());
  absl::StatusOr<Tensors> out = session.Run({}, {before}, {write});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 1);
}

TEST_P(VariablesTest, OrderedWritesHappenInOrder) {
  Variable v = Make(1);
  Operation first = v.AssignAdd(1.0f);
  Operation second;
  {
    ControlDependencies after(g_, {first});
    second = v.Assign(ReadNow(v) * 10.0f);
  }
  ControlDependencies after(g_, {second});
  EXPECT_EQ(Fetch(ReadNow(v)), 20);
}

INSTANTIATE_TEST_SUITE_P(BothKinds, VariablesTest, testing::Bool());

TEST(SnapshotTest, ASnapshotIsReadOnce) {
  Graph g;
  Variable v(g, "v", 1.0f, {.use_resource = false});
  EXPECT_EQ(v.Read(), v.snapshot());
  EXPECT_EQ(Output(v), v.Read());
}

TEST(SnapshotTest, WhatIsOrderedAfterAWriteSeesItThroughASnapshot) {
  Graph g;
  Variable v(g, "v", 1.0f, {.use_resource = false});
  const Operation init = InitializeVariables(g);
  const Output before = v.snapshot() * 10.0f;
  ControlDependencies first(g, {before});
  ControlDependencies after(g, {v.AssignAdd(1.0f)});
  const Output now = v.snapshot() * 10.0f;
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  const absl::StatusOr<Tensors> out = session.Run({}, {before, now});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 10);
  EXPECT_EQ((*out)[1].scalar<float>(), 20);
}

TEST(LintTest, TheSampleNamesThePair) {
  Graph g;
  Variable v(g, "v", 1.0f);
  Output value = v.Read() * 10.0f;
  Operation add = v.AssignAdd(1.0f);
  EXPECT_TRUE(Lint({.fetches = {v.Read()}, .targets = {add}}).empty());
  testing::internal::CaptureStdout();
  // [lint]
  for (const LintWarning& warning : Lint({.fetches = {value}, .targets = {add}})) {
    std::printf("%s\n", warning.text.c_str());
  }
  // [/lint]
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find("write and read variable 'v' in no order"), std::string::npos) << printed;
}

}  // namespace
}  // namespace sluice
