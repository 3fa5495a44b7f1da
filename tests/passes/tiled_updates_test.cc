// Updates that compute their gradient tile by tile give the same result as those with a stored
// gradient.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "executor/session/step_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

SessionOptions Apart() { return Without({"tile_updates"}); }

enum class By { kDescent, kDescentOfReference, kMomentum, kAdam };

// m x n weights that are updated by a matmul of feeds over k.
struct Sizes {
  int64_t m, n, k;
  bool transpose_a = true, transpose_b = false;
  TensorShape a() const { return transpose_a ? TensorShape{k, m} : TensorShape{m, k}; }
  TensorShape b() const { return transpose_b ? TensorShape{n, k} : TensorShape{k, n}; }
};

class Updated {
 public:
  explicit Updated(const Sizes& sizes, By by = By::kDescent) : sizes_(sizes) {
    a = Placeholder(g, DT_FLOAT, sizes.a(), "a");
    b = Placeholder(g, DT_FLOAT, sizes.b(), "b");
    product = MatMul(
        a, b,
        {.name = "product", .transpose_a = sizes.transpose_a, .transpose_b = sizes.transpose_b});
    w = Variable(g, "w", RandomFloats({sizes.m, sizes.n}, 3),
                 {.use_resource = by != By::kDescentOfReference});
    variables = {w};
    before = w.Read();
    // The form in TensorFlow's gradient graphs.
    const Operation both = Group(g, {product, before});
    {
      const ControlDependencies after(g, {both});
      const Output passed = Identity(product);
      update = Update(by, passed);
    }
    init = InitializeVariables(g);
  }

  // Runs some steps. Returns the variables.
  absl::StatusOr<Tensors> Train(SessionOptions options, const OutputList& fetches = {}) {
    Session session(g, std::move(options));
    SLUICE_RETURN_IF_ERROR(session.Run({init}));
    for (int step = 0; step < 3; ++step) {
      SLUICE_RETURN_IF_ERROR(session.Run(Feeds(step), fetches, {update}).status());
    }
    OutputList values;
    for (const Variable& variable : variables) values.push_back(variable.snapshot());
    return session.Run({}, values);
  }
  std::vector<Feed> Feeds(int seed) const {
    return {{a, RandomFloats(sizes_.a(), seed)}, {b, RandomFloats(sizes_.b(), seed + 10)}};
  }
  // Whether the whole matmul is stored in memory.
  bool KeepsProduct(const SessionOptions& options = {}, const OutputList& fetches = {}) {
    const std::pair<Output, TensorShape> shapes[] = {{a, sizes_.a()}, {b, sizes_.b()}};
    const absl::StatusOr<MemoryPlan> memory = MemoryOf(g, options, shapes, fetches, {update});
    EXPECT_TRUE(memory.ok()) << memory.status();
    return std::any_of(memory->tensors.begin(), memory->tensors.end(),
                       [](const PlannedTensor& t) { return t.node->name() == "product"; });
  }

  Graph g;
  Output a, b, product, before;
  Variable w;
  std::vector<Variable> variables;
  Operation update, init;

 private:
  Output Slot(const char* name) {
    Tensor value = RandomFloats({sizes_.m, sizes_.n}, 4);
    for (float& x : value.flat<float>()) x = std::abs(x);
    variables.emplace_back(g, name, value);
    return variables.back().handle();
  }

  Operation Update(By by, const Output& gradient) {
    const auto number = [&](float value) { return Constant(g, value); };
    switch (by) {
      case By::kDescent:
        return ResourceApplyGradientDescent(w.handle(), number(0.1f), gradient);
      case By::kDescentOfReference:
        return ApplyGradientDescent(w.handle(), number(0.1f), gradient);
      case By::kMomentum:
        return ResourceApplyMomentum(w.handle(), Slot("momentum"), number(0.1f), gradient,
                                     number(0.9f), {.use_nesterov = true});
      case By::kAdam: {
        const Output m = Slot("m"), v = Slot("v");
        return ResourceApplyAdam(w.handle(), m, v, number(0.9f), number(0.99f), number(0.1f),
                                 number(0.9f), number(0.99f), number(1e-3f), gradient);
      }
    }
    return {};
  }

  const Sizes sizes_;
};

