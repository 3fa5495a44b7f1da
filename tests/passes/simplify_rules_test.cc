#include "executor/passes/fold_transposes.h"
#include "executor/passes/simplify.h"
#include "gmock/gmock.h"
#include "graph/build/node_builder.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/constant.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

OP(_Arg, "Fed by the caller of a step.")
    .Output("output", DT_FLOAT)
    .Attr("shape", ShapeAttr(PartialShape()))
    .Stateful()
    .Role(OpRole::kFeed)
    .Shape([](ShapeContext& c) { return c.SetOutput(0, c.attr<PartialShape>("shape")); });
OP(SimplifySink, "Has an effect.")
    .Input("x", "T")
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(UnknownOutputs());

class SimplifyTest : public ::testing::Test {
 protected:
  Output Constant(Tensor value) {
    return NodeBuilder(&g_, "Const", At::current())
        .Attr("value", value)
        .Attr("dtype", value.dtype())
        .Finish();
  }
  Output Ints(std::initializer_list<int32_t> values) {
    return Constant(Tensor::Vector<int32_t>(values));
  }
  Output Fed(PartialShape shape, DataType dtype = DT_FLOAT) {
    return NodeBuilder(&g_, "Placeholder", At::current())
        .Attr("shape", shape)
        .Attr("dtype", dtype)
        .Finish();
  }
  Output Call(std::string_view op, const OutputList& inputs, std::string_view name = "") {
    NodeBuilder b(&g_, op, At::current());
    b.Name(name);
    for (const Output& in : inputs) b.Input(in);
    return WithHiddenShapes(inputs, [&] { return b.Finish(); });
  }
  Node* Switch() { return Call("Switch", {Fed({}), Fed({}, DT_BOOL)}).node; }
  Output Squeeze(Output x, std::vector<int64_t> dims) {
    NodeBuilder b(&g_, "Squeeze", At::current());
    b.Input(x).Attr("squeeze_dims", dims);
    return WithHiddenShapes({x}, [&] { return b.Finish(); });
  }
  // A node that stays and reads `x`.
  Node* Reader(Output x) { return Call("SimplifySink", {x}).node; }
  // The input of a reader of `y` after the pass.
  Output Simplified(Output y) {
    Node* reader = Reader(y);
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    const absl::StatusOr<int> changed = Simplify(g_, {});
    EXPECT_TRUE(changed.ok()) << changed.status();
    return reader->input(0);
  }
  Graph g_;

 private:
  // Builders reject invalid nodes, but their checks pass if the shapes are hidden.
  template <typename Finish>
  static Output WithHiddenShapes(const OutputList& inputs, const Finish& finish) {
    std::vector<PartialShape> shapes;
    for (const Output& in : inputs) shapes.push_back(in.shape());
    for (const Output& in : inputs) {
      if (!ConstantBehind(in)) in.node->set_output_shape(in.index, PartialShape());
    }
    const Output made(finish());
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].node->set_output_shape(inputs[i].index, shapes[i]);
    }
    if (made) InferShapes(made.node).IgnoreError();
    return made;
  }
};

TEST_F(SimplifyTest, TransposesThatCancelGoAway) {
  const Output x = Fed({-1, 3, 4});
  const Output once = Call("Transpose", {x, Ints({1, 2, 0})}, "once");
  EXPECT_EQ(Simplified(Call("Transpose", {once, Ints({2, 0, 1})})), x);
  EXPECT_EQ(g_.Find("once"), nullptr);
  EXPECT_EQ(Simplified(Call("Transpose", {x, Ints({0, 1, 2})})), x);
}

TEST_F(SimplifyTest, TheSecondOfTwoTransposesDoesTheWorkOfBoth) {
  const Output x = Fed({2, 3, 4});
  const Output once = Call("Transpose", {x, Ints({1, 2, 0})});
  const Output twice = Call("Transpose", {once, Ints({1, 2, 0})});
  ASSERT_EQ(Simplified(twice), twice);
  EXPECT_EQ(twice.node->input(0), x);
  EXPECT_THAT(twice.node->input(1).node->FindAttr<Tensor>("value")->flat<int32_t>(),
              ElementsAre(2, 0, 1));
}

