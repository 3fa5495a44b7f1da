// Random graphs give the same values, and change variables and random numbers equally, whichever
// passes run.
#include <cmath>
#include <random>
#include <string>

#include "executor/compiler/pass_table.h"
#include "executor/session/step_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

// Values of shape [3, 3] from constants, feeds, random ops, variables, branches and loops, with
// many equal nodes. Some values wait for others that are not used.
class RandomGraph {
 public:
  explicit RandomGraph(int seed) : random_(seed), count(graph, "count", 0.0f) {
    graph.SetRandomSeed(7);
    x = Placeholder(graph, DT_FLOAT, {3, 3}, "x");
    weights = {Variable(graph, "w0", Filled(0.1f)), Variable(graph, "w1", Filled(-0.2f))};
    values_ = {x, weights[0].Read(), weights[1].Read()};
    const int nodes = 10 + Pick(50);
    for (int i = 0; i < nodes; ++i) values_.push_back(Pick(3) == 0 ? Tanh(Newest()) : Add());
    Output loss = ReduceSum(Square(Tanh(Newest() + values_[1] + values_[2])));
    fetches = {values_[3 + Pick(nodes)], loss};
    OutputList handles;
    for (const Variable& w : weights) handles.push_back(w.handle());
    auto gradients = Gradients({loss}, handles);
    if (!gradients.ok()) graph.SetError(gradients.status());
    for (size_t i = 0; gradients.ok() && i < weights.size(); ++i) {
      if ((*gradients)[i]) {
        updates.push_back(weights[i].AssignAdd((*gradients)[i].dense() * -0.01f));
      }
    }
    init = InitializeVariables(graph);
  }

  Graph graph;

 private:
  std::mt19937 random_;

 public:
  Output x;
  Variable count;  // of the stateful ops
  std::vector<Variable> weights;
  OutputList fetches;
  std::vector<Operation> updates;
  Operation init;

 private:
  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Tensor Filled(float v) const {
    Tensor t(DT_FLOAT, {3, 3});
    for (int i = 0; i < 9; ++i) t.data<float>()[i] = v + 0.05f * static_cast<float>(i);
    return t;
  }
  Output Newest() {
    const int n = static_cast<int>(values_.size());
    return Pick(2) == 0 ? values_[Pick(n)] : values_[n - 1 - Pick(std::min(n, 4))];
  }
  Output Few() { return Constant(graph, Filled(0.25f * static_cast<float>(Pick(3)))); }

  Output Add() {
    switch (Pick(16)) {
      case 0:
        return MatMul(Newest(), Newest()) * 0.3f;
      case 1:
        return AddN({Newest(), Newest(), Newest()}) * 0.3f;
      case 2:
        return Sin(Few() * Few() + Few());  // can be folded
      case 3:
        return Newest() * Cast(ReduceSum(Shape(Newest()), {0}), DT_FLOAT) * 0.1f;
      case 4:
        return Newest() + RandomUniform(graph, {3, 3}, -1, 1, {.seed = Pick(3)});
      case 5: {
        ControlDependencies after(graph, {count.AssignAdd(1.0f)});
        return Identity(Newest());
      }
      case 6: {
        // Waits for a value that is not used.
        ControlDependencies after(graph, {Operation(Exp(Newest() + Few()).node)});
        return Neg(Newest());
      }
      case 7: {
        const Output taken = Newest(), other = Newest();
        return Cond(
            Greater(ReduceSum(Newest()), Constant(graph, 0.0f)),
            [&] { return taken * (Few() + 0.5f); }, [&] { return Tanh(other) - taken; })[0];
      }
      case 8: {
        const Output factor = Newest();
        return WhileLoop([&](const OutputList& v) { return Less(v[0], Constant(graph, 3)); },
                         [&](const OutputList& v) {
                           return OutputList{v[0] + 1, Tanh(v[1] * factor + Few())};
                         },
                         {Constant(graph, 0), Newest()})[1];
      }
      case 9:
        return Transpose(Newest(), {1, 0}) - Few();
      case 10:
        return Maximum(Newest(), Few());
      case 11:
        return MatMul(Transpose(Newest(), {1, 0}), Newest(), {.transpose_b = Pick(2) == 0}) * 0.3f;
      case 12:
      case 13:
      case 14:
        return ChangesNothing(Newest());
      default:
        return Tanh(Newest()) * Sigmoid(Newest());
    }
  }

  Output ChangesNothing(Output v) {
    switch (Pick(6)) {
      case 0:
        return Transpose(Transpose(v, {1, 0}), {1, 0});
      case 1:
        return Reshape(ExpandDims(Reshape(v, {-1}), 0), {3, 3});
      case 2:
        return v * 1.0f - 0.0f;
      case 3:
        return Neg(Neg(v));
      case 4: {
        const OutputList three = {v, v * 0.5f, -v};
        // Two Transposes, one of which can do the work of both.
        const Output turned = Transpose(Transpose(Stack(three), {1, 2, 0}), {1, 2, 0});
        return ReduceSum(turned, {Pick(3)}) * 0.3f;
      }
      default:
        return Identity(Cast(v, DT_FLOAT));
    }
  }

  OutputList values_;
};

