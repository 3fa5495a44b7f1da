#include "executor/kernel/context.h"
#include "executor/passes/fold_constants.h"
#include "executor/passes/late_reads.h"
#include "executor/passes/pass_options.h"
#include "executor/passes/subexpressions.h"
#include "executor/passes/unused_nodes.h"
#include "gmock/gmock.h"
#include "graph/build/node_builder.h"
#include "graph/infer/constant_context.h"
#include "graph/infer/shape_context.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

// The ops in the graphs of these tests.
OP(Const, "A constant.")
    .Output("output", "dtype")
    .Attr("value", TensorAttr())
    .Attr("dtype", TypeAttr())
    .Role(OpRole::kConstant)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<Tensor>("value").shape()); });
OP(Shape, "Sizes.")
    .Input("input", "T")
    .Output("output", DT_INT32)
    .Attr("T", TypeAttr())
    .QueriesShape(ShapeQuery::kSizes)
    .ConstantValue([](ConstantContext& c) { return IntsOfShape(c.input_shape(0)); })
    .Shape([](ShapeContext& c) { return c.SetOutput(0, {c.input(0).rank()}); });
OP(Placeholder, "Fed.")
    .Output("output", DT_FLOAT)
    .Attr("shape", ShapeAttr(PartialShape()))
    .Role(OpRole::kPlaceholder)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<PartialShape>("shape")); });
OP(Switch, "Branches.")
    .Input("data", DT_FLOAT)
    .Input("pred", DT_FLOAT)
    .Output("output_false", DT_FLOAT)
    .Output("output_true", DT_FLOAT)
    .Role(OpRole::kSwitch)
    .Shape(UnknownOutputs());
OP(PassAdd, "Sum.")
    .Input("x", DT_FLOAT)
    .Input("y", DT_FLOAT)
    .Output("z", DT_FLOAT)
    .Shape(BroadcastBinary());
OP(PassScale, "Product with a constant.")
    .Input("x", DT_FLOAT)
    .Output("y", DT_FLOAT)
    .Attr("by", FloatAttr())
    .Shape(SameAsInput(0));
OP(PassCall, "Result of a function.")
    .Input("x", DT_FLOAT)
    .Output("y", DT_FLOAT)
    .Attr("f", FunctionAttrDef())
    .Shape(SameAsInput(0));
OP(PassRandom, "Stateful.")
    .Input("x", DT_FLOAT)
    .Output("y", DT_FLOAT)
    .Stateful()
    .Shape(SameAsInput(0));
OP(VariableV2, "A reference.")
    .RefOutput("ref", DT_FLOAT)
    .Stateful()
    .OnVariable(VariableUse::kCreates)
    .Shape(UnknownOutputs());
OP(Identity, "Reads it.")
    .Input("x", DT_FLOAT)
    .Output("y", DT_FLOAT)
    .Role(OpRole::kPass)
    .Shape(SameAsInput(0));
OP(PassUpdate, "Changes it.")
    .RefInput("ref", DT_FLOAT)
    .RefOutput("output_ref", DT_FLOAT)
    .Shape(SameAsInput(0));
OP(PassFails, "Its kernel fails.").Input("x", DT_FLOAT).Output("y", DT_FLOAT).Shape(SameAsInput(0));

class AddKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
    out->scalar<float>() = c.input(0).scalar<float>() + c.input(1).scalar<float>();
    return absl::OkStatus();
  }
};
class FailingKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext&) override { return absl::InternalError("no"); }
};
KERNEL(PassAdd, AddKernel);
KERNEL(PassRandom, AddKernel);
KERNEL(PassFails, FailingKernel);

class PassesTest : public ::testing::Test {
 protected:
  Output Scalar(float v) {
    return NodeBuilder(&g_, "Const", At::current())
        .Attr("value", Tensor::Scalar(v))
        .Attr("dtype", DT_FLOAT)
        .Finish();
  }
  Output Placeholder(PartialShape shape) {
    return NodeBuilder(&g_, "Placeholder", At::current()).Attr("shape", shape).Finish();
  }
  Output Call(std::string_view op, const OutputList& inputs, std::string_view name = "") {
    NodeBuilder b(&g_, op, At::current());
    b.Name(name);
    for (const Output& in : inputs) b.Input(in);
    return b.Finish();
  }
  Graph g_;
};

