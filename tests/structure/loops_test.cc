// WhileLoop and its gradients build the same nodes as TensorFlow.
#include "gmock/gmock.h"
#include "graph/build/cond.h"
#include "graph/build/scopes.h"
#include "graph/build/while.h"
#include "graph/format/graph_def.h"
#include "graph/format/meta_graph.h"
#include "graph/gradient/gradients.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/lists/tensor_array_handle.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"
#include "tests/structure/graph_lines.h"

namespace sluice {
namespace {

Output Pair(Graph& g, std::string_view name = "x") { return Placeholder(g, DT_FLOAT, {2}, name); }
Output Count(Graph& g, std::string_view name = "n") {
  return Placeholder(g, DT_INT32, PartialShape::Scalar(), name);
}
// x < n with the nodes of Python's operator.
template <typename T>
Output LessThan(Output x, T n) {
  if (!x) return x;
  NameScope scope(*x.graph(), "Less");
  Output y = Constant(*x.graph(), n, "y");
  return Less(x, y, {.name = scope.prefix()});
}
void Differentiate(const OutputList& ys, const OutputList& xs) {
  absl::StatusOr<std::vector<Grad>> grads = Gradients(ys, xs);
  EXPECT_TRUE(grads.ok()) << grads.status();
}

TEST(LoopsTest, Loop) {
  Graph g;
  Output x = Pair(g), n = Count(g);
  OutputList r = WhileLoop([&](const OutputList& v) { return Less(v[0], n); },
                           [&](const OutputList& v) {
                             Output next = v[0] + 1;
                             return OutputList{next, v[1] * x};
                           },
                           {Constant(g, 0), x});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Differentiate({r[1]}, {x});
  EXPECT_TRUE(EqualsFixture(g, "while_loop"));
}

TEST(LoopsTest, LoopWithCondAndBound) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  Output bound;
  {
    NameScope loop(g, "loop/");
    bound = Constant(g, 5, "maximum_iterations");
  }
  OutputList r = WhileLoop([&](const OutputList& v) { return LessThan(ReduceSum(v[0]), 10.0f); },
                           [&](const OutputList& v) {
                             Output small = LessThan(ReduceSum(v[0]), 3.0f);
                             return Cond(
                                 small, [&] { return v[0] * 2.0f; }, [&] { return v[0] + x; });
                           },
                           {x}, {.maximum_iterations = bound, .name = "loop"});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Differentiate({r[0]}, {x});
  EXPECT_TRUE(EqualsFixture(g, "while_loop_with_cond"));
}

// A graph with loops is built, written, read again, and then differentiated.
TEST(LoopsTest, ContextsPassThroughAMetaGraph) {
  Graph built;
  Output x = Placeholder(built, DT_FLOAT, {-1}, "x");
  Output bound;
  {
    NameScope loop(built, "loop/");
    bound = Constant(built, 5, "maximum_iterations");
  }
  WhileLoop([&](const OutputList& v) { return LessThan(ReduceSum(v[0]), 10.0f); },
            [&](const OutputList& v) {
              Output small = LessThan(ReduceSum(v[0]), 3.0f);
              return Cond(
                  small, [&] { return v[0] * 2.0f; }, [&] { return v[0] + x; });
            },
            {x}, {.maximum_iterations = bound, .name = "loop"});
  absl::StatusOr<pb::MetaGraphDef> meta = ExportMetaGraphDef(built);
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(meta->collection_def().at("while_context").bytes_list().value_size(), 1);
  Graph read;
  absl::StatusOr<ImportedMetaGraph> imported = ImportMetaGraphDef(*meta, read);
  ASSERT_TRUE(imported.ok()) << imported.status();
  Differentiate({Output(read.Find("loop/Exit_1"))}, {Output(read.Find("x"))});
  // The reader knows less about shapes than the builder did, but the loops are the same.
  EXPECT_NE(read.Find("gradients/loop/Switch_1_grad/b_switch"), nullptr);
  EXPECT_NE(read.Find("gradients/loop/cond/Merge_grad/cond_grad"), nullptr);
  EXPECT_NE(read.Find("gradients/loop/Enter_1_grad/Exit"), nullptr);
}

TEST(LoopsTest, LoopWithoutContextIsNamed) {
  Graph built;
  Output x = Pair(built);
  OutputList r = WhileLoop([&](const OutputList& v) { return LessThan(ReduceSum(v[0]), 9.0f); },
                           [&](const OutputList& v) { return OutputList{v[0] * 2.0f}; }, {x});
  absl::StatusOr<pb::GraphDef> def = ExportGraphDef(built);
  Graph read;
  ASSERT_TRUE(ImportGraphDef(*def, read).ok());
  EXPECT_EQ(Gradients({Output(read.Find("while/Exit"))}, {Output(read.Find("x"))}).status(),
            absl::FailedPreconditionError(
                "gradient of Exit node 'while/Exit': expected the context of its while loop, got a "
                "graph without one; a MetaGraphDef keeps contexts in its collection "
                "'while_context', a GraphDef does not"));
}

TEST(LoopsTest, SecondGradientIsRefusedAtTheLoop) {
  Graph g;
  Output x = Pair(g);
  OutputList r = WhileLoop([&](const OutputList& v) { return LessThan(ReduceSum(v[0]), 9.0f); },
                           [&](const OutputList& v) { return OutputList{v[0] * x}; }, {x});
  absl::StatusOr<std::vector<Grad>> first = Gradients({r[0]}, {x});
  ASSERT_TRUE(first.ok()) << first.status();
  absl::Status second = Gradients({(*first)[0].dense()}, {x}).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(second.message()),
              ::testing::HasSubstr("Second-order gradient for while loops not supported: Exit node "
                                   "'gradients/while/"));
}

