// Values of loops, and their gradients compared with differences; parallel iterations; calls of
// functions and their gradients.
#include <cmath>

#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "graph/format/text.h"
#include "graph/function/lower.h"
#include "gtest/gtest.h"
#include "ops/data/builders.h"
#include "sluice.h"

namespace sluice {
namespace {

// Runs with loops as single nodes and with frames.
struct Mode {
  bool dynamic_loops;
  int threads;
};
class Loops : public ::testing::TestWithParam<Mode> {
 protected:
  std::vector<float> Run(const OutputList& fetches, std::vector<Feed> feeds = {}) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    SessionOptions options;
    options.dynamic_loops = GetParam().dynamic_loops;
    options.inter_op_threads = GetParam().threads;
    Session session(g, options);
    std::vector<float> values;
    for (int i = 0; i < 2; ++i) {  // a step must not affect the next
      absl::StatusOr<Tensors> out = session.Run(feeds, fetches);
      EXPECT_TRUE(out.ok()) << out.status();
      if (!out.ok()) return {};
      values.clear();
      for (const Tensor& t : *out) {
        for (float v : t.flat<float>()) values.push_back(v);
      }
    }
    return values;
  }
  // Compares the gradient of the sum of y with respect to the vector x, at `at`, with differences.
  void CheckGradient(Output y, Output x, std::vector<float> at, std::vector<Feed> feeds = {}) {
    ASSERT_TRUE(g.status().ok()) << g.status();
    absl::StatusOr<std::vector<Grad>> grads = Gradients({y}, {x});
    ASSERT_TRUE(grads.ok()) << grads.status();
    ASSERT_TRUE((*grads)[0].is_dense());
    auto fed = [&](const std::vector<float>& value) {
      std::vector<Feed> all = feeds;
      Tensor t(DT_FLOAT, x.shape().AsShape());
      std::copy(value.begin(), value.end(), t.data<float>());
      all.push_back({x, t});
      return all;
    };
    const std::vector<float> symbolic = Run({(*grads)[0].dense()}, fed(at));
    ASSERT_EQ(symbolic.size(), at.size());
    auto sum = [&](const std::vector<float>& value) {
      double total = 0;
      for (float v : Run({y}, fed(value))) total += v;
      return total;
    };
    for (size_t i = 0; i < at.size(); ++i) {
      constexpr float kStep = 1e-2f;
      std::vector<float> up = at, down = at;
      up[i] += kStep;
      down[i] -= kStep;
      const double numeric = (sum(up) - sum(down)) / (2 * kStep);
      EXPECT_NEAR(symbolic[i], numeric, 2e-2 * std::max(1.0, std::fabs(numeric))) << i;
    }
  }
  Graph g;
};

Output Below(Output v, int n) { return Less(v, Constant(*v.graph(), n)); }

TEST_P(Loops, VariableAndConstantOfALoop) {
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  OutputList r = WhileLoop([&](const OutputList& v) { return Below(v[0], 3); },
                           [&](const OutputList& v) {
                             return OutputList{v[0] + 1, v[1] * x + Sin(v[1])};
                           },
                           {Constant(g, 0), x});
  CheckGradient(r[1], x, {0.5f, -0.3f});
}

TEST_P(Loops, NoIterations) {
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  OutputList r = WhileLoop([&](const OutputList& v) { return Below(v[0], 0); },
                           [&](const OutputList& v) {
                             return OutputList{v[0] + 1, v[1] * x};
                           },
                           {Constant(g, 0), x});
  CheckGradient(r[1], x, {0.5f, -0.3f});
}

TEST_P(Loops, CondInALoop) {
  Output x = Placeholder(g, DT_FLOAT, {3}, "x");
  auto body = [&](const OutputList& v) {
    Output even = Equal(FloorMod(v[0], Constant(g, 2)), Constant(g, 0));
    Output next = Cond(
        even, [&] { return v[1] * x; }, [&] { return Tanh(v[1]) + v[1]; })[0];
    return OutputList{v[0] + 1, next};
  };
  OutputList r =
      WhileLoop([&](const OutputList& v) { return Below(v[0], 5); }, body, {Constant(g, 0), x});
  CheckGradient(r[1], x, {0.7f, -0.4f, 1.1f});
}

TEST_P(Loops, CondOfUnknownShapesInALoop) {
  Output x = Placeholder(g, DT_FLOAT, {3}, "x");
  Output hidden = PlaceholderWithDefault(x, PartialShape());
  auto body = [&](const OutputList& v) {
    Output even = Equal(FloorMod(v[0], Constant(g, 2)), Constant(g, 0));
    Output next = Cond(
        even, [&] { return v[1] * hidden; }, [&] { return Exp(v[1] * 0.5f); })[0];
    return OutputList{v[0] + 1, next};
  };
  OutputList r = WhileLoop([&](const OutputList& v) { return Below(v[0], 4); }, body,
                           {Constant(g, 0), hidden});
  CheckGradient(r[1], x, {0.7f, -0.4f, 0.9f});
}

TEST_P(Loops, NestedLoops) {
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  auto body = [&](const OutputList& v) {
    OutputList inner = WhileLoop([&](const OutputList& w) { return Less(w[0], v[0]); },
                                 [&](const OutputList& w) {
                                   return OutputList{w[0] + 1, w[1] * v[1] + x};
                                 },
                                 {Constant(g, 0), v[1]});
    return OutputList{v[0] + 1, inner[1] * 0.5f};
  };
  OutputList r =
      WhileLoop([&](const OutputList& v) { return Below(v[0], 4); }, body, {Constant(g, 0), x});
  CheckGradient(r[1], x, {0.6f, -0.5f});
}

TEST_P(Loops, LoopInACondInALoop) {
  Output x = Placeholder(g, DT_FLOAT, {2}, "x");
  auto body = [&](const OutputList& v) {
    auto loop = [&] {
      return WhileLoop([&](const OutputList& w) { return Less(w[0], v[0]); },
                       [&](const OutputList& w) {
                         return OutputList{w[0] + 1, Sin(w[1]) * x};
                       },
                       {Constant(g, 0), v[1]})[1];
    };
    Output late = Greater(v[0], Constant(g, 1));
    return OutputList{v[0] + 1, Cond(late, loop, [&] { return v[1] * 2.0f; })[0]};
  };
  OutputList r =
      WhileLoop([&](const OutputList& v) { return Below(v[0], 4); }, body, {Constant(g, 0), x});
  CheckGradient(r[1], x, {0.6f, -0.5f});
}

// state = tanh(input * W + state * U), with the nodes of dynamic_rnn.
TEST_P(Loops, RecurrentNetwork) {
  Output w = Placeholder(g, DT_FLOAT, {2, 3}, "w");
  Output u = Constant(g, Tensor::Of<float>({3, 3}, {.1f, .2f, .3f, -.1f, .2f, .4f, .3f, .1f, .2f}));
  Tensor series(DT_FLOAT, {4, 1, 2});
  for (int i = 0; i < 8; ++i) series.data<float>()[i] = 0.1f * static_cast<float>(i + 1);
  TensorArray in = TensorArray(g, DT_FLOAT, 4).Unstack(Constant(g, series));
  TensorArray out(g, DT_FLOAT, 4);
  OutputList r =
      WhileLoop([&](const OutputList& v) { return Below(v[0], 4); },
                [&](const OutputList& v) {
                  Output state = Tanh(MatMul(in.Read(v[0]), w) + MatMul(v[2], u));
                  return OutputList{v[0] + 1, out.WithFlow(v[1]).Write(v[0], state).flow(), state};
                },
                {Constant(g, 0), out.flow(), Zeros(g, {1, 3})});
  CheckGradient(out.WithFlow(r[1]).Stack(), w, {.5f, -.2f, .3f, .1f, .4f, -.6f});
}

TEST_P(Loops, RowsGatheredInALoop) {
  Output table = Placeholder(g, DT_FLOAT, {3, 2}, "table");
  OutputList r = WhileLoop([&](const OutputList& v) { return Below(v[0], 3); },
                           [&](const OutputList& v) {
                             Output ids = ExpandDims(v[0], Constant(g, 0));
                             Output one = GatherV2(table, ids, Constant(g, 0));
                             return OutputList{v[0] + 1, v[1] + one * one};
                           },
                           {Constant(g, 0), Zeros(g, {1, 2})});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Output dense = Square(r[1]);
  absl::StatusOr<std::vector<Grad>> grads = Gradients({dense}, {table});
  ASSERT_TRUE(grads.ok()) << grads.status();
  ASSERT_TRUE((*grads)[0].is_slices());
  Output as_dense = ToDense((*grads)[0]);
  const std::vector<float> value =
      Run({as_dense}, {{table, Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}});
  // d/dt of (sum of t^2 over rows)^2 = 4 t * sum.
  EXPECT_EQ(value, (std::vector<float>{4 * 35, 8 * 56, 12 * 35, 16 * 56, 20 * 35, 24 * 56}));
}

TEST_P(Loops, ParallelIterationsGiveTheSame) {
  for (int parallel : {1, 2, 32}) {
    OutputList r =
        WhileLoop([&](const OutputList& v) { return Below(v[0], 50); },
                  [&](const OutputList& v) {
                    return OutputList{v[0] + 1, v[1] + Cast(v[0], DT_FLOAT)};
                  },
                  {Constant(g, 0), Constant(g, 0.0f)}, {.parallel_iterations = parallel});
    EXPECT_EQ(Run({r[1]}), (std::vector<float>{1225}));
  }
}

TEST_P(Loops, MaximumIterations) {
  OutputList r = WhileLoop([&](const OutputList& v) { return Less(v[0], Constant(g, 100.0f)); },
                           [&](const OutputList& v) { return OutputList{v[0] * 2.0f}; },
                           {Constant(g, 1.0f)}, {.maximum_iterations = Constant(g, 3)});
  EXPECT_EQ(Run({r[0]}), (std::vector<float>{8}));
}

constexpr char kFunctions[] = R"(
  node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
         attr { key: 'shape' value { shape { dim { size: 2 } } } } }
  node { name: 'n' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
         attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 3 } } } }
  node { name: 'yes' op: 'Const' attr { key: 'dtype' value { type: DT_BOOL } }
         attr { key: 'value' value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: true } } } }
  node { name: 'call' op: 'PartitionedCall' input: 'x'
         attr { key: 'Tin' value { list { type: DT_FLOAT } } }
         attr { key: 'Tout' value { list { type: DT_FLOAT } } }
         attr { key: 'f' value { func { name: 'square' } } } }
  node { name: 'if' op: 'StatelessIf' input: 'yes' input: 'x'
         attr { key: 'Tcond' value { type: DT_BOOL } }
         attr { key: 'Tin' value { list { type: DT_FLOAT } } }
         attr { key: 'Tout' value { list { type: DT_FLOAT } } }
         attr { key: 'then_branch' value { func { name: 'square' } } }
         attr { key: 'else_branch' value { func { name: 'same' } } } }
  node { name: 'while' op: 'StatelessWhile' input: 'n' input: 'x'
         attr { key: 'T' value { list { type: DT_INT32 type: DT_FLOAT } } }
         attr { key: 'cond' value { func { name: 'positive' } } }
         attr { key: 'body' value { func { name: 'count_down' } } } }
  node { name: 'endless' op: 'PartitionedCall' input: 'x'
         attr { key: 'Tin' value { list { type: DT_FLOAT } } }
         attr { key: 'Tout' value { list { type: DT_FLOAT } } }
         attr { key: 'f' value { func { name: 'recursive' } } } }
  library {
    function {
      signature { name: 'square' input_arg { name: 'a' type: DT_FLOAT }
                  output_arg { name: 'b' type: DT_FLOAT } }
      node_def { name: 'm' op: 'Mul' input: 'a' input: 'a' attr { key: 'T' value { type: DT_FLOAT } } }
      ret { key: 'b' value: 'm:z:0' }
    }
    function {
      signature { name: 'placed' input_arg { name: 'a' type: DT_FLOAT }
                  output_arg { name: 'b' type: DT_FLOAT } }
      node_def { name: 'zero' op: 'Neg' input: 'a' device: '/cpu:0'
                 attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 'open' op: 'Exp' input: 'zero:y:0' device: '/job:localhost'
                 attr { key: 'T' value { type: DT_FLOAT } } }
      node_def { name: 'one' op: 'Neg' input: 'open:y:0' device: '/cpu:1'
                 attr { key: 'T' value { type: DT_FLOAT } } }
      ret { key: 'b' value: 'one:y:0' }
    }
    function {
      signature { name: 'same' input_arg { name: 'a' type: DT_FLOAT }
                  output_arg { name: 'b' type: DT_FLOAT } }
      ret { key: 'b' value: 'a' }
    }
    function {
      signature { name: 'recursive' input_arg { name: 'a' type: DT_FLOAT }
                  output_arg { name: 'b' type: DT_FLOAT } }
      node_def { name: 'again' op: 'PartitionedCall' input: 'a'
                 attr { key: 'Tin' value { list { type: DT_FLOAT } } }
                 attr { key: 'Tout' value { list { type: DT_FLOAT } } }
                 attr { key: 'f' value { func { name: 'recursive' } } } }
      ret { key: 'b' value: 'again:output:0' }
    }
    function {
      signature { name: 'positive' input_arg { name: 'i' type: DT_INT32 }
                  input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'p' type: DT_BOOL } }
      node_def { name: 'zero' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
                 attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
      node_def { name: 'g' op: 'Greater' input: 'i' input: 'zero:output:0'
                 attr { key: 'T' value { type: DT_INT32 } } }
      ret { key: 'p' value: 'g:z:0' }
    }
    function {
      signature { name: 'count_down' input_arg { name: 'i' type: DT_INT32 }
                  input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'j' type: DT_INT32 }
                  output_arg { name: 'b' type: DT_FLOAT } }
      node_def { name: 'one' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
                 attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
      node_def { name: 's' op: 'Sub' input: 'i' input: 'one:output:0'
                 attr { key: 'T' value { type: DT_INT32 } } }
      node_def { name: 'c' op: 'PartitionedCall' input: 'a'
                 attr { key: 'Tin' value { list { type: DT_FLOAT } } }
                 attr { key: 'Tout' value { list { type: DT_FLOAT } } }
                 attr { key: 'f' value { func { name: 'square' } } } }
      ret { key: 'j' value: 's:z:0' } ret { key: 'b' value: 'c:output:0' }
    }
  })";

