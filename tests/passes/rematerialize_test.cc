// Under a memory limit, results are recomputed instead of kept. Steps need less memory and give the
// same bits.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/device/pool_allocator.h"
#include "executor/session/step_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"
#include "training/layers/dense.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kBatch = 2048;
constexpr float kBound = 0.5f;  // of feeds and weights

using Activation = std::function<Output(Output)>;

struct Form {
  int layers = 24;
  int64_t width = 32;
  Gate gate = Gate::kOp;
  bool one_weight = false;  // for all layers
};

// Layers with weights and biases, each followed by `activation`, and a step of gradient descent.
class Network {
 public:
  explicit Network(const Activation& activation, const Form& form = {}) : width(form.width) {
    g.SetRandomSeed(5);
    x = Placeholder(g, DT_FLOAT, {-1, width}, "x");
    Output h = x;
    for (int i = 0; i < form.layers; ++i) {
      NameScope scope(g, StrCat("layer", i));
      if (i == 0 || !form.one_weight) {
        variables.emplace_back(g, "w", RandomFloats({width, width}, i, kBound));
        variables.emplace_back(g, "b", RandomFloats({width}, i, kBound));
      }
      const size_t last = variables.size() - 1;
      h = activation(BiasAdd(MatMul(h, variables[last - 1]), variables[last]));
      activations.push_back(h);
    }
    loss = ReduceMean(Square(h));
    train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss, {.gate = form.gate});
    init = InitializeVariables(g);
  }

  absl::StatusOr<MemoryPlan> Plan(const SessionOptions& options, const OutputList& fetches = {}) {
    const std::pair<Output, TensorShape> feeds[] = {{x, {kBatch, width}}};
    return MemoryOf(g, options, feeds, fetches, {train});
  }
  int64_t Peak(const SessionOptions& options) {
    const absl::StatusOr<MemoryPlan> memory = Plan(options);
    EXPECT_TRUE(memory.ok()) << memory.status();
    return memory.ok() ? memory->peak_bytes : -1;
  }
  // Runs some steps. Returns their fetches, then the variables.
  absl::StatusOr<Tensors> Train(const SessionOptions& options, OutputList fetches = {}) {
    Session session(g, options);
    SLUICE_RETURN_IF_ERROR(session.Run({init}));
    fetches.push_back(loss);
    Tensors all;
    for (int step = 0; step < 3; ++step) {
      const Feed feeds[] = {{x, RandomFloats({kBatch, width}, 100 + step, kBound)}};
      SLUICE_ASSIGN_OR_RETURN(const Tensors fetched, session.Run(feeds, fetches, {train}));
      all.insert(all.end(), fetched.begin(), fetched.end());
    }
    OutputList values;
    for (const Variable& variable : variables) values.push_back(variable.snapshot());
    SLUICE_ASSIGN_OR_RETURN(const Tensors trained, session.Run({}, values));
    all.insert(all.end(), trained.begin(), trained.end());
    return all;
  }

  // The nodes that steps run.
  std::vector<Node*> Nodes(const SessionOptions& options, const OutputList& fetches = {}) {
    const absl::StatusOr<MemoryPlan> memory = Plan(options, fetches);
    EXPECT_TRUE(memory.ok()) << memory.status();
    if (memory.ok()) graphs_.push_back(memory->graph);
    return memory.ok() ? memory->graph->nodes() : std::vector<Node*>();
  }
  std::vector<Node*> Copies(const SessionOptions& options, const OutputList& fetches = {}) {
    std::vector<Node*> nodes = Nodes(options, fetches);
    std::erase_if(nodes, [](const Node* n) { return n->name().find("/remat") == n->name().npos; });
    return nodes;
  }

  const int64_t width;
  Graph g;
  Output x, loss;
  OutputList activations;
  std::vector<Variable> variables;
  Operation train, init;

 private:
  std::vector<std::shared_ptr<const Graph>> graphs_;
};

SessionOptions Limited(int64_t bytes, std::vector<std::string>* warnings = nullptr) {
  SessionOptions options;
  options.memory_limit_bytes = bytes;
  options.warn = [warnings](const std::string& text) {
    if (warnings != nullptr) warnings->push_back(text);
  };
  return options;
}

// The bytes that the pool allocated from the system for one step.
int64_t MeasuredPeak(Network& network, const SessionOptions& options) {
  Session session(network.g, options);
  EXPECT_TRUE(session.Run({network.init}).ok());
  const Feed feeds[] = {{network.x, RandomFloats({kBatch, network.width}, 1, kBound)}};
  PoolAllocator& pool = PoolAllocator::Global();
  pool.Trim();
  const int64_t before = pool.SystemBytes();
  EXPECT_TRUE(session.Run(feeds, {}, {network.train}).ok());
  return pool.SystemBytes() - before;
}

Output Plain(Output x) { return Tanh(x); }
Output Gelu(Output x) { return x * 0.5f * (Tanh((x + x * x * x * 0.044715f) * 0.8f) + 1.0f); }
Output Dropped(Output x) { return layers::Dropout(Sigmoid(x), 0.3f); }

bool IsProduct(const Node* node) { return node->op() == "MatMul"; }

void ExpectToFit(Network& network, double part) {
  const int64_t plain = network.Peak({});
  const auto limit = static_cast<int64_t>(static_cast<double>(plain) * part);
  std::vector<std::string> warnings;
  const SessionOptions options = Limited(limit, &warnings);
  const int64_t planned = network.Peak(options);
  EXPECT_GT(planned, 0);
  EXPECT_LE(planned, limit);
  const int64_t measured_plain = MeasuredPeak(network, {});
  const int64_t measured = MeasuredPeak(network, options);
  EXPECT_LT(static_cast<double>(measured), static_cast<double>(measured_plain) * (part + 0.2));
  EXPECT_THAT(warnings, IsEmpty());
  ExpectSameBits(network.Train({}), network.Train(options));
  std::printf("of %lld bytes %.2f: planned %lld; measured %lld of %lld; %zu copies\n",
              static_cast<long long>(plain), part, static_cast<long long>(planned),
              static_cast<long long>(measured), static_cast<long long>(measured_plain),
              network.Copies(options).size());
}