TEST_F(PassesTest, ChainsOfConstantsBecomeOne) {
  Output sum = Call("PassAdd", {Scalar(1), Call("PassAdd", {Scalar(2), Scalar(3)})});
  Output y = Call("PassAdd", {Placeholder({}), sum}, "y");
  EXPECT_EQ(*FoldConstants(g_, {.keep = {"y"}}), 2);
  ASSERT_EQ(y.node->input(1).node->op(), "Const");
  EXPECT_EQ(y.node->input(1).node->FindAttr<Tensor>("value")->scalar<float>(), 6);
}

// A node may be ordered after another one by the control inputs of a constant alone.
TEST_F(PassesTest, FoldedConstantsWaitForWhatTheirInputsWaitFor) {
  const Output before = Call("PassRandom", {Placeholder({})}, "before");
  Output one;
  {
    ControlDependencies after(g_, {before});
    one = Scalar(1);
  }
  const Output sum = Call("PassAdd", {Call("PassAdd", {one, Scalar(2)}), Scalar(3)});
  const Output end = Call("PassRandom", {sum}, "end");
  EXPECT_EQ(*FoldConstants(g_, {.keep = {"end"}}), 2);
  const Node& folded = *end.node->input(0).node;
  ASSERT_EQ(folded.op(), "Const");
  EXPECT_EQ(folded.FindAttr<Tensor>("value")->scalar<float>(), 6);
  EXPECT_THAT(folded.control_inputs(), testing::UnorderedElementsAre(before.node));
}

TEST_F(PassesTest, WhatIsKeptStatefulOrFailingIsLeftForTheStep) {
  Call("PassAdd", {Scalar(1), Scalar(2)}, "fetched");
  Call("PassRandom", {Scalar(1)}, "random");
  Call("PassFails", {Scalar(1)}, "fails");
  EXPECT_EQ(*FoldConstants(g_, {.keep = {"fetched"}}), 0);
  EXPECT_NE(g_.Find("fails"), nullptr);
}

TEST_F(PassesTest, ShapesThatAreKnownAreConstants) {
  Output shape = Call("Shape", {Placeholder({2, 3})});
  Output unknown = Call("Shape", {Placeholder({-1, 3})});
  Output use = NodeBuilder(&g_, "Shape", At::current()).Name("use").Input(shape).Finish();
  Output use2 = NodeBuilder(&g_, "Shape", At::current()).Name("use2").Input(unknown).Finish();
  EXPECT_EQ(*FoldConstants(g_, {.keep = {"use", "use2"}}), 1);
  EXPECT_EQ(use.node->input(0).node->op(), "Const");
  EXPECT_EQ(use2.node->input(0).node->op(), "Shape");
}

// A Merge takes the input that is not dead, so a constant in a dead branch must be dead.
TEST_F(PassesTest, ConstantsInsideABranchStayThere) {
  Node* branch = Call("Switch", {Placeholder({}), Placeholder({})}).node;
  ControlDependencies inside(g_, {branch});
  Output one = Scalar(1);
  Call("PassAdd", {one, one}, "sum");
  EXPECT_EQ(*FoldConstants(g_, {}), 0);
  EXPECT_NE(g_.Find("sum"), nullptr);
}

TEST_F(PassesTest, EqualNodesMergeAndStatefulOnesDoNot) {
  Output x = Placeholder({});
  Output a = Call("PassAdd", {x, Scalar(1)});
  Output b = Call("PassAdd", {x, Scalar(1)});
  Output c = Call("PassAdd", {x, Scalar(2)});
  Call("PassRandom", {x});
  Call("PassRandom", {x});
  Output out = Call("PassAdd", {a, b}, "out");
  Call("PassAdd", {b, c}, "out2");
  EXPECT_EQ(*MergeCommonSubexpressions(g_, {.keep = {"out", "out2"}}), 2);
  EXPECT_EQ(out.node->input(0), out.node->input(1));
  EXPECT_NE(g_.Find("PassRandom_1"), nullptr);
}