void Import(Graph& g) {
  absl::StatusOr<ImportResult> imported = ImportGraphDef(std::string_view(kFunctions), g);
  ASSERT_TRUE(imported.ok()) << imported.status();
}

TEST_P(Loops, FunctionsAreCalled) {
  Import(g);
  const std::vector<Feed> feeds = {{g.Find("x"), Tensor::Vector<float>({2, 3})}};
  EXPECT_EQ(Run({g.Find("call")}, feeds), (std::vector<float>{4, 9}));
  EXPECT_EQ(Run({g.Find("if")}, feeds), (std::vector<float>{4, 9}));
  EXPECT_EQ(Run({Output(g.Find("while"), 1)}, feeds), (std::vector<float>{256, 6561}));
}

// The devices of a step's nodes by name, and its only result.
std::map<std::string, std::string> DevicesOfStep(Graph& g, Output fetch, float* result) {
  Session session(g, {.cpu_devices = 2, .disabled_passes = {"all"}});
  RunMetadata metadata;
  const absl::StatusOr<Tensors> out =
      session.Run({{g.Find("x"), Tensor::Vector<float>({0, 0})}}, {fetch}, {},
                  {.output_partition_graphs = true}, &metadata);
  EXPECT_TRUE(out.ok()) << out.status();
  std::map<std::string, std::string> devices;
  if (!out.ok()) return devices;
  *result = (*out)[0].data<float>()[0];
  for (const auto& graph : metadata.partition_graphs) {
    for (const Node* node : graph->nodes()) {
      devices[node->name()] = node->assigned_device().substr(node->assigned_device().size() - 5);
    }
  }
  return devices;
}

