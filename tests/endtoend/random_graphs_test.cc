// Runs random graphs of synchronous and asynchronous nodes. However the executor divides them into
// units (nodes that are scheduled together), each node runs once, after all its predecessors, with
// the values of its step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "executor/session/session.h"
#include "executor/testing/test_ops.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h

struct RandomGraph {
  struct Made {
    Output output;
    double factor;                // of x
    std::string name;             // in the trace; empty: none
    std::set<std::string> after;  // names of all predecessors
  };
  Graph g;
  Output x;
  std::vector<Made> made;

  explicit RandomGraph(int seed) {
    std::mt19937 random(seed);
    x = Placeholder(g, DT_FLOAT, {}, "x");
    made.push_back({Instant(x), 1, "", {}});
    for (int i = 0; i < 60; ++i) AddNode(i, random);
  }

  void AddNode(int i, std::mt19937& random) {
    // Mostly picks recent nodes, so that long paths occur.
    const auto pick = [&]() -> const Made& {
      const size_t back = random() % std::min<size_t>(made.size(), random() % 4 == 0 ? 60 : 6);
      return made[made.size() - 1 - back];
    };
    const Made a = pick();
    const Made b = pick();
    std::set<std::string> after = a.after;
    if (!a.name.empty()) after.insert(a.name);
    switch (random() % 4) {
      case 0:
        made.push_back({Instant(a.output), a.factor, "", after});
        break;
      case 1: {
        after.insert(b.after.begin(), b.after.end());
        if (!b.name.empty()) after.insert(b.name);
        made.push_back({Sub(a.output, b.output), a.factor - b.factor, "", after});
        break;
      }
      default: {
        after.insert(b.after.begin(), b.after.end());
        if (!b.name.empty()) after.insert(b.name);
        const std::string name = "node" + std::to_string(i);
        made.push_back({Logged(a.output, name, {b.output}), a.factor, name, after});
      }
    }
  }
};

TEST(RandomGraphs, RunInOrderWithTheValuesOfTheStep) {
  for (int seed = 0; seed < 150; ++seed) {
    RandomGraph random(seed);
    ASSERT_TRUE(random.g.status().ok()) << random.g.status();
    OutputList fetches;
    for (const RandomGraph::Made& made : random.made) fetches.push_back(made.output);
    Session session(random.g, {.intra_op_threads = 1, .inter_op_threads = 1 + seed % 2});
    std::vector<Tensors> all;
    for (const float value : {1.0f, 2.0f, 3.0f}) {
      TakeTrace();
      absl::StatusOr<Tensors> out =
          session.Run({{random.x, Tensor::Scalar(value)}}, fetches, {}, {});
      ASSERT_TRUE(out.ok()) << seed << ": " << out.status();
      all.push_back(*std::move(out));
      const std::vector<std::string> trace = TakeTrace();
      for (const RandomGraph::Made& made : random.made) {
        if (made.name.empty()) continue;
        ASSERT_EQ(CountInTrace(trace, made.name), 1) << seed;
        const auto at = std::find(trace.begin(), trace.end(), made.name);
        for (const std::string& other : made.after) {
          EXPECT_LT(std::find(trace.begin(), trace.end(), other), at)
              << seed << ": " << made.name << " waits for " << other;
        }
      }
    }
    // Results of earlier steps have not changed.
    for (size_t step = 0; step < all.size(); ++step) {
      for (size_t i = 0; i < random.made.size(); ++i) {
        EXPECT_EQ(all[step][i].scalar<float>(),
                  static_cast<float>(random.made[i].factor * static_cast<double>(step + 1)))
            << seed;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