TEST_F(SimplifyTest, TransposesThatCouldFailStay) {
  const Output matrix = Fed({2, 3});
  for (const Output& x : {Fed(PartialShape()), Fed({2, 3, 4})}) {
    const Output y = Call("Transpose", {Call("Transpose", {x, Ints({1, 0})}), Ints({1, 0})});
    EXPECT_EQ(Simplified(y), y);
  }
  for (const Output& perm : {Ints({1, 1}), Ints({-1, 0}), Fed({2}, DT_INT32)}) {
    const Output y = Call("Transpose", {Call("Transpose", {matrix, perm}), perm});
    EXPECT_EQ(Simplified(y), y);
    EXPECT_EQ(y.node->input(0).node->op(), "Transpose");
  }
}

TEST_F(SimplifyTest, ViewsThatLeadBackGoAwayThoughSizesAreNotKnown) {
  const Output x = Fed({-1, 784});
  EXPECT_EQ(Simplified(Call("Reshape", {x, Ints({-1, 784})})), x);
  const Output image = Call("Reshape", {x, Ints({-1, 28, 28, 1})});
  EXPECT_EQ(Simplified(Call("Reshape", {image, Ints({-1, 784})})), x);
  const Output wider = Call("ExpandDims", {x, Ints({-1})});
  EXPECT_EQ(Simplified(Squeeze(wider, {2})), x);
  const Output wide = Call("ExpandDims", {Call("ExpandDims", {x, Ints({-1})}), Ints({0})});
  EXPECT_EQ(Simplified(Squeeze(wide, {0, -1})), x);
  const Output row = Fed({1, -1});
  EXPECT_EQ(Simplified(Call("ExpandDims", {Squeeze(row, {0}), Ints({0})})), row);
  const Output known = Fed({2, 1, 3});
  EXPECT_EQ(Simplified(Call("Reshape", {Squeeze(known, {}), Ints({2, 1, 3})})), known);
}

TEST_F(SimplifyTest, ViewsThatCouldFailOrLeadElsewhereStay) {
  const auto stays = [&](Output y) {
    EXPECT_EQ(Simplified(y), y);
    EXPECT_TRUE(y.node->input(0).node->op() != "Placeholder" || y.node->op() == "Reshape");
  };
  const Output x = Fed({-1, 6}), two = Fed({-1, -1});
  stays(Call("Reshape", {x, Ints({6, -1})}));                                     // reordered
  stays(Call("Reshape", {x, Ints({2, 6})}));                                      // may not fit
  stays(Call("Reshape", {two, Ints({-1, 6})}));                                   // may not fit
  stays(Call("Reshape", {Call("Reshape", {x, Ints({-1, 4})}), Ints({-1, 6})}));   // may not fit
  stays(Call("Reshape", {Call("Reshape", {x, Ints({-1, 0})}), Ints({-1, 6})}));   // the size is 0
  stays(Call("Reshape", {Call("Reshape", {x, Ints({-1, -1})}), Ints({-1, 6})}));  // no shape
  stays(Squeeze(Call("ExpandDims", {x, Ints({0})}), {1}));                    // another dimension
  stays(Squeeze(Call("ExpandDims", {x, Ints({4})}), {0}));                    // out of range
  stays(Squeeze(Call("ExpandDims", {x, Ints({0})}), {}));                     // also removes others
  stays(Call("ExpandDims", {Squeeze(x, {0}), Ints({0})}));                    // may not be 1
  stays(Squeeze(Call("ExpandDims", {Fed(PartialShape()), Ints({1})}), {1}));  // may be out of range
  stays(Call("Reshape", {Call("Reshape", {x, Ints({-1, 3})}), Fed({2}, DT_INT32)}));  // see below
}

