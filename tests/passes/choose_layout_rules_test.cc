#include "executor/passes/choose_layout.h"
#include "gmock/gmock.h"
#include "graph/build/node_builder.h"
#include "graph/infer/shape_context.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

OP(LayoutSink, "Has an effect.")
    .Input("x", "T")
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(UnknownOutputs());

class ChooseLayoutTest : public ::testing::Test {
 protected:
  Output Fed(PartialShape shape) {
    return NodeBuilder(&g_, "Placeholder", At::current())
        .Attr("shape", shape)
        .Attr("dtype", DT_FLOAT)
        .Finish();
  }
  Output Ints(std::initializer_list<int32_t> values) {
    return NodeBuilder(&g_, "Const", At::current())
        .Attr("value", Tensor::Vector<int32_t>(values))
        .Attr("dtype", DT_INT32)
        .Finish();
  }
  Output Call(std::string_view op, const OutputList& inputs) {
    NodeBuilder b(&g_, op, At::current());
    for (const Output& in : inputs) b.Input(in);
    return b.Finish();
  }
  Output Conv(Output x, Output filter, std::vector<int64_t> strides = {1, 1, 1, 1},
              std::string_view name = "") {
    return NodeBuilder(&g_, "Conv2D", At::current())
        .Name(name)
        .Input(x)
        .Input(filter)
        .Attr("strides", std::move(strides))
        .Attr("padding", std::string("SAME"))
        .Attr("data_format", std::string("NCHW"))
        .Finish();
  }
  // 3 x 3 filters with 4 output channels.
  Output Conv(Output x, std::vector<int64_t> strides = {1, 1, 1, 1}, std::string_view name = "") {
    const int64_t channels = x.shape().rank() == 4 ? x.shape().dim(1) : 4;
    return Conv(x, Fed({3, 3, channels, 4}), std::move(strides), name);
  }
  Output BiasAdd(Output x, Output bias) {
    return NodeBuilder(&g_, "BiasAdd", At::current())
        .Input(x)
        .Input(bias)
        .Attr("data_format", std::string("NCHW"))
        .Finish();
  }
  Output Enter(Output x) {
    return NodeBuilder(&g_, "Enter", At::current())
        .Input(x)
        .Attr("frame_name", std::string("loop"))
        .Finish();
  }
  Output ConvGradient(Output sizes, Output y) {
    return NodeBuilder(&g_, "Conv2DBackpropInput", At::current())
        .Input(sizes)
        .Input(Fed({3, 3, 4, 4}))
        .Input(y)
        .Attr("strides", std::vector<int64_t>{1, 1, 1, 1})
        .Attr("padding", std::string("SAME"))
        .Attr("data_format", std::string("NCHW"))
        .Finish();
  }
  Node* Reader(Output x) { return Call("LayoutSink", {x}).node; }

  // The number of nodes that the pass changed.
  int Choose(std::set<std::string> keep = {}) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    const absl::StatusOr<int> turned = ChooseLayout(g_, {.keep = std::move(keep)});
    EXPECT_TRUE(turned.ok()) << turned.status();
    return turned.value_or(-1);
  }
  int NumTransposes() const {
    int count = 0;
    for (const Node* node : g_.nodes()) count += node->op() == "Transpose" ? 1 : 0;
    return count;
  }
  static std::string FormatOf(Output x) { return x.node->AttrOr<std::string>("data_format", ""); }
  static bool IsTransposeOf(Output y, Output x) {
    return y.node->op() == "Transpose" && y.node->input(0) == x;
  }

  const PartialShape images_ = {2, 3, 8, 9};
  Graph g_;
};