// All fetches of three steps, and the variables after them.
absl::StatusOr<Tensors> Steps(RandomGraph& net, std::set<std::string> disabled,
                              int64_t memory_limit_bytes = 0) {
  SessionOptions options;
  options.disabled_passes = std::move(disabled);
  options.memory_limit_bytes = memory_limit_bytes;
  options.warn = [](const std::string&) {};
  Session session(net.graph, options);
  SLUICE_RETURN_IF_ERROR(session.Run({net.init}));
  Tensors all;
  Tensor fed(DT_FLOAT, {3, 3});
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 9; ++i) fed.data<float>()[i] = 0.3f * static_cast<float>(i - step);
    SLUICE_ASSIGN_OR_RETURN(Tensors fetched, session.Run({{net.x, fed}}, net.fetches, net.updates));
    all.insert(all.end(), fetched.begin(), fetched.end());
  }
  SLUICE_ASSIGN_OR_RETURN(
      Tensors variables,
      session.Run({}, {net.count.Read(), net.weights[0].Read(), net.weights[1].Read()}));
  all.insert(all.end(), variables.begin(), variables.end());
  return all;
}

// Permits small differences unless `same_bits`: accumulated sums add their terms in another order.
void ExpectEqual(const Tensor& a, const Tensor& b, bool same_bits, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const float x = a.data<float>()[i], y = b.data<float>()[i];
    if (same_bits) {
      EXPECT_EQ(x, y) << what << ", element " << i;
    } else {
      EXPECT_LE(std::abs(x - y), 1e-5f * std::max(1.0f, std::abs(y))) << what << ", element " << i;
    }
  }
}

// The number of nodes that a step of the graph runs.
int NodesRun(RandomGraph& net, std::set<std::string> disabled) {
  Session session(net.graph, Without(std::move(disabled)));
  EXPECT_TRUE(session.Run({net.init}).ok());
  RunMetadata metadata;
  const absl::StatusOr<Tensors> out =
      session.Run({{net.x, Tensor(DT_FLOAT, {3, 3})}}, net.fetches, net.updates,
                  {.output_partition_graphs = true}, &metadata);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? metadata.partition_graphs[0]->num_nodes() : 0;
}

TEST(Passes, RandomGraphsRunFewerNodesSimplified) {
  int plain = 0, simplified = 0, folded = 0;
  for (int seed = 0; seed < 20; ++seed) {
    RandomGraph net(seed);
    ASSERT_TRUE(net.graph.status().ok()) << net.graph.status();
    plain += NodesRun(net, {"simplify", "fold_transposes"});
    simplified += NodesRun(net, {"fold_transposes"});
    folded += NodesRun(net, {});
  }
  EXPECT_LT(simplified, plain - 30);
  EXPECT_LT(folded, simplified - 5);
}

// The passes after which results may have other bits.
std::set<std::string> InexactPasses() {
  std::set<std::string> names;
  for (const Pass& pass : PassTable()) {
    if (pass.can_be_disabled && std::string(pass.exactness) != "same bits") names.insert(pass.name);
  }
  // The graphs of this test have no images and no slices, so these passes change nothing.
  names.erase("choose_layout");
  names.erase("join_pads");
  return names;
}

TEST(Passes, Row45RandomGraphsGiveTheSameWithEachPassOff) {
  constexpr int kGraphs = 60;
  for (int seed = 0; seed < kGraphs; ++seed) {
    RandomGraph net(seed);
    ASSERT_TRUE(net.graph.status().ok()) << net.graph.status();
    const absl::StatusOr<Tensors> expected = Steps(net, {"all"});
    ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.status();
    for (const std::string& pass : PassNames()) {
      if (pass == "all") continue;
      std::set<std::string> disabled = InexactPasses();
      disabled.insert(pass);
      const absl::StatusOr<Tensors> found = Steps(net, disabled);
      ASSERT_TRUE(found.ok()) << "seed " << seed << ": " << found.status();
      for (size_t i = 0; i < expected->size(); ++i) {
        ExpectEqual((*found)[i], (*expected)[i], true,
                    StrCat("seed ", seed, ", without ", pass, ", value ", i));
      }
    }
    const absl::StatusOr<Tensors> found = Steps(net, {});
    ASSERT_TRUE(found.ok()) << "seed " << seed << ": " << found.status();
    for (size_t i = 0; i < expected->size(); ++i) {
      ExpectEqual((*found)[i], (*expected)[i], false, StrCat("seed ", seed, ", value ", i));
    }
  }
}

int CountCopies(RandomGraph& net) {
  SessionOptions options;
  options.memory_limit_bytes = 1;
  options.warn = [](const std::string&) {};
  const std::vector<std::pair<Output, TensorShape>> feeds = {{net.x, {3, 3}}};
  const auto memory = MemoryOf(net.graph, options, feeds, net.fetches, net.updates);
  if (!memory.ok()) return 0;
  int copies = 0;
  for (const Node* node : memory->graph->nodes()) {
    if (node->name().find("/remat") != std::string::npos) ++copies;
  }
  return copies;
}

// A limit that cannot be met, so that everything is tried.
TEST(Passes, RandomGraphsGiveTheSameBitsUnderAMemoryLimit) {
  int copies = 0;
  for (int seed = 0; seed < 60; ++seed) {
    RandomGraph net(seed);
    ASSERT_TRUE(net.graph.status().ok()) << net.graph.status();
    copies += CountCopies(net);
    const absl::StatusOr<Tensors> expected = Steps(net, {}), found = Steps(net, {}, 1);
    ASSERT_TRUE(expected.ok()) << "seed " << seed << ": " << expected.status();
    ASSERT_TRUE(found.ok()) << "seed " << seed << ": " << found.status();
    for (size_t i = 0; i < expected->size(); ++i) {
      ExpectEqual((*found)[i], (*expected)[i], true, StrCat("seed ", seed, ", value ", i));
    }
  }
  EXPECT_GT(copies, 60);
}

}  // namespace
}  // namespace sluice
