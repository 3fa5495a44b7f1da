// Fetched values belong to the caller: no later step changes them.
#include <functional>
#include <string>
#include <vector>

#include "graph/build/node_builder.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using Build = std::function<void(NodeBuilder&, Output)>;
struct Case {
  std::string op;
  Build inputs;
};

Output Ints(Output x, std::vector<int32_t> ints) {
  return Constant(*x.graph(), Tensor::Vector<int32_t>(ints));
}

// Each of these ops may return the variable's memory, which is not copied for the caller.
TEST(FetchedValues, OfReferenceVariablesStay) {
  const Build one = [](NodeBuilder& node, Output x) { node.Input(x); };
  const Build list = [](NodeBuilder& node, Output x) { node.Input(OutputList{x}); };
  const Build permuted = [](NodeBuilder& node, Output x) { node.Input(x).Input(Ints(x, {0, 1})); };
  const Build sized = [](NodeBuilder& node, Output x) { node.Input(x).Input(Ints(x, {1, 3})); };
  const Build padded = [](NodeBuilder& node, Output x) {
    node.Input(x).Input(Reshape(Ints(x, {0, 0, 0, 0}), {2, 2}));
  };
  const Build chosen = [](NodeBuilder& node, Output x) {
    node.Input(Constant(*x.graph(), true)).Input(x).Input(x);
  };
  const std::vector<Case> cases = {
      {"Identity", one},
      {"Reshape", sized},
      {"Transpose", permuted},
      {"ConjugateTranspose", permuted},
      {"Tile",
       [](NodeBuilder& node, Output x) {
         node.Input(x).Input(Ints(x, {1, 1}));
       }},
      {"Pad", padded},
      {"PadV2",
       [](NodeBuilder& node, Output x) {
         node.Input(x)
             .Input(Reshape(Ints(x, {0, 0, 0, 0}), {2, 2}))
             .Input(Constant(*x.graph(), 1.f));
       }},
      {"MirrorPad",
       [&](NodeBuilder& node, Output x) {
         padded(node, x);
         node.Attr("mode", std::string("REFLECT"));
       }},
      {"BroadcastTo", sized},
      {"Pack", list},
      {"AddN", list},
      {"ConcatV2",
       [](NodeBuilder& node, Output x) {
         const Output none = Constant(*x.graph(), Tensor(DT_FLOAT, {0, 3}));
         node.Input(OutputList{x, none}).Input(Constant(*x.graph(), 0));
       }},
      {"Select", chosen},
      {"SelectV2", chosen},
      {"Cast", [](NodeBuilder& node, Output x) { node.Input(x).Attr("DstT", DT_FLOAT); }},
      {"EnsureShape",
       [](NodeBuilder& node, Output x) {
         node.Input(x).Attr("shape", PartialShape({-1, 3}));
       }},
  };
  for (const bool passes : {true, false}) {
    Graph g;
    Variable v(g, "v", TensorShape({1, 3}), Zeros(), {.use_resource = false});
    OutputList fetches;
    for (const Case& c : cases) {
      NodeBuilder node(&g, c.op, At::current());
      c.inputs(node, v.Ref());
      fetches.push_back(Output(node.Finish(), 0));
      ASSERT_TRUE(g.status().ok()) << g.status();
    }
    const Output row = Constant(g, 0), ones = v.Read() * 0.0f + 1.0f;
    const std::vector<Operation> updates = {v.Assign(ones), v.AssignAdd(ones),
                                            v.ScatterAdd(row, Reshape(ones, {3}))};
    SessionOptions options;
    if (!passes) options.disabled_passes = {"all"};
    Session session(g, options);
    const Operation initialize = InitializeVariables(g);
    for (const Operation& update : updates) {
      const absl::Status initialized = session.Run({initialize});
      ASSERT_TRUE(initialized.ok()) << initialized;
      const absl::StatusOr<Tensors> fetched = session.Run({}, fetches);
      ASSERT_TRUE(fetched.ok()) << fetched.status();
      const absl::Status updated = session.Run({update});
      ASSERT_TRUE(updated.ok()) << updated;
      const absl::StatusOr<Tensors> after = session.Run({}, {v.Read()});
      ASSERT_TRUE(after.ok()) << after.status();
      EXPECT_EQ((*after)[0].data<float>()[0], 1) << update.name();
      for (size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ((*fetched)[i].data<float>()[0], 0) << cases[i].op << " before " << update.name();
      }
    }
  }
}

// Rows of a concatenation are written directly to their position, but never into another tensor's
// memory.
TEST(FetchedValues, RowsAreNotWrittenIntoAVariable) {
  Graph g;
  Variable v(g, "v", TensorShape({2, 3}), Zeros(), {.use_resource = false});
  const Output row = Constant(g, Tensor::Of<float>({1, 3}, {1, 1, 1}));
  NodeBuilder node(&g, "_ParallelConcatUpdate", At::current());
  const Output written(node.Input(v.Read()).Input(row).Attr("loc", int64_t{1}).Finish(), 0);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  const absl::Status initialized = session.Run({InitializeVariables(g)});
  ASSERT_TRUE(initialized.ok()) << initialized;
  const absl::StatusOr<Tensors> out = session.Run({}, {written});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].data<float>()[3], 1);
  const absl::StatusOr<Tensors> after = session.Run({}, {v.Read()});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ((*after)[0].data<float>()[3], 0);
}

// A fetched row of a table must not keep the memory of the table alive.
TEST(FetchedValues, SlicesOfSomethingLargeHaveTheirOwnMemory) {
  for (const bool use_resource : {true, false}) {
    Graph g;
    Variable v(g, "v", TensorShape({1000, 64}), Zeros(), {.use_resource = use_resource});
    const Output value = v.Read();
    Session session(g);
    const absl::Status initialized = session.Run({InitializeVariables(g)});
    ASSERT_TRUE(initialized.ok()) << initialized;
    const absl::StatusOr<Tensors> out = session.Run({}, {RowsOf(value, 3, 4), value});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_FALSE((*out)[0].SharesBufferWith((*out)[1]));
    EXPECT_EQ((*out)[0].shape(), TensorShape({1, 64}));
  }
}

}  // namespace
}  // namespace sluice
