// Attention that is built from matmuls and a softmax runs as one node, and its gradients as
// another. Both give the same results as the ops.
#include <cmath>
#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

struct Operands {
  Output q, k, v, mask;
};
using Build = std::function<Output(const Operands&)>;

Tensor Numbers(const TensorShape& shape, float scale) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] =
        scale * std::sin(0.7f * static_cast<float>(i * i % 1013 + t.num_elements()));
  }
  return t;
}

Output BuildAttention(const Operands& o, bool has_mask, float scale) {
  Output scores = BatchMatMulV2(o.q, o.k, {.adj_y = true});
  if (scale != 1) scores = scores * scale;
  if (has_mask) scores = scores + o.mask;
  return BatchMatMulV2(Softmax(scores), o.v);
}

// The fetches of a step, and the number of nodes that it ran, by kind.
struct Outcome {
  Tensors values;
  int fused = 0, fused_gradients = 0, softmaxes = 0, products = 0;
};

struct Shapes {
  TensorShape q, k, v, mask;
};

struct Feeds {
  Tensor q, k, v, mask;
};

Feeds FeedsOf(const Shapes& s) {
  return {Numbers(s.q, 1), Numbers(s.k, 0.8f), Numbers(s.v, 1.3f), Numbers(s.mask, 2)};
}

// The result, and its gradients if requested.
absl::StatusOr<Outcome> OutcomeOf(const Build& build, const Feeds& feeds, bool has_gradients,
                                  std::set<std::string> disabled, bool knows_shapes = true) {
  Graph g;
  const auto placeholder = [&](const Tensor& t, const char* name) {
    return Placeholder(g, DT_FLOAT, knows_shapes ? PartialShape(t.shape()) : PartialShape(), name);
  };
  const Operands o = {placeholder(feeds.q, "q"), placeholder(feeds.k, "k"),
                      placeholder(feeds.v, "v"), placeholder(feeds.mask, "mask")};
  const Output y = build(o);
  OutputList fetches = {y};
  if (has_gradients) {
    SLUICE_ASSIGN_OR_RETURN(const auto gradients,
                            Gradients({ReduceSum(Sin(y) * y)}, {o.q, o.k, o.v}));
    for (const auto& gradient : gradients) fetches.push_back(gradient.dense());
  }
  SLUICE_RETURN_IF_ERROR(g.status());
  Session session(g, Without(std::move(disabled)));
  std::map<std::string, int> counts;
  SLUICE_ASSIGN_OR_RETURN(
      const Tensors values,
      RunAndCount(session, {{{o.q, feeds.q}, {o.k, feeds.k}, {o.v, feeds.v}, {o.mask, feeds.mask}}},
                  fetches, {}, &counts));
  return Outcome{values, counts["_Attention"], counts["_AttentionGrad"], counts["Softmax"],
                 counts["BatchMatMulV2"]};
}

// Compares with a tolerance of 2e-6 of the largest element. Values that are not finite must be
// equal.
void ExpectNear(const Tensor& found, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  float largest = 1e-3f;
  for (const float x : expected.flat<float>()) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const float x = found.data<float>()[i], y = expected.data<float>()[i];
    if (std::isnan(y)) {
      EXPECT_TRUE(std::isnan(x)) << what << ", element " << i << ": " << x;
    } else if (std::isinf(y)) {
      EXPECT_EQ(x, y) << what << ", element " << i;
    } else {
      EXPECT_NEAR(x, y, 2e-6f * largest) << what << ", element " << i;
    }
  }
}

void ExpectFusedAsPlain(const Build& build, const Feeds& feeds, const std::string& name) {
  for (const bool has_gradients : {false, true}) {
    const std::string what = StrCat(name, has_gradients ? ", gradients" : "");
    const auto plain = OutcomeOf(build, feeds, has_gradients, {"fuse_attention"});
    const auto fused = OutcomeOf(build, feeds, has_gradients, {});
    ASSERT_TRUE(plain.ok()) << what << ": " << plain.status();
    ASSERT_TRUE(fused.ok()) << what << ": " << fused.status();
    EXPECT_EQ(plain->fused + plain->fused_gradients, 0) << what;
    EXPECT_EQ(fused->fused, 1) << what;
    EXPECT_EQ(fused->fused_gradients, has_gradients ? 1 : 0) << what;
    EXPECT_EQ(fused->softmaxes, 0) << what;
    EXPECT_EQ(fused->products, 0) << what;
    for (size_t i = 0; i < plain->values.size(); ++i) {
      ExpectNear(fused->values[i], plain->values[i], StrCat(what, ", value ", i));
    }
  }
}