TEST_F(ChooseLayoutTest, AChainIsTurnedWhereItBeginsAndEnds) {
  const Output x = Fed(images_), first = Conv(x, {1, 1, 2, 3});
  const Output middle = Call("Relu", {BiasAdd(first, Fed({4}))}), last = Conv(middle);
  Node* reader = Reader(last);
  EXPECT_EQ(Choose(), 4);
  EXPECT_EQ(NumTransposes(), 2);
  ASSERT_TRUE(IsTransposeOf(first.node->input(0), x));
  EXPECT_TRUE(IsTransposeOf(reader->input(0), last));
  EXPECT_THAT(first.node->input(0).node->input(1).node->FindAttr<Tensor>("value")->flat<int32_t>(),
              ElementsAre(0, 2, 3, 1));
  EXPECT_EQ(last.node->input(0), middle);
  EXPECT_EQ(FormatOf(first), "NHWC");
  EXPECT_THAT(*first.node->FindAttr<std::vector<int64_t>>("strides"), ElementsAre(1, 2, 3, 1));
  EXPECT_EQ(last.shape(), (PartialShape{2, 4, 3, 4}));
  EXPECT_EQ(reader->input(0).shape(), (PartialShape{2, 4, 4, 3}));
}

TEST_F(ChooseLayoutTest, WhatGainsNothingStaysAsItIs) {
  const Output alone = Conv(Fed(images_));
  Reader(Call("Relu", {alone}));
  Reader(Call("Relu", {BiasAdd(Fed(images_), Fed({3}))}));  // no convolution
  EXPECT_EQ(Choose(), 0);
  EXPECT_EQ(NumTransposes(), 0);
  EXPECT_EQ(FormatOf(alone), "NCHW");
}

TEST_F(ChooseLayoutTest, WhatIsNotKnownOrRefusedOrKeptStays) {
  const Output of_any = Conv(Conv(Fed(PartialShape())));
  const Output refused = Conv(Conv(Fed(images_), {1, 2, 1, 1}), {1, 2, 1, 1});
  const Output kept = Conv(Conv(Fed(images_)), {1, 1, 1, 1}, "kept");
  const Output after = Conv(kept), last = Conv(after);
  for (const Output& y : {of_any, refused, last}) Reader(y);
  EXPECT_EQ(Choose({"kept"}), 2);
  for (const Output& y : {of_any, refused, kept}) EXPECT_EQ(FormatOf(y), "NCHW");
  EXPECT_EQ(FormatOf(last), "NHWC");
  EXPECT_TRUE(IsTransposeOf(after.node->input(0), kept));
}

// A Transpose could read another value of the variable than the convolution.
TEST_F(ChooseLayoutTest, ImagesInVariablesStay) {
  const Output variable = NodeBuilder(&g_, "VariableV2", At::current())
                              .Attr("shape", images_)
                              .Attr("dtype", DT_FLOAT)
                              .Finish();
  const Output first = Conv(Call("Identity", {variable}));
  Reader(Conv(Call("Relu", {Conv(first)})));
  EXPECT_EQ(Choose(), 3);
  EXPECT_EQ(FormatOf(first), "NCHW");
}

TEST_F(ChooseLayoutTest, WhoReadsFromOutsideReadsOneTransposeAndTheOldSizes) {
  const Output first = Conv(Fed(images_)), sizes = Call("Shape", {first});
  Reader(Conv(Call("Relu", {first})));
  Node *a = Reader(first), *b = Reader(first), *of_sizes = Reader(sizes);
  EXPECT_EQ(Choose(), 3);
  EXPECT_TRUE(IsTransposeOf(a->input(0), first));
  EXPECT_EQ(a->input(0), b->input(0));
  EXPECT_EQ(sizes.node->input(0), first);
  EXPECT_EQ(of_sizes->input(0).node->op(), "Gather");
  EXPECT_EQ(of_sizes->input(0).node->input(0), sizes);
}