TEST_F(SimplifyTest, AReshapeOfAViewThatCannotFailTakesTheTensorItself) {
  const Output x = Fed({-1, 6});
  const Output inner = Call("Reshape", {x, Ints({-1, 3})}, "inner");
  const Output outer = Call("Reshape", {inner, Ints({2, -1, 3})});
  ASSERT_EQ(Simplified(outer), outer);
  EXPECT_EQ(outer.node->input(0), x);
  EXPECT_EQ(g_.Find("inner"), nullptr);
}

// Next to a 0, the size for -1 depends on the sizes of the empty tensor: [0, 6] or [0, 3].
TEST_F(SimplifyTest, AReshapeToNoElementsKeepsTheViewThatItLooksAt) {
  const Output inner = Call("Reshape", {Fed({-1, 6}), Ints({-1, 3})});
  const Output outer = Call("Reshape", {inner, Ints({-1, 0})});
  ASSERT_EQ(Simplified(outer), outer);
  EXPECT_EQ(outer.node->input(0), inner);
  const Output full = Fed({2, 6});
  const Output of_full = Call("Reshape", {Call("Reshape", {full, Ints({-1, 3})}), Ints({-1, 0})});
  ASSERT_EQ(Simplified(of_full), of_full);
  EXPECT_EQ(of_full.node->input(0), full);
}

TEST_F(SimplifyTest, NumbersThatLeaveATensorAsItIsGoAway) {
  const Output x = Fed({-1, 2}), n = Fed({3}, DT_INT64);
  const Output one = Constant(Tensor::Scalar(1.0f));
  EXPECT_EQ(Simplified(Call("Mul", {x, one})), x);
  EXPECT_EQ(Simplified(Call("Mul", {one, x})), x);
  EXPECT_EQ(Simplified(Call("Mul", {x, Constant(Tensor::Of<float>({1, 2}, {1, 1}))})), x);
  EXPECT_EQ(Simplified(Call("AddV2", {x, Constant(Tensor::Scalar(-0.0f))})), x);
  EXPECT_EQ(Simplified(Call("AddV2", {Constant(Tensor::Scalar<int64_t>(0)), n})), n);
  EXPECT_EQ(Simplified(Call("Neg", {Call("Neg", {n})})), n);
}

TEST_F(SimplifyTest, NumbersThatMayChangeBitsOrShapeStay) {
  const Output x = Fed({-1, 2}), narrow = Fed({-1, 2}, DT_HALF), z = Fed({-1}, DT_COMPLEX64);
  const auto stays = [&](Output y) { EXPECT_EQ(Simplified(y), y); };
  stays(Call("AddV2", {x, Constant(Tensor::Scalar(0.0f))}));  // -0
  stays(Call("Mul", {x, Constant(Tensor::Of<float>({3, 2}, {1, 1, 1, 1, 1, 1}))}));
  stays(Call("Mul", {x, Constant(Tensor::Of<float>({1, 1, 1}, {1}))}));
  stays(Call("Mul", {Fed(PartialShape()), Constant(Tensor::Of<float>({1}, {1}))}));
  stays(Call("Mul", {x, Constant(Tensor::Of<float>({2}, {1, 2}))}));
  stays(Call("Mul", {narrow, Constant(Tensor::Scalar(half(1.0f)))}));  // NaNs
  stays(Call("Mul", {z, Constant(Tensor::Scalar(complex64(1)))}));     // infinities
}

