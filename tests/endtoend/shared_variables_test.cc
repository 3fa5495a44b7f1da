// Many concurrent steps update and read one variable, in every way in which nodes use one. Each
// update is atomic, none is lost, and no read sees a partial update.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "sluice.h"

namespace sluice {
namespace {

constexpr int kThreads = 4, kRounds = 2000;
constexpr int kRows = 64, kColumns = 40;
constexpr int kLoopSteps = 3;

bool IsUniform(const Tensor& t) {
  const float* const begin = t.data<float>();
  return std::all_of(begin, begin + t.num_elements(), [&](float x) { return x == *begin; });
}

class SharedVariables : public ::testing::TestWithParam<bool> {
 protected:
  Graph g_;
  Variable w_{g_, "w", {kRows, kColumns}, Zeros(), {.use_resource = GetParam()}};
  Output ones_ = OnesLike(w_.initial_value());
  Output rows_ = Range(Constant(g_, 0), Constant(g_, kRows), Constant(g_, 1));
};

TEST_P(SharedVariables, LoseNoUpdateAndAreReadWhole) {
  const Operation add = w_.AssignAdd(ones_);
  const Operation scatter = w_.ScatterAdd(rows_, ones_);
  // References cannot enter loops.
  OutputList counted = {Constant(g_, 0)};
  if (GetParam()) {
    counted = WhileLoop([&](const OutputList& v) { return Less(v[0], Constant(g_, kLoopSteps)); },
                        [&](const OutputList& v) {
                          ControlDependencies after(g_, {w_.AssignAdd(ones_)});
                          return OutputList{v[0] + 1};
                        },
                        {Constant(g_, 0)});
  }
  const Output value = w_.Read() * 1.0f;
  const Output gathered = Gather(w_, rows_);
  const Operation init = InitializeVariables(g_);
  ASSERT_TRUE(g_.status().ok()) << g_.status();
  Session session(g_, {.intra_op_threads = 2, .inter_op_threads = 2});
  ASSERT_TRUE(session.Run({init}).ok());

  std::atomic<int> torn{0}, failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        absl::StatusOr<Tensors> out;
        switch ((i + t) % 4) {
          case 0:
            out = session.Run({}, {value, gathered}, {add});
            break;
          case 1:
            out = session.Run({}, {value}, {scatter});
            break;
          case 2:
            out = session.Run({}, {counted[0], gathered});
            if (out.ok()) out->erase(out->begin());
            break;
          case 3:
            out = session.Run({}, {value, gathered}, {add, scatter});
            break;
        }
        if (!out.ok()) {
          ++failed;
          continue;
        }
        for (const Tensor& read : *out) torn += IsUniform(read) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(torn.load(), 0);
  absl::StatusOr<Tensors> out = session.Run({}, {value});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(IsUniform((*out)[0]));
  EXPECT_EQ((*out)[0].data<float>()[0],
            kThreads * kRounds / 4 * (1 + 1 + (GetParam() ? kLoopSteps : 0) + 2));
}

INSTANTIATE_TEST_SUITE_P(RefAndResource, SharedVariables, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Resource" : "Ref"; });

}  // namespace
}  // namespace sluice