TEST(FunctionDevices, OfACallCompleteThoseOfItsNodes) {
  Graph g;
  Import(g);
  for (const char* device : {"/cpu:0", "/cpu:1"}) {
    Node* call = g.Find("call");
    call->SetAttr("f", std::make_shared<const FunctionRef>(FunctionRef{"placed", {}}));
    call->set_device(device);
    float result = 0;
    const auto devices = DevicesOfStep(g, call, &result);
    EXPECT_EQ(result, -1);
    ASSERT_TRUE(devices.contains("call/open")) << device;
    EXPECT_EQ(devices.at("call/zero"), "CPU:0");
    EXPECT_EQ(devices.at("call/open"), device == std::string("/cpu:0") ? "CPU:0" : "CPU:1");
    EXPECT_EQ(devices.at("call/one"), "CPU:1");
  }
}

TEST(FunctionDevices, OfACallHoldForItsBranchesAndLoops) {
  Graph g;
  Import(g);
  for (const char* call : {"if", "while"}) {
    g.Find(call)->set_device("/cpu:1");
    float result = 1;
    const auto devices =
        DevicesOfStep(g, Output(g.Find(call), call == std::string("if") ? 0 : 1), &result);
    EXPECT_EQ(result, 0);
    for (const auto& [name, device] : devices) {
      // A Switch is colocated with its input.
      if (!name.starts_with(StrCat(call, "/")) || name.find("Switch") != name.npos) continue;
      EXPECT_EQ(device, "CPU:1") << name;
    }
  }
}