TEST_F(SimplifyTest, KeptNodesAndVariablesStay) {
  const Output x = Fed({2});
  const Output kept = Call("Identity", {x}, "kept");
  Reader(Call("Neg", {Call("Neg", {kept})}));
  // late_reads.h: a reader of the Identity may see another value than a reader of a computed
  // result.
  const Output variable = NodeBuilder(&g_, "VariableV2", At::current())
                              .Attr("shape", PartialShape())
                              .Attr("dtype", DT_FLOAT)
                              .Finish();
  const Output read = Call("Identity", {variable});
  Node* of_read = Reader(Call("Neg", {Call("Neg", {read})}, "plus"));
  const Output view = Call("Reshape", {read, Ints({2})});
  Node* of_view = Reader(Call("Neg", {Call("Neg", {view})}, "of_view"));
  EXPECT_EQ(*Simplify(g_, {.keep = {"kept"}}), 1);
  EXPECT_EQ(g_.Find("kept"), kept.node);
  EXPECT_EQ(of_read->input(0).node, g_.Find("plus"));
  EXPECT_EQ(of_view->input(0).node, g_.Find("of_view"));
}

TEST_F(SimplifyTest, WhatAReaderWaitedForItWaitsForStill) {
  const Output x = Fed({2}), first = Fed({2}), other = Fed({2}), inner = Call("Neg", {x}, "inner");
  Output y;
  Node* waits;
  {
    ControlDependencies after(g_, {first});
    y = Call("Neg", {inner});
  }
  {
    ControlDependencies after(g_, {y});
    waits = Reader(other);
  }
  const Output instead = Simplified(y);
  EXPECT_EQ(instead.node->op(), "Identity");
  EXPECT_EQ(instead.node->input(0), x);
  EXPECT_THAT(instead.node->control_inputs(), ElementsAre(first.node));
  EXPECT_THAT(waits->control_inputs(), ElementsAre(instead.node));
  EXPECT_EQ(g_.Find("inner"), nullptr);
}

// A fetched -(-x) changed when the caller reused the tensor that had been fed for x.
TEST_F(SimplifyTest, WhatIsInMemoryOfItsOwnIsNotReadFromFedTensors) {
  const Output x =
      NodeBuilder(&g_, "_Arg", At::current()).Attr("shape", PartialShape({2, 3})).Finish();
  const Output view = Call("Reshape", {x, Ints({3, 2})});
  for (const Output& fed : {x, view}) {
    const Output y = Call("Neg", {Call("Neg", {fed})});
    EXPECT_EQ(Simplified(y), y);
  }
  EXPECT_EQ(Simplified(Call("Reshape", {view, Ints({2, 3})})), x);
  const Output product = Call("MatMul", {x, Call("Transpose", {x, Ints({1, 0})})});
  Reader(product);
  EXPECT_EQ(*FoldTransposes(g_, {}), 1);
  EXPECT_EQ(product.node->input(1), x);
}

TEST_F(SimplifyTest, NoNodeIsPassedThatWaits) {
  const Output x = Fed({2});
  Output inner;
  {
    ControlDependencies after(g_, {Fed({2})});
    inner = Call("Neg", {x});
  }
  const Output y = Call("Neg", {inner});
  EXPECT_EQ(Simplified(y), y);
  EXPECT_EQ(y.node->input(0), inner);
}

TEST_F(SimplifyTest, WhoWaitsForWhatGoesAwayWaitsForTheTensor) {
  const Output x = Fed({2}), other = Fed({2});
  const Output y = Call("Mul", {x, Constant(Tensor::Scalar(1.0f))});
  Node* waits;
  {
    ControlDependencies after(g_, {y});
    waits = Reader(other);
  }
  EXPECT_EQ(Simplified(y), x);
  EXPECT_THAT(waits->control_inputs(), ElementsAre(x.node));
}