TEST(Rematerialize, DeepNetworksFitIntoLess) {
  Network network(Plain);
  for (const double part : {0.8, 0.6, 0.45}) ExpectToFit(network, part);
}

TEST(Rematerialize, WideNetworksFitIntoLess) {
  Network network(Plain, {.layers = 12, .width = 256});
  for (const double part : {0.8, 0.65}) ExpectToFit(network, part);
}

TEST(Rematerialize, WhatIsCheapGoesFirst) {
  Network network(Gelu, {.layers = 12});
  ExpectToFit(network, 0.4);
  const std::vector<Node*> copies =
      network.Copies(Limited(static_cast<int64_t>(network.Peak({}) * 0.4)));
  EXPECT_FALSE(copies.empty());
  EXPECT_TRUE(std::none_of(copies.begin(), copies.end(), IsProduct));
}

TEST(Rematerialize, GradientsThatNothingWaitsForAreMadeEarlier) {
  Network network(Plain, {.gate = Gate::kNone});
  const SessionOptions options = Limited(network.Peak({}) * 6 / 10);
  EXPECT_LE(network.Peak(options), options.memory_limit_bytes);
  EXPECT_THAT(network.Copies(options), IsEmpty());
  ExpectToFit(network, 0.3);
}

TEST(Rematerialize, RandomNumbersAreDrawnOnce) {
  Network network(Dropped, {.layers = 12});
  ExpectToFit(network, 0.5);
  const std::vector<Node*> copies = network.Copies(Limited(network.Peak({}) / 2));
  EXPECT_FALSE(copies.empty());
  EXPECT_TRUE(std::none_of(copies.begin(), copies.end(), [](Node* n) { return n->IsStateful(); }));
}

TEST(Rematerialize, SumsOverUnrolledLayersKeepTheirOrder) {
  Network network(Plain, {.one_weight = true});
  ExpectToFit(network, 0.6);
}

TEST(Rematerialize, FetchedResultsAreNotCopied) {
  Network network(Plain);
  const OutputList fetches = {network.activations[5], network.activations[10]};
  const SessionOptions options = Limited(network.Peak({}) * 6 / 10);
  const std::vector<Node*> copies = network.Copies(options, fetches);
  EXPECT_FALSE(copies.empty());
  for (const Node* copy : copies) {
    for (const Output& fetch : fetches) {
      EXPECT_FALSE(copy->name().starts_with(StrCat(fetch.node->name(), "/remat")));
    }
  }
  ExpectSameBits(network.Train({}, fetches), network.Train(options, fetches));
}

TEST(Rematerialize, ErrorsOfACopyTellTheOriginalsLine) {
  Network network(Plain);
  for (const Node* copy : network.Copies(Limited(network.Peak({}) / 2))) {
    const std::string name = copy->name().substr(0, copy->name().find("/remat"));
    const Node* original = network.g.Find(name);
    ASSERT_NE(original, nullptr) << name;
    EXPECT_EQ(copy->location(), original->location());
    EXPECT_FALSE(copy->location().empty());
  }
}

TEST(Rematerialize, WhatLiesBehindABranchIsLeftAlone) {
  Network network([](Output h) {
    return Cond(
        Greater(ReduceSum(h), Constant(*h.graph(), 0.0f)), [&] { return Tanh(h); },
        [&] { return Sigmoid(h); })[0];
  });
  const SessionOptions options = Limited(network.Peak({}) / 2);
  for (const Node* copy : network.Copies(options)) {
    EXPECT_TRUE(copy->name().starts_with("layer0/")) << copy->name();
  }
  ExpectSameBits(network.Train({}), network.Train(options));
}

TEST(Rematerialize, ALimitThatCannotBeMetIsWarnedOfOnce) {
  Network network(Plain);
  std::vector<std::string> warnings;
  ExpectSameBits(network.Train({}), network.Train(Limited(10'000, &warnings)));
  ASSERT_EQ(warnings.size(), 1u);
  const absl::StatusOr<MemoryPlan> memory = network.Plan(Limited(10'000), {network.loss});
  ASSERT_TRUE(memory.ok()) << memory.status();
  const int64_t planned = memory->peak_bytes;
  EXPECT_THAT(warnings[0], HasSubstr(StrCat("a step is planned to need ", planned, " bytes")));
  EXPECT_THAT(warnings[0], HasSubstr("more than the memory limit of 10000"));
  EXPECT_THAT(warnings[0], HasSubstr("planned memory: "));
  EXPECT_THAT(warnings[0], HasSubstr("(MatMul)"));
}

TEST(Rematerialize, WithoutALimitThatMattersNothingChanges) {
  Network network(Plain);
  const auto names = [&](const SessionOptions& options) {
    std::vector<std::string> names;
    for (const Node* node : network.Nodes(options)) names.push_back(node->name());
    return names;
  };
  std::vector<std::string> warnings;
  const std::vector<std::string> plain = names({});
  EXPECT_EQ(names(Limited(network.Peak({}), &warnings)), plain);
  EXPECT_THAT(warnings, IsEmpty());
  SessionOptions off = Limited(network.Peak({}) / 2, &warnings);
  off.disabled_passes = {"rematerialize"};
  EXPECT_EQ(names(off), plain);
  EXPECT_EQ(warnings.size(), 1u);
}

}  // namespace
}  // namespace sluice