// The texts of the different attributes are equal.
TEST_F(PassesTest, NodesWithSlightlyDifferentAttributesDoNotMerge) {
  const Output x = Placeholder({});
  const auto scale = [&](float by) {
    return Output(NodeBuilder(&g_, "PassScale", At::current()).Input(x).Attr("by", by).Finish());
  };
  const auto call = [&](int64_t n) {
    const FunctionAttr f = std::make_shared<const FunctionRef>(FunctionRef{"f", {{"n", n}}});
    return Output(NodeBuilder(&g_, "PassCall", At::current()).Input(x).Attr("f", f).Finish());
  };
  const Output scales = Call("PassAdd", {scale(16777215), scale(16777214)}, "scales");
  const Output calls = Call("PassAdd", {call(1), call(2)}, "calls");
  const Output equal = Call("PassAdd", {scale(2), scale(2)}, "equal");
  EXPECT_EQ(*MergeCommonSubexpressions(g_, {.keep = {"scales", "calls", "equal"}}), 1);
  EXPECT_NE(scales.node->input(0), scales.node->input(1));
  EXPECT_NE(calls.node->input(0), calls.node->input(1));
  EXPECT_EQ(equal.node->input(0), equal.node->input(1));
}

TEST_F(PassesTest, WhatIsOnlyWaitedForIsNotComputed) {
  Output x = Placeholder({});
  Output random = Call("PassRandom", {x}, "random");
  Output unused = Call("PassAdd", {Call("PassAdd", {random, Scalar(1)}), x});
  Output end;
  {
    ControlDependencies after(g_, {unused});
    end = Call("PassRandom", {x}, "end");
  }
  EXPECT_EQ(*RemoveUnusedNodes(g_, {.keep = {"end"}}), 3);
  // The order of stateful ops stays.
  EXPECT_THAT(end.node->control_inputs(), testing::UnorderedElementsAre(x.node, random.node));
}

// A constant in a branch that was not taken reached the Merge together with the one that was.
TEST_F(PassesTest, PivotsOfBranchesStay) {
  Node* branch = Call("Switch", {Placeholder({}), Placeholder({})}).node;
  Output pivot = Call("PassAdd", {Output(branch, 1), Output(branch, 1)}, "pivot");
  ControlDependencies after(g_, {pivot});
  Call("PassRandom", {Placeholder({})}, "in_the_branch");
  EXPECT_EQ(*RemoveUnusedNodes(g_, {.keep = {"in_the_branch"}}), 0);
}

TEST_F(PassesTest, WhatManyWaitForStaysWhereItSavesEdges) {
  OutputList many;
  for (int i = 0; i < 3; ++i) many.push_back(Call("PassRandom", {Placeholder({})}));
  Output sum = Call("PassAdd", {Call("PassAdd", {many[0], many[1]}), many[2]}, "sum");
  ControlDependencies after(g_, {sum});
  for (int i = 0; i < 3; ++i) Call("PassRandom", {many[0]}, "waits");
  EXPECT_EQ(*RemoveUnusedNodes(g_, {}), 0);
  EXPECT_NE(g_.Find("sum"), nullptr);
}

// The Identity may run before the update, but TensorFlow's shares the variable's memory.
TEST_F(PassesTest, WhatIsOrderedAfterAnUpdateReadsTheVariableItself) {
  Output w = Call("VariableV2", {}, "w");
  Output read = Call("Identity", {w});
  Output again = Call("Identity", {read});
  Output early = Call("PassAdd", {read, Scalar(1)});
  ControlDependencies after(g_, {Call("PassUpdate", {w})});
  Output late = Call("PassAdd", {again, Scalar(1)});
  Output elsewhere = Call("PassAdd", {again, Scalar(2)});
  elsewhere.node->set_assigned_device("/job:other");
  Output fresh = Call("Identity", {w});
  Output of_fresh = Call("PassAdd", {fresh, Scalar(1)});
  EXPECT_EQ(*ReadVariablesLate(g_, {}), 1);
  EXPECT_EQ(early.node->input(0), read);
  EXPECT_EQ(late.node->input(0), w);
  EXPECT_THAT(late.node->control_inputs(), testing::Contains(again.node));
  EXPECT_EQ(elsewhere.node->input(0), again);
  EXPECT_EQ(of_fresh.node->input(0), fresh);
}

}  // namespace
}  // namespace sluice