TEST_P(Loops, GradientsOfCalls) {
  Import(g);
  const std::vector<Feed> feeds = {{g.Find("x"), Tensor::Vector<float>({1, 2})}};
  auto gradient = [&](Output y) {
    absl::StatusOr<std::vector<Grad>> grads = Gradients({y}, {g.Find("x")});
    EXPECT_TRUE(grads.ok()) << grads.status();
    return grads.ok() ? Run({(*grads)[0].dense()}, feeds) : std::vector<float>();
  };
  EXPECT_EQ(gradient(g.Find("call")), (std::vector<float>{2, 4}));
  EXPECT_EQ(gradient(g.Find("if")), (std::vector<float>{2, 4}));
  EXPECT_EQ(gradient(Output(g.Find("while"), 1)), (std::vector<float>{8, 1024}));  // x^8
}

TEST_P(Loops, LoweredCallsKeepTheirNamesAndHaveGradients) {
  Import(g);
  g.Remove(g.Find("endless"));
  absl::StatusOr<int> lowered =
      LowerFunctions(g, g.function_library(), {.keep_all_names = true, .keep_names = {}});
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(*lowered, 3);
  const Output y(g.Find("while"), 1);
  absl::StatusOr<std::vector<Grad>> grads = Gradients({y}, {g.Find("x")});
  ASSERT_TRUE(grads.ok()) << grads.status();
  EXPECT_EQ(Run({y, (*grads)[0].dense()}, {{g.Find("x"), Tensor::Vector<float>({1, 2})}}),
            (std::vector<float>{1, 256, 8, 1024}));
}

