// Weights that many matmuls read are packed once per step, or once for all steps if the graph has
// no variables. Results are the same.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "ops/matmul/gemm.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

constexpr int64_t kRows = 32, kDepth = 96, kColumns = 96;

Tensor Numbers(const TensorShape& shape, float first = 0) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] = 0.2f * std::sin(first + static_cast<float>(i));
  }
  return t;
}

void ExpectNear(const Tensor& found, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const float x = found.data<float>()[i], y = expected.data<float>()[i];
    if (std::isnan(y)) {
      ASSERT_TRUE(std::isnan(x)) << what << ", element " << i;
    } else if (x != y) {
      ASSERT_NEAR(x, y, 1e-5f * std::max(1.0f, std::abs(y))) << what << ", element " << i;
    }
  }
}

// The result, and the nodes that a step runs.
struct Outcome {
  Tensor y;
  int packings = 0, packed = 0, plain = 0;
};

using Build = std::function<Output(Output x, Output w)>;

struct Row {
  const char* name;
  int packings, packed, plain;  // on a machine on which packing gains
  Build build;
  PartialShape known_x = {kRows, kDepth};
  float odd = 1;  // an element of w
};

absl::StatusOr<Outcome> OutcomeOf(const Row& row, std::set<std::string> disabled) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, row.known_x, "x");
  const Output w = Placeholder(g, DT_FLOAT, {kDepth, kColumns}, "w");
  const Output y = row.build(x, w);
  SLUICE_RETURN_IF_ERROR(g.status());
  Session session(g, Without(std::move(disabled)));
  Tensor weights = Numbers({kDepth, kColumns}, 0.5f);
  weights.data<float>()[70] = row.odd;
  std::map<std::string, int> counts;
  SLUICE_ASSIGN_OR_RETURN(
      const Tensors out,
      RunAndCount(session, {{{x, Numbers({kRows, kDepth})}, {w, weights}}}, {y}, {}, &counts));
  return Outcome{out[0], counts["_PackColumns"], counts["_PackedMatMul"],
                 counts["MatMul"] + counts["_MatMulColumns"]};
}

// h = tanh(h w), repeated.
Build Unrolled(int times, MatMulAttrs attrs = {}) {
  return [=](Output x, Output w) {
    for (int i = 0; i < times; ++i) x = Tanh(MatMul(x, w, attrs));
    return x;
  };
}

std::vector<Row> Rows() {
  return {
      {"unrolled", 1, 6, 0, Unrolled(6)},
      {"transposed", 1, 4, 0, Unrolled(4, {.transpose_b = true})},
      {"infinite", 1, 4, 0, Unrolled(4), {kRows, kDepth}, std::numeric_limits<float>::infinity()},
      {"not a number",
       1,
       4,
       0,
       Unrolled(4),
       {kRows, kDepth},
       std::numeric_limits<float>::quiet_NaN()},
      {"few products", 0, 0, 3, Unrolled(3)},
      {"of any number of rows", 0, 0, 5, Unrolled(5), {-1, kDepth}},
      {"of the first matrix transposed", 0, 0, 5,
       [](Output x, Output w) {
         const Output square = MatMul(x, x, {.transpose_a = true});
         return Unrolled(4, {.transpose_a = true})(square, w);
       }},
      {"with their gradients", 2, 9, 5,
       [](Output x, Output w) {
         const auto gradients = Gradients({ReduceSum(Unrolled(5)(x, w))}, {w});
         EXPECT_TRUE(gradients.ok()) << gradients.status();
         return (*gradients)[0].dense();
       }},
      {"some columns", 1, 4, 0,
       [](Output x, Output w) {
         for (int i = 0; i < 4; ++i) {
           const Output some = Slice(MatMul(x, w), {0, 32}, {kRows, 64});
           x = Tanh(Concat({some, Slice(x, {0, 0}, {kRows, 32})}, 1));
         }
         return x;
       }},
      {"in a loop", 1, 1, 0,
       [](Output x, Output w) {
         Graph& g = *x.graph();
         return WhileLoop([&](const OutputList& v) { return Less(v[0], Constant(g, 3)); },
                          [&](const OutputList& v) {
                            return OutputList{v[0] + 1, Tanh(MatMul(v[1], w))};
                          },
                          {Constant(g, 0), x})[1];
       }},
      {"in a loop within another", 1, 1, 0,
       [](Output x, Output w) {
         Graph& g = *x.graph();
         const auto loop = [&](Output h, const std::function<Output(Output)>& body) {
           return WhileLoop([&](const OutputList& v) { return Less(v[0], Constant(g, 2)); },
                            [&](const OutputList& v) {
                              return OutputList{v[0] + 1, body(v[1])};
                            },
                            {Constant(g, 0), h})[1];
         };
         return loop(x, [&](Output h) {
           return loop(h, [&](Output inner) { return Tanh(MatMul(inner, w)); });
         });
       }},
      {"in a loop that changes them", 0, 0, 1,
       [](Output x, Output w) {
         Graph& g = *x.graph();
         return WhileLoop([&](const OutputList& v) { return Less(v[0], Constant(g, 3)); },
                          [&](const OutputList& v) {
                            return OutputList{v[0] + 1, Tanh(MatMul(v[1], v[2])), v[2] * 0.5f};
                          },
                          {Constant(g, 0), x, w})[1];
       }},
  };
}