TEST(FuseAttention, GivesWhatItsOpsGive) {
  struct Row {
    const char* name;
    Shapes shapes;
    bool has_mask;
    float scale;
  };
  const Row rows[] = {
      {"one pair", {{1, 4, 3}, {1, 5, 3}, {1, 5, 2}, {4, 5}}, true, 0.5f},
      {"heads", {{2, 3, 17, 8}, {2, 3, 17, 8}, {2, 3, 17, 8}, {17, 17}}, true, 0.25f},
      {"no mask", {{2, 3, 17, 8}, {2, 3, 33, 8}, {2, 3, 33, 5}, {1}}, false, 0.25f},
      {"no scale", {{5, 16, 16}, {5, 32, 16}, {5, 32, 16}, {32}}, true, 1},
      {"neither", {{5, 1, 1}, {5, 1, 1}, {5, 1, 1}, {1}}, false, 1},
      {"a mask for each sentence",
       {{3, 2, 9, 4}, {3, 2, 20, 4}, {3, 2, 20, 4}, {3, 1, 1, 20}},
       true,
       0.3f},
      {"a mask for each head", {{3, 2, 9, 4}, {3, 2, 20, 4}, {3, 2, 20, 4}, {2, 9, 20}}, true, 2},
      {"many rows of one pair",
       {{1, 1, 300, 16}, {1, 1, 70, 16}, {1, 1, 70, 16}, {300, 70}},
       true,
       0.25f},
      {"long", {{1, 2, 130, 32}, {1, 2, 1500, 32}, {1, 2, 1500, 32}, {1500}}, true, 0.17f},
  };
  for (const Row& row : rows) {
    const Build build = [&](const Operands& o) {
      return BuildAttention(o, row.has_mask, row.scale);
    };
    ExpectFusedAsPlain(build, FeedsOf(row.shapes), row.name);
  }
}

TEST(FuseAttention, LooksLikeWhatPeopleWrite) {
  const Shapes shapes = {{2, 3, 7, 4}, {2, 3, 9, 4}, {2, 3, 9, 4}, {7, 9}};
  const std::pair<const char*, Build> builds[] = {
      {"divided",
       [](const Operands& o) {
         return BatchMatMulV2(Softmax(o.mask + BatchMatMulV2(o.q, o.k, {.adj_y = true}) / 2.0f),
                              o.v);
       }},
      {"named steps",
       [](const Operands& o) {
         const Output scores = Identity(BatchMatMulV2(o.q, o.k, {.adj_y = true}) * 0.5f);
         return BatchMatMulV2(Identity(Softmax(Identity(scores + o.mask))), o.v);
       }},
      {"a scaled query",
       [](const Operands& o) {
         return BuildAttention({o.q * 0.5f, o.k, o.v, o.mask}, true, 1);
       }},
      {"one tensor thrice",
       [](const Operands& o) {
         return BuildAttention({o.k, o.k, o.k * 1.0f, {}}, false, 0.5f) + ReduceSum(o.q) +
                ReduceSum(o.v);
       }},
  };
  for (const auto& [name, build] : builds) ExpectFusedAsPlain(build, FeedsOf(shapes), name);
}