TEST_P(Loops, AFunctionThatCallsItselfIsRefused) {
  Import(g);
  Session session(g);
  absl::Status status =
      session.Run({{g.Find("x"), Tensor::Vector<float>({1, 2})}}, {g.Find("endless")}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("function 'recursive' calls itself"));
}

TEST_P(Loops, ARemoteCallNeedsTheNameOfADevice) {
  Import(g);
  const FunctionAttr square = std::make_shared<FunctionRef>(FunctionRef{"square", {}});
  const Output nowhere = Constant(g, Tensor(DT_STRING, {0}));
  const OutputList call = RemoteCall(nowhere, {g.Find("x")}, {DT_FLOAT}, square, {.name = "far"});
  Session session(g);
  absl::Status status =
      session.Run({{g.Find("x"), Tensor::Vector<float>({1, 2})}}, {call[0]}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("RemoteCall node 'far': expected a device's name as target, "
                                   "got string[0]"));
}

INSTANTIATE_TEST_SUITE_P(, Loops, ::testing::Values(Mode{false, 1}, Mode{true, 1}, Mode{true, 4}),
                         [](const auto& info) {
                           return std::string(info.param.dynamic_loops ? "Frames" : "OneNode") +
                                  std::to_string(info.param.threads);
                         });

// Cancellation alone does not end work that never blocks: the kernel has to check for it.
TEST(TimeLimits, ReachAKernelThatGoesOnByItself) {
  Graph g;
  const auto number = [&](int64_t value) { return Constant(g, Tensor::Scalar<int64_t>(value)); };
  const Output nothing =
      RangeDataset(number(0), number(0), number(1), {DT_INT64}, {PartialShape::Scalar()});
  const Output repeated =
      RepeatDataset(nothing, number(int64_t{1} << 62), {DT_INT64}, {PartialShape::Scalar()});
  const OutputList single = DatasetToSingleElement(repeated, {DT_INT64}, {PartialShape::Scalar()});
  ASSERT_TRUE(g.status().ok()) << g.status();
  for (const int threads : {1, 2}) {
    SessionOptions options;
    options.inter_op_threads = threads;
    Session session(g, options);
    const absl::Status status = session.Run({}, single, {}, {.timeout_ms = 50}).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  }
}