TEST(PackOperands, GiveWhatPlainProductsGive) {
  const bool packs = GainsByPacking(kRows, kColumns, kDepth);
  for (const Row& row : Rows()) {
    const absl::StatusOr<Outcome> plain = OutcomeOf(row, {"pack_operands"});
    const absl::StatusOr<Outcome> found = OutcomeOf(row, {});
    ASSERT_TRUE(plain.ok()) << row.name << ": " << plain.status();
    ASSERT_TRUE(found.ok()) << row.name << ": " << found.status();
    EXPECT_EQ(plain->packings + plain->packed, 0) << row.name;
    EXPECT_EQ(plain->plain, row.packed + row.plain) << row.name;
    EXPECT_EQ(found->packings, packs ? row.packings : 0) << row.name;
    EXPECT_EQ(found->packed, packs ? row.packed : 0) << row.name;
    EXPECT_EQ(found->plain, packs ? row.plain : row.packed + row.plain) << row.name;
    ExpectNear(found->y, plain->y, row.name);
  }
}

// Matmuls after an update read the variable itself, so they do not read what was packed before.
TEST(PackOperands, SeeUpdatesBetweenThem) {
  const auto outcome = [](std::set<std::string> disabled) -> absl::StatusOr<Tensor> {
    Graph g;
    const Variable w(g, "w", RandomFloats({kDepth, kColumns}, 1, 0.1f), {.use_resource = false});
    Output x = Placeholder(g, DT_FLOAT, {kRows, kDepth}, "x"), y = x;
    for (int i = 0; i < 4; ++i) y = Tanh(MatMul(y, w.snapshot()));
    Operation update;
    {
      ControlDependencies after(g, {Operation(y)});
      update = w.AssignAdd(Constant(g, RandomFloats({kDepth, kColumns}, 2, 0.1f)));
    }
    ControlDependencies after(g, {update});
    for (int i = 0; i < 4; ++i) y = Tanh(MatMul(y, w.snapshot()));
    SLUICE_RETURN_IF_ERROR(g.status());
    Session session(g, Without(std::move(disabled)));
    SLUICE_RETURN_IF_ERROR(session.Run({w.initializer()}));
    SLUICE_ASSIGN_OR_RETURN(const Tensors out, session.Run({{x, Numbers({kRows, kDepth})}}, {y}));
    return out[0];
  };
  const absl::StatusOr<Tensor> plain = outcome({"all"}), found = outcome({});
  ASSERT_TRUE(plain.ok()) << plain.status();
  ASSERT_TRUE(found.ok()) << found.status();
  ExpectNear(*found, *plain, "y");
}

// A network without variables.
struct Frozen {
  Graph g;
  Output images, filter, weights, y;

  explicit Frozen(int products = 1) {
    images = Placeholder(g, DT_FLOAT, {-1, 8, 8, 16}, "images");
    filter = Constant(g, Numbers({3, 3, 16, 16}, 2), "filter");
    weights = Constant(g, Numbers({1024, 1024}, 3), "weights");
    y = Reshape(Conv2D(images, filter, {1, 1, 1, 1}, "SAME"), {-1, 1024});
    for (int i = 0; i < products; ++i) y = Tanh(MatMul(y * 0.01f, weights));
  }
  absl::StatusOr<Tensor> Run(Session& session, float first, int64_t batch,
                             std::vector<Feed> feeds = {}) const {
    feeds.push_back({images, Numbers({batch, 8, 8, 16}, first)});
    SLUICE_ASSIGN_OR_RETURN(const Tensors out, session.Run(feeds, {y}));
    return out[0];
  }
};

// The result with fed weights, so that nothing is constant or kept.
Tensor Expected(Frozen& net, float first, int64_t batch) {
  Session session(net.g, Without({"pack_operands"}));
  const absl::StatusOr<Tensor> y =
      net.Run(session, first, batch,
              {{net.filter, Numbers({3, 3, 16, 16}, 2)}, {net.weights, Numbers({1024, 1024}, 3)}});
  EXPECT_TRUE(y.ok()) << y.status();
  return y.ok() ? *y : Tensor();
}

TEST(KeptWeights, GiveTheSameInEachStep) {
  for (const int products : {1, 4}) {
    Frozen net(products);
    Session session(net.g);
    for (const int64_t batch : {32, 1, 40}) {
      for (int step = 0; step < 4; ++step) {
        const auto first = static_cast<float>(step);
        const absl::StatusOr<Tensor> y = net.Run(session, first, batch);
        ASSERT_TRUE(y.ok()) << y.status();
        ExpectNear(*y, Expected(net, first, batch), StrCat("batch ", batch, ", step ", step));
      }
    }
  }
}

// A constant that is fed does not count as one.
TEST(KeptWeights, GiveWayToWhatIsFed) {
  Frozen net;
  Session session(net.g);
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(net.Run(session, 0, 32).ok());
  Tensor zeros = Tensor(DT_FLOAT, {1024, 1024});
  std::fill_n(zeros.data<float>(), zeros.num_elements(), 0.0f);
  const absl::StatusOr<Tensor> y = net.Run(session, 0, 32, {{net.weights, zeros}});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int64_t i = 0; i < y->num_elements(); ++i) ASSERT_EQ(y->data<float>()[i], 0);
  const absl::StatusOr<Tensor> again = net.Run(session, 0, 32);
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectNear(*again, Expected(net, 0, 32), "after it");
}

TEST(KeptWeights, AreMadeByManyStepsAtATime) {
  Frozen net;
  const Tensor expected = Expected(net, 1, 32);
  Session session(net.g);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int step = 0; step < 4; ++step) {
        const absl::StatusOr<Tensor> y = net.Run(session, 1, 32);
        ASSERT_TRUE(y.ok()) << y.status();
        ExpectNear(*y, expected, "y");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sluice