TEST(TiledUpdates, MoveVariablesToTheSameBits) {
  const Sizes all[] = {
      {784, 512, 128},               // cut by rows
      {200, 1600, 100},              // cut by columns
      {260, 260, 16},                // one tile
      {512, 512, 64, false, false},  // with all transpositions
      {512, 512, 64, false, true},
      {300, 700, 32, true, true},
  };
  for (const Sizes& sizes : all) {
    for (const By by : {By::kDescent, By::kDescentOfReference, By::kMomentum, By::kAdam}) {
      SCOPED_TRACE(
          StrCat(sizes.m, " x ", sizes.n, " over ", sizes.k, ", optimizer ", static_cast<int>(by)));
      Updated model(sizes, by);
      EXPECT_FALSE(model.KeepsProduct());
      EXPECT_TRUE(model.KeepsProduct(Apart()));
      const absl::StatusOr<Tensors> expected = model.Train(Apart());
      ExpectSameBits(model.Train({}), expected);
      SessionOptions alone;
      alone.intra_op_threads = 1;
      ExpectSameBits(model.Train(alone), expected);
    }
  }
}

TEST(TiledUpdates, AProductThatIsReadElsewhereIsKept) {
  Updated model({512, 512, 64});
  EXPECT_TRUE(model.KeepsProduct({}, {model.product}));
  ExpectSameBits(model.Train({}, {model.product}), model.Train(Apart(), {model.product}));
}

TEST(TiledUpdates, SmallProductsAndThoseOfLargeOperandsAreKept) {
  EXPECT_TRUE(Updated({16, 16, 16}).KeepsProduct());
  EXPECT_TRUE(Updated({300, 300, 4}).KeepsProduct());
  EXPECT_TRUE(Updated({300, 300, 2000}).KeepsProduct());
}

// A fetched value of the variable does not change.
TEST(TiledUpdates, LeaveValuesThatWereReadBefore) {
  Updated model({512, 512, 64});
  Session session(model.g);
  ASSERT_TRUE(session.Run({model.init}).ok());
  const absl::StatusOr<Tensors> out = session.Run(model.Feeds(0), {model.before}, {model.update});
  ASSERT_TRUE(out.ok()) << out.status();
  ExpectSameBits(*out, Tensors{RandomFloats({512, 512}, 3)});
}

TEST(TiledUpdates, OperandsThatDoNotFitAreErrorsOfTheProduct) {
  Updated model({512, 512, 64});
  Graph& g = model.g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 512}, "x"),
               y = Placeholder(g, DT_FLOAT, {-1, 512});
  const Output product = MatMul(x, y, {.name = "late", .transpose_a = true});
  const Operation update =
      ResourceApplyGradientDescent(model.w.handle(), Constant(g, 0.1f), product);
  for (const SessionOptions& options : {SessionOptions(), Apart()}) {
    Session session(g, options);
    ASSERT_TRUE(session.Run({model.init}).ok());
    const Tensor long_one = RandomFloats({7, 512}, 1), short_one = RandomFloats({6, 512}, 1);
    const absl::Status status = session.Run({{x, long_one}, {y, short_one}}, {}, {update}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("Matrix size-incompatible: In[0]: [7,512]"));
    EXPECT_THAT(status.message(), HasSubstr("node late"));
    ASSERT_TRUE(session.Run({{x, long_one}, {y, long_one}}, {}, {update}).ok());
  }
}

TEST(TiledUpdates, AreWatchedLikeOthers) {
  Updated model({512, 512, 64});
  Session session(model.g);
  ASSERT_TRUE(session.Run({model.init}).ok());
  RunMetadata metadata;
  ASSERT_TRUE(session.Run(model.Feeds(0), {}, {model.update}, {.trace = true}, &metadata).ok());
  std::vector<std::string> names;
  for (const DeviceStepStats& device : metadata.step_stats->dev_stats) {
    for (const NodeExecStats& node : device.node_stats) {
      names.push_back(node.node_name);
      if (node.node_name == "product") {
        EXPECT_EQ(node.output.size(), 1u);
      }
    }
  }
  EXPECT_THAT(names, ::testing::Contains("product"));
  std::vector<Feed> bad = model.Feeds(0);
  bad[0].value.data<float>()[0] = INFINITY;
  const absl::Status checked =
      session.Run(bad, {}, {model.update}, {.check_numerics = true}).status();
  EXPECT_THAT(checked.message(), HasSubstr("product"));
  EXPECT_THAT(checked.message(), HasSubstr("expected finite numbers"));
}

}  // namespace
}  // namespace sluice