TEST(LoopsTest, MistakesNameLoopAndLine) {
  auto error_of = [](auto build) {
    Graph g;
    build(g);
    return std::string(g.status().message());
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of([](Graph& g) {
                WhileLoop([](const OutputList& v) { return v[0]; },
                          [](const OutputList& v) { return v; }, {Constant(g, 1.0f)});
              }),
              HasSubstr("WhileLoop 'while/': the condition must be a bool, got float"));
  EXPECT_THAT(error_of([](Graph& g) {
                WhileLoop([](const OutputList& v) { return LessThan(v[0], 1.0f); },
                          [](const OutputList&) { return OutputList(); }, {Constant(g, 1.0f)});
              }),
              HasSubstr("the body must give a value for each of 1 variables, got 0"));
  EXPECT_THAT(error_of([](Graph& g) {
                WhileLoop([](const OutputList& v) { return LessThan(ReduceSum(v[0]), 1.0f); },
                          [](const OutputList& v) {
                            return OutputList{Concat({v[0], v[0]}, 0)};
                          },
                          {Zeros(g, {2})});
              }),
              HasSubstr("enters the loop with shape [2], but has shape [4] after one iteration"));
  EXPECT_THAT(error_of([](Graph& g) {
                WhileLoop([](const OutputList& v) { return LessThan(v[0], 1.0f); },
                          [](const OutputList& v) { return v; }, {Constant(g, 1.0f)},
                          {.parallel_iterations = 0});
              }),
              HasSubstr("'parallel_iterations' must be positive, got 0"));
}

TEST(LoopsTest, MistakesDoNotCountTheHiddenCounter) {
  const auto error_of = [](const auto& condition, const auto& body) {
    Graph g;
    WhileLoop(condition, body, {Constant(g, 1.0f)}, {.maximum_iterations = Constant(g, 3)});
    return std::string(g.status().message());
  };
  const auto is_small = [](const OutputList& v) { return LessThan(v[0], 1.0f); };
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of(is_small, [](const OutputList&) { return OutputList(); }),
              HasSubstr("the body must give a value for each of 1 variables, got 0"));
  EXPECT_THAT(
      error_of(is_small, [](const OutputList& v) { return OutputList{Cast(v[0], DT_INT32)}; }),
      HasSubstr("variable 0 is of type float, but the body gives int32"));
  EXPECT_THAT(
      error_of([](const OutputList& v) { return v[0]; }, [](const OutputList& v) { return v; }),
      HasSubstr("the condition must be a bool, got float"));
}