// A Merge took the value of the branch that was not taken, because it was no longer dead.
TEST_F(SimplifyTest, WhatAConstantOnABranchKeepsDeadStaysDead) {
  const Output x = Fed({2});
  Node* branch = Switch();
  Output one, order;
  {
    ControlDependencies inside(g_, {Call("Identity", {Output(branch, 1)}, "pivot")});
    one = Constant(Tensor::Scalar(1.0f));
    order = Ints({1, 0});
  }
  const Output instead = Simplified(Call("Mul", {x, one}));
  EXPECT_EQ(instead.node->op(), "Identity");
  EXPECT_THAT(instead.node->control_inputs(), ElementsAre(one.node));
  const Output m = Fed({2, 3});
  const Output same = Simplified(Call("Transpose", {Call("Transpose", {m, order}), Ints({1, 0})}));
  EXPECT_THAT(same.node->control_inputs(), ElementsAre(order.node));
}

TEST_F(SimplifyTest, TheConstantOfTwoTransposesIsOnTheirBranch) {
  const Output x = Fed({2, 3, 4});
  Node* pivot = Call("Identity", {Output(Switch(), 1)}).node;
  Output first, second;
  {
    ControlDependencies inside(g_, {pivot});
    first = Ints({1, 2, 0});
    second = Ints({1, 0, 2});
  }
  const Output y = Call("Transpose", {Call("Transpose", {x, first}), second});
  ASSERT_EQ(Simplified(y), y);
  EXPECT_EQ(y.node->input(0), x);
  EXPECT_NE(y.node->input(1), second);
  EXPECT_THAT(y.node->input(1).node->control_inputs(), ElementsAre(pivot));
  EXPECT_THAT(y.node->control_inputs(), ElementsAre(first.node));
}

// A node that waits for a Switch runs on both branches.
TEST_F(SimplifyTest, OutputsOfASwitchAreReadThroughANodeOnTheBranch) {
  Node* branch = Switch();
  const Output pivot = Call("Identity", {Output(branch, 1)});
  EXPECT_EQ(Simplified(pivot), pivot);
  const Output taken = Simplified(Call("Neg", {Call("Neg", {Output(branch, 1)})}));
  EXPECT_EQ(taken.node->op(), "Identity");
  EXPECT_EQ(taken.node->input(0), Output(branch, 1));
}

TEST_F(SimplifyTest, NothingIsReadAcrossDevices) {
  const Output x = Fed({2});
  Output there;
  {
    DeviceScope device(g_, "/job:worker");
    there = Call("Neg", {x}, "there");
  }
  const Output y = Call("Neg", {there});
  EXPECT_EQ(Simplified(y), y);
  EXPECT_EQ(y.node->input(0), there);
}

TEST_F(SimplifyTest, ProductsTakeTransposedMatricesAsTheyAre) {
  const Output a = Fed({3, 2}), b = Fed({2, 5, 4});
  const Output at = Call("Transpose", {a, Ints({1, 0})}, "at");
  const Output product = Call("MatMul", {at, at});
  Reader(product);
  const Output batch = Call("BatchMatMulV2", {b, Call("Transpose", {b, Ints({0, 2, 1})})});
  Reader(batch);
  const Output turned = Call("BatchMatMulV2", {b, Call("Transpose", {b, Ints({1, 0, 2})})});
  Reader(turned);
  const Output z = Fed({2, 2}, DT_COMPLEX64);
  const Output conjugate = Call("BatchMatMulV2", {z, Call("Transpose", {z, Ints({1, 0})})});
  Reader(conjugate);
  EXPECT_EQ(*FoldTransposes(g_, {}), 3);
  EXPECT_EQ(product.node->input(0), a);
  EXPECT_EQ(product.node->input(1), a);
  EXPECT_TRUE(product.node->AttrOr("transpose_a", false));
  EXPECT_TRUE(product.node->AttrOr("transpose_b", false));
  EXPECT_EQ(g_.Find("at"), nullptr);
  EXPECT_EQ(batch.node->input(1), b);
  EXPECT_TRUE(batch.node->AttrOr("adj_y", false));
  EXPECT_EQ(turned.node->input(1).node->op(), "Transpose");
  EXPECT_EQ(conjugate.node->input(1).node->op(), "Transpose");
}

}  // namespace
}  // namespace sluice