TEST(FuseAttention, HeadsOfLayersInARow) {
  const Shapes shapes = {{2, 11, 12}, {12, 36}, {12, 36}, {11, 11}};
  const auto layer = [](Output x, Output weights, Output mask) {
    Graph& g = *x.graph();
    const Output qkv = Reshape(MatMul(Reshape(x, {22, 12}), weights), {2, 11, 3, 3, 4});
    const Output turned = Transpose(qkv, Constant(g, {2, 0, 3, 1, 4}));
    const auto part = [&](int i) {
      return Squeeze(Slice(turned, {i, 0, 0, 0, 0}, {1, 2, 3, 11, 4}), {.squeeze_dims = {0}});
    };
    const Output y = BuildAttention({part(0), part(1), part(2), mask}, true, 0.5f);
    return x + Reshape(Transpose(y, Constant(g, {0, 2, 1, 3})), {2, 11, 12});
  };
  const Build build = [&](const Operands& o) {
    return layer(layer(o.q, o.k, o.mask), o.v, o.mask);
  };
  const Feeds feeds = FeedsOf(shapes);
  const auto plain = OutcomeOf(build, feeds, true, {"fuse_attention"});
  const auto fused = OutcomeOf(build, feeds, true, {});
  ASSERT_TRUE(plain.ok()) << plain.status();
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(fused->fused, 2);
  EXPECT_EQ(fused->fused_gradients, 2);
  EXPECT_EQ(fused->softmaxes + fused->products, 0);
  for (size_t i = 0; i < plain->values.size(); ++i) {
    ExpectNear(fused->values[i], plain->values[i], StrCat("value ", i));
  }
}

enum class Masked { kCausal, kWindow, kPadded, kAllOfARow, kInfinite, kSlightly };

float MaskAt(Masked kind, int64_t i, int64_t j, int64_t n) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (kind) {
    case Masked::kCausal:
      return j <= i ? 0 : -1e9f;
    case Masked::kWindow:
      return std::abs(i - j) < 20 ? 0 : -1e9f;
    case Masked::kPadded:
      return j < n / 3 ? 0 : -1e4f;
    case Masked::kAllOfARow:
      return i % 5 == 0 || j > i ? -1e9f : 0;
    case Masked::kInfinite:
      return j <= i ? 0 : -kInfinity;
    case Masked::kSlightly:
      return j <= i ? 0 : -60;  // small weights, but none is 0
  }
  return 0;
}

TEST(FuseAttention, LeavesOutWhatAMaskHides) {
  constexpr int64_t n = 150;
  for (const Masked kind : {Masked::kCausal, Masked::kWindow, Masked::kPadded, Masked::kAllOfARow,
                            Masked::kInfinite, Masked::kSlightly}) {
    Feeds feeds = FeedsOf({{2, n, 8}, {2, n, 8}, {2, n, 8}, {n, n}});
    for (int64_t i = 0; i < n * n; ++i) {
      feeds.mask.data<float>()[i] = MaskAt(kind, i / n, i % n, n);
    }
    const Build build = [](const Operands& o) { return BuildAttention(o, true, 0.35f); };
    ExpectFusedAsPlain(build, feeds, StrCat("mask ", static_cast<int>(kind)));
  }
}

Feeds CausalFeeds(int64_t count, int64_t n) {
  Feeds feeds = FeedsOf({{count, n, 8}, {count, n, 8}, {count, n, 8}, {n, n}});
  for (int64_t i = 0; i < n * n; ++i) {
    feeds.mask.data<float>()[i] = MaskAt(Masked::kCausal, i / n, i % n, n);
  }
  return feeds;
}

// The product of a weight of 0 and a value that is not finite is NaN.
TEST(FuseAttention, LeavesNothingOutThatIsNotFinite) {
  constexpr int64_t n = 140;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Build build = [](const Operands& o) { return BuildAttention(o, true, 0.35f); };
  for (Tensor Feeds::*const operand : {&Feeds::q, &Feeds::k, &Feeds::v}) {
    for (const float bad : {kNan, kInfinity, 3e38f}) {
      Feeds feeds = CausalFeeds(2, n);
      (feeds.*operand).data<float>()[(n - 1) * 8 + 3] = bad;
      ExpectFusedAsPlain(build, feeds, StrCat("with ", bad));
    }
  }
  Feeds feeds = CausalFeeds(2, n);
  feeds.mask.data<float>()[5 * n] = kNan;
  ExpectFusedAsPlain(build, feeds, "a mask with NaN");
}