TEST(TimeLimits, ReachAChoiceAmongManyPoints) {
  constexpr int64_t kPoints = 20000, kRetries = 1 << 16;
  Graph g;
  const auto number = [&](int64_t value) { return Constant(g, Tensor::Scalar<int64_t>(value)); };
  const Output points = Placeholder(g, DT_FLOAT);
  const Output samples =
      KmeansPlusPlusInitialization(points, number(kPoints), number(0), number(kRetries));
  ASSERT_TRUE(g.status().ok()) << g.status();
  Tensor line(DT_FLOAT, {kPoints, 1});
  for (int64_t i = 0; i < kPoints; ++i) line.data<float>()[i] = static_cast<float>(i);
  Session session(g);
  const absl::Status status =
      session.Run({{points, line}}, {samples}, {}, {.timeout_ms = 50}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST(TimeLimits, ReachAWideBeamSearch) {
  constexpr int64_t kSteps = 64, kClasses = 64, kWidth = 1 << 16;
  Graph g;
  const Output logits = Placeholder(g, DT_FLOAT);
  const Output lengths = Constant(g, Tensor::Vector<int32_t>({static_cast<int32_t>(kSteps)}));
  const auto decoded = CTCBeamSearchDecoder(logits, lengths, kWidth, 1);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Tensor equal(DT_FLOAT, {kSteps, 1, kClasses});
  std::fill_n(equal.data<float>(), equal.num_elements(), 0.0f);
  Session session(g);
  const absl::Status status =
      session.Run({{logits, equal}}, {decoded.log_probability}, {}, {.timeout_ms = 50}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

}  // namespace
}  // namespace sluice