TEST_F(ChooseLayoutTest, SizesOfGradientsAreTurnedOrTakenAsTheyAre) {
  const Output x = Conv(Fed(images_)), y = Conv(x), sizes = Call("Shape", {x});
  const Output two = Ints({8, 9});
  const Output of_shape = ConvGradient(sizes, y), of_two = ConvGradient(two, y);
  const Output of_constant = ConvGradient(Ints({2, 4, 8, 9}), y);
  const Output wrong = ConvGradient(Ints({2, 4, 7, 9}), y);  // as its kernel says
  for (const Output& out : {of_shape, of_constant, of_two, wrong}) Reader(out);
  EXPECT_EQ(Choose(), 5);
  EXPECT_EQ(of_shape.node->input(0), sizes);
  EXPECT_EQ(FormatOf(of_two), "NHWC");
  EXPECT_EQ(of_two.node->input(0), two);
  EXPECT_EQ(FormatOf(of_constant), "NHWC");
  EXPECT_THAT(of_constant.node->input(0).node->FindAttr<Tensor>("value")->flat<int32_t>(),
              ElementsAre(2, 8, 9, 4));
  EXPECT_EQ(FormatOf(wrong), "NCHW");
}

TEST_F(ChooseLayoutTest, ReductionsThatKeepTheOrderOfWhatIsLeftEndAChain) {
  const Output x = Conv(Conv(Fed(images_))), y = Conv(Conv(Fed(images_)));
  const Output of_space = Call("Mean", {x, Ints({-1, 2})}),
               of_height = Call("Mean", {y, Ints({2})});
  Reader(of_space);
  Reader(of_height);
  EXPECT_EQ(Choose(), 5);
  EXPECT_EQ(of_space.node->input(0), x);
  EXPECT_THAT(of_space.node->input(1).node->FindAttr<Tensor>("value")->flat<int32_t>(),
              ElementsAre(2, 1));
  EXPECT_TRUE(IsTransposeOf(of_height.node->input(0), y));  // its columns come before its channels
}

// The error names sizes in the order of the layout.
TEST_F(ChooseLayoutTest, SumsOfBatchesThatMayDifferStay) {
  const Output x = Fed({-1, 3, 8, 8}), other = Fed({-1, 3, 8, 8});
  const Output a = Conv(x), b = Conv(x), c = Conv(other);
  const Output same = Call("AddV2", {a, b}), differ = Call("AddV2", {b, c});
  Reader(Conv(same));
  Reader(Conv(differ));
  Choose();
  EXPECT_EQ(same.node->input(0), a);
  EXPECT_EQ(differ.shape(), (PartialShape{-1, 4, 8, 8}));
  EXPECT_TRUE(IsTransposeOf(differ.node->input(0), b));
}

TEST_F(ChooseLayoutTest, ControlEdgesStayAndConstantsAreInTheLoopOfTheirReaders) {
  const Output before = Fed({}), outside = Fed(images_), filter = Fed({3, 3, 3, 3});
  const Output x = Enter(outside), entered = Enter(filter);
  Reader(Conv(Conv(x, entered), entered));
  Output waits;
  {
    ControlDependencies after(g_, {before});
    waits = Conv(outside, filter);
  }
  Reader(Conv(waits, filter));
  EXPECT_EQ(Choose(), 4);
  EXPECT_THAT(waits.node->control_inputs(), ElementsAre(before.node));
  ASSERT_EQ(x.node->uses().size(), 1u);
  const Node& inside = *x.node->uses().front().dst;
  EXPECT_EQ(inside.op(), "Transpose");
  EXPECT_THAT(inside.input(1).node->control_inputs(), ElementsAre(x.node));
  EXPECT_TRUE(waits.node->input(0).node->input(1).node->control_inputs().empty());
}

TEST_F(ChooseLayoutTest, ImagesThatTheUserTurnsAreTakenAsTheyWere) {
  const Output x = Call("Relu", {Fed({2, 8, 9, 3})});
  const Output turned = Call("Transpose", {x, Ints({0, 3, 1, 2})});
  turned.node->set_output_shape(0, images_);
  const Output alone = Conv(turned);
  Reader(alone);
  EXPECT_EQ(Choose(), 1);
  EXPECT_EQ(alone.node->input(0), x);
  EXPECT_EQ(NumTransposes(), 1);
}

}  // namespace
}  // namespace sluice