// With a single q and k, their rows are shared between cores.
TEST(FuseAttention, OfOnePair) {
  const Build build = [](const Operands& o) { return BuildAttention(o, true, -0.35f); };
  ExpectFusedAsPlain(build, CausalFeeds(1, 300), "one pair");
}

TEST(FuseAttention, OperandsThatGoAwayWithIt) {
  const std::pair<const char*, Build> builds[] = {
      {"the scores as a mask",
       [](const Operands& o) {
         const Output scores = BatchMatMulV2(o.q, o.k, {.adj_y = true});
         return BatchMatMulV2(Softmax(scores * 2.0f + scores), o.v);
       }},
      {"the scores as values",
       [](const Operands& o) {
         const Output scores = BatchMatMulV2(o.q, o.k, {.adj_y = true});
         return BatchMatMulV2(Softmax(scores), scores) + ReduceSum(o.v);
       }},
  };
  const Feeds feeds = FeedsOf({{2, 7, 4}, {2, 7, 4}, {2, 7, 4}, {7, 7}});
  for (const auto& [name, build] : builds) {
    for (const bool has_gradients : {false, true}) {
      const auto plain = OutcomeOf(build, feeds, has_gradients, {"fuse_attention"});
      const auto fused = OutcomeOf(build, feeds, has_gradients, {});
      ASSERT_TRUE(plain.ok()) << name << ": " << plain.status();
      ASSERT_TRUE(fused.ok()) << name << ": " << fused.status();
      for (size_t i = 0; i < plain->values.size(); ++i) {
        ExpectNear(fused->values[i], plain->values[i], name);
      }
    }
  }
}

// The gradient with respect to the result is the result itself.
TEST(FuseAttention, OfASumOfSquares) {
  Tensors results[2];
  for (const bool is_fused : {false, true}) {
    Graph g;
    const Operands o = {Placeholder(g, DT_FLOAT, {2, 7, 4}),
                        Placeholder(g, DT_FLOAT, {2, 9, 4}),
                        Placeholder(g, DT_FLOAT, {2, 9, 4}),
                        {}};
    const Output y = BuildAttention(o, false, 0.5f);
    const auto gradients = Gradients({L2Loss(y)}, {o.q, o.k, o.v});
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    const auto out =
        Session(g, is_fused ? SessionOptions() : Without({"fuse_attention"}))
            .Run({{o.q, Numbers({2, 7, 4}, 1)},
                  {o.k, Numbers({2, 9, 4}, 1)},
                  {o.v, Numbers({2, 9, 4}, 2)}},
                 {y, (*gradients)[0].dense(), (*gradients)[1].dense(), (*gradients)[2].dense()});
    ASSERT_TRUE(out.ok()) << out.status();
    results[is_fused ? 1 : 0] = *out;
  }
  for (int i = 0; i < 4; ++i) ExpectNear(results[1][i], results[0][i], StrCat("value ", i));
}

TEST(FuseAttention, LeavesAloneWhatOthersSee) {
  const Shapes shapes = {{2, 3, 7, 4}, {2, 3, 9, 4}, {2, 3, 9, 4}, {7, 9}};
  const auto weights = [](const Operands& o) {
    return Softmax(BatchMatMulV2(o.q, o.k, {.adj_y = true}) * 0.5f + o.mask);
  };
  const std::pair<const char*, Build> builds[] = {
      {"the weights",
       [&](const Operands& o) {
         const Output w = weights(o);
         return BatchMatMulV2(w, o.v) + ReduceSum(w);
       }},
      {"the scores",
       [](const Operands& o) {
         const Output scores = BatchMatMulV2(o.q, o.k, {.adj_y = true});
         return BatchMatMulV2(Softmax(scores), o.v) + ReduceSum(scores);
       }},
      {"something done to the weights",
       [&](const Operands& o) { return BatchMatMulV2(weights(o) * o.mask, o.v); }},
      {"who waits for the scores before the values are there",
       [](const Operands& o) {
         Graph& g = *o.q.graph();
         const Output scores = BatchMatMulV2(o.q, o.k, {.adj_y = true});
         ControlDependencies after(g, {Operation(scores)});
         return BatchMatMulV2(Softmax(scores), Exp(o.v));
       }},
  };
  for (const auto& [name, build] : builds) {
    const auto plain = OutcomeOf(build, FeedsOf(shapes), false, {"fuse_attention"});
    const auto fused = OutcomeOf(build, FeedsOf(shapes), false, {});
    ASSERT_TRUE(plain.ok()) << name << ": " << plain.status();
    ASSERT_TRUE(fused.ok()) << name << ": " << fused.status();
    EXPECT_EQ(fused->fused, 0) << name;
    ExpectNear(fused->values[0], plain->values[0], name);
  }
}