TEST(LoopsTest, TensorArrays) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {3, 2}, "x");
  TensorArray rows = TensorArray(g, DT_FLOAT, 3).Unstack(x);
  TensorArray out(g, DT_FLOAT, 3);
  Output i = Constant(g, 0);
  OutputList r = WhileLoop([&](const OutputList& v) { return LessThan(v[0], 3); },
                           [&](const OutputList& v) {
                             Output y = Tanh(rows.Read(v[0]) + v[2]);
                             Output next = v[0] + 1;
                             return OutputList{next, out.WithFlow(v[1]).Write(v[0], y).flow(), y};
                           },
                           {i, out.flow(), Zeros(g, {2})});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Differentiate({out.WithFlow(r[1]).Stack()}, {x});
  EXPECT_TRUE(EqualsFixture(g, "while_loop_with_tensor_arrays"));
}

TEST(LoopsTest, NestedLoops) {
  Graph g;
  Output x = Pair(g), n = Count(g);
  auto body = [&](const OutputList& v) {
    OutputList inner = WhileLoop([&](const OutputList& w) { return Less(w[0], v[0]); },
                                 [&](const OutputList& w) {
                                   Output next = w[0] + 1;
                                   Output product = w[1] * v[1];
                                   return OutputList{next, product + x};
                                 },
                                 {Constant(g, 0), v[1]}, {.name = "inner"});
    Output next = v[0] + 1;
    return OutputList{next, inner[1] * 2.0f};
  };
  OutputList r = WhileLoop([&](const OutputList& v) { return Less(v[0], n); }, body,
                           {Constant(g, 0), x}, {.parallel_iterations = 3, .name = "outer"});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Differentiate({r[1]}, {x});
  EXPECT_TRUE(EqualsFixture(g, "nested_while_loops"));
}

TEST(LoopsTest, UnknownShapes) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, {-1, 3}, "x"), n = Count(g);
  OutputList r =
      WhileLoop([&](const OutputList& v) { return Less(v[0], n); },
                [&](const OutputList& v) {
                  Output next = v[0] + 1;
                  Output a = Exp(v[2]);
                  return OutputList{next, a, Sin(x)};
                },
                {Constant(g, 0), x, x},
                {.swap_memory = true,
                 .shape_invariants = {PartialShape::Scalar(), PartialShape(), PartialShape()}});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Differentiate({r[1]}, {x});
  EXPECT_TRUE(EqualsFixture(g, "while_loop_of_unknown_shapes"));
}

TEST(LoopsTest, RowsOfAVariable) {
  Graph g;
  Variable w(g, "w", Tensor::Of<float>({4, 2}, {0, 0, 0, 0, 0, 0, 0, 0}), {.use_resource = false});
  Output ids = Placeholder(g, DT_INT32, {3}, "ids");
  Output i = Constant(g, 0);
  OutputList r = WhileLoop([&](const OutputList& v) { return LessThan(v[0], 3); },
                           [&](const OutputList& v) {
                             Output next = v[0] + 1;
                             return OutputList{next, v[1] + Gather(w, ids)};
                           },
                           {i, Zeros(g, {3, 2})});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Differentiate({r[1]}, {w.handle()});
  EXPECT_TRUE(EqualsFixture(g, "while_loop_gathers_rows"));
}

TEST(LoopsTest, LoopInCond) {
  Graph g;
  Output p = Placeholder(g, DT_BOOL, PartialShape::Scalar(), "p"), x = Pair(g);
  auto loop = [&] {
    return WhileLoop([&](const OutputList& v) { return LessThan(v[0], 3); },
                     [&](const OutputList& v) {
                       Output next = v[0] + 1;
                       return OutputList{next, v[1] * x};
                     },
                     {Constant(g, 0), x})[1];
  };
  OutputList r = Cond(p, loop, [&] { return Identity(x); });
  ASSERT_TRUE(g.status().ok()) << g.status();
  Differentiate({r[0]}, {x});
  EXPECT_TRUE(EqualsFixture(g, "while_loop_in_cond"));
}

TEST(LoopsTest, ControlsAreDrawnIn) {
  Graph g;
  Output x = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "x");
  Output y = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "y");
  {
    ControlDependencies after_x(g, {x});
    WhileLoop([&](const OutputList& v) { return LessThan(v[0], 9.0f); },
              [&](const OutputList& v) {
                ControlDependencies after_y(g, {y});
                return OutputList{v[0] * 2.0f};
              },
              {y});
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_TRUE(EqualsFixture(g, "while_loop_after_controls"));
}

}  // namespace
}  // namespace sluice