TEST(FuseAttention, IsWaitedForAndWaits) {
  Graph g;
  const Output q = Placeholder(g, DT_FLOAT, {2, 5, 4}), k = Placeholder(g, DT_FLOAT, {2, 6, 4});
  const PartialShape scalar = PartialShape::Scalar();
  Variable before(g, "before", scalar, Zeros()), after(g, "after", scalar, Zeros());
  const Operation count = AssignAdd(before, 1.0f);
  Output scores, y;
  {
    ControlDependencies first(g, {count});
    scores = BatchMatMulV2(q, k, {.adj_y = true});
    y = BatchMatMulV2(Softmax(scores), k);
  }
  Operation last;
  {
    ControlDependencies then(g, {Operation(scores), Operation(y)});
    last = AssignAdd(after, 1.0f);
  }
  const Operation init = InitializeVariables(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  RunMetadata metadata;
  const auto out = session.Run({{q, Numbers({2, 5, 4}, 1)}, {k, Numbers({2, 6, 4}, 1)}}, {y},
                               {last}, {.output_partition_graphs = true}, &metadata);
  ASSERT_TRUE(out.ok()) << out.status();
  int fused = 0;
  for (const Node* node : metadata.partition_graphs.at(0)->nodes()) {
    if (node->op() != "_Attention") continue;
    ++fused;
    ASSERT_EQ(node->control_inputs().size(), 1);
    EXPECT_EQ((*node->control_inputs().begin())->name(), count.node->name());
    EXPECT_EQ(node->control_outputs().size(), 1);
  }
  EXPECT_EQ(fused, 1);
}

// The result is not fetched, and the gradient does not depend on it.
TEST(FuseAttention, GradientsAloneAreWaitedForAndWait) {
  Graph g;
  const Output q = Placeholder(g, DT_FLOAT, {2, 5, 4}), k = Placeholder(g, DT_FLOAT, {2, 6, 4});
  const Output v = Placeholder(g, DT_FLOAT, {2, 6, 4}), c = Placeholder(g, DT_FLOAT, {2, 5, 4});
  Variable before(g, "before", PartialShape::Scalar(), Zeros());
  const Operation count = AssignAdd(before, 1.0f);
  Output scores;
  {
    ControlDependencies first(g, {count});
    scores = BatchMatMulV2(q, k, {.adj_y = true});
  }
  const Output y = BatchMatMulV2(Softmax(scores), v);
  const auto gradients = Gradients({ReduceSum(y * c)}, {q, k, v});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const Operation init = InitializeVariables(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  for (const bool fetches_y : {false, true}) {
    Session session(g);
    ASSERT_TRUE(session.Run({init}).ok());
    OutputList fetches;
    for (const auto& gradient : *gradients) fetches.push_back(gradient.dense());
    if (fetches_y) fetches.push_back(y);
    RunMetadata metadata;
    const auto out = session.Run({{q, Numbers({2, 5, 4}, 1)},
                                  {k, Numbers({2, 6, 4}, 1)},
                                  {v, Numbers({2, 6, 4}, 1)},
                                  {c, Numbers({2, 5, 4}, 1)}},
                                 fetches, {}, {.output_partition_graphs = true}, &metadata);
    ASSERT_TRUE(out.ok()) << out.status();
    int fused = 0;
    for (const Node* node : metadata.partition_graphs.at(0)->nodes()) {
      if (!node->op().starts_with("_Attention")) continue;
      ++fused;
      ASSERT_EQ(node->control_inputs().size(), 1) << node->name();
      EXPECT_EQ((*node->control_inputs().begin())->name(), count.name());
    }
    EXPECT_EQ(fused, fetches_y ? 2 : 1);
  }
}

TEST(FuseAttention, SaysWhatDoesNotFit) {
  struct Row {
    TensorShape q, k, v, grad, mask;
    const char* error;
  };
  const Row rows[] = {
      {{2, 5, 4}, {2, 6, 3}, {2, 6, 4}, {2, 5, 4}, {5, 6}, "got [2,5,4], [2,6,3] and [2,6,4]"},
      {{2, 5, 4}, {3, 6, 4}, {2, 6, 4}, {2, 5, 4}, {5, 6}, "got [2,5,4], [3,6,4] and [2,6,4]"},
      {{2, 5, 4}, {2, 6, 4}, {2, 7, 4}, {2, 5, 4}, {5, 6}, "got [2,5,4], [2,6,4] and [2,7,4]"},
      {{2, 0, 4}, {2, 6, 4}, {2, 6, 4}, {2, 0, 4}, {6}, "with elements, got [2,0,4]"},
      {{4}, {4}, {4}, {4}, {4}, "got [4], [4] and [4]"},
      {{2, 5, 4}, {2, 6, 4}, {2, 6, 4}, {2, 5, 4}, {6, 5}, "5 x 6 scores of batch [2], got [6,5]"},
      {{2, 5, 4}, {2, 6, 4}, {2, 6, 4}, {2, 5, 4}, {3, 5, 6}, "of batch [2], got [3,5,6]"},
      {{2, 5, 4}, {2, 6, 4}, {2, 6, 4}, {2, 5, 4}, {}, "of batch [2], got []"},
      {{2, 5, 4}, {2, 6, 4}, {2, 6, 4}, {2, 5, 3}, {6}, "a gradient of shape [2,5,4], got [2,5,3]"},
  };
  for (const Row& row : rows) {
    Graph g;
    std::vector<Feed> feeds;
    for (const TensorShape& shape : {row.q, row.k, row.v, row.grad, row.mask}) {
      feeds.push_back({Placeholder(g, DT_FLOAT, PartialShape()), Numbers(shape, 1)});
    }
    NodeSpec spec;
    spec.name = "attention";
    spec.op = "_AttentionGrad";
    for (const Feed& feed : feeds) spec.inputs.push_back(feed.tensor);
    spec.attrs = {{"num_masks", int64_t{1}}, {"scale", 1.0f}};
    const absl::StatusOr<Node*> node = g.Add(std::move(spec));
    ASSERT_TRUE(node.ok()) << node.status();
    const absl::Status status = Session(g).Run(feeds, {Output(*node)}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.error;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.error));
    EXPECT_THAT(std::string(status.message()), HasSubstr("attention"));
  }
}

TEST(FuseAttention, IsNotDoneWhereSizesAreNotKnown) {
  const Feeds feeds = FeedsOf({{2, 3, 7, 4}, {2, 3, 9, 4}, {2, 3, 9, 4}, {7, 9}});
  const Build build = [](const Operands& o) { return BuildAttention(o, true, 0.5f); };
  const auto fused = OutcomeOf(build, feeds, true, {}, false);
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(fused->fused + fused->fused_gradients, 0);
}

TEST(FuseAttention, ShowsASoftmaxThatIsFetched) {
  Graph g;
  const Output q = Placeholder(g, DT_FLOAT, {2, 5, 4}), k = Placeholder(g, DT_FLOAT, {2, 6, 4});
  const Output weights = Softmax(BatchMatMulV2(q, k, {.adj_y = true}));
  const Output y = BatchMatMulV2(weights, k);
  Session session(g);
  const auto out =
      session.Run({{q, Numbers({2, 5, 4}, 1)}, {k, Numbers({2, 6, 4}, 1)}}, {y, weights});
  ASSERT_TRUE(out.ok()) << out.status();
  for (int row = 0; row < 10; ++row) {
    float sum = 0;
    for (int j = 0; j < 6; ++j) sum += (*out)[1].data<float>()[row * 6 + j];
    EXPECT_NEAR(sum, 1, 1e-6f);
  }
}

}  // namespace
}  // namespace sluice
