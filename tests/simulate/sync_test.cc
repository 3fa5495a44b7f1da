// The invariants S1, S2, S4 and S6 of synchronous training, and that no replica waits forever. They
// are checked for thousands of interleavings of real graphs, sessions, accumulators and queues.
#include <cstdlib>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "graph/strings.h"
#include "gtest/gtest.h"
#include "tests/simulate/sync_world.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// SLUICE_SEED=n runs only that seed.
std::vector<uint64_t> Seeds(int count) {
  if (const char* one = std::getenv("SLUICE_SEED")) return {std::strtoull(one, nullptr, 10)};
  std::vector<uint64_t> seeds;
  for (int i = 1; i <= count; ++i) seeds.push_back(static_cast<uint64_t>(i));
  return seeds;
}

std::string Describe(const WorldOptions& o, uint64_t seed) {
  return StrCat(o.form == Form::kQueues ? "queues" : "accumulators", ", ", o.aggregate, " of ",
                o.replicas, " replicas", o.unruly ? ", unruly" : "", "; SLUICE_SEED=", seed);
}

// The (replica, attempt) of the gradients in update `u`, with their weights.
std::map<std::pair<int, int>, float> Used(const std::vector<std::vector<float>>& values, size_t u) {
  std::map<std::pair<int, int>, float> used;
  for (size_t i = 0; i < values[u].size(); ++i) {
    const float moved = values[u][i] - values[u + 1][i];
    if (moved == 0) continue;
    used[{static_cast<int>(i) / SyncWorld::kAttempts, static_cast<int>(i) % SyncWorld::kAttempts}] =
        moved;
  }
  return used;
}

class Checker {
 public:
  Checker(const WorldOptions& options, const History& history)
      : options_(options), history_(history) {
    for (const Push& push : history.pushes) {
      step_of_[{push.replica, push.attempt}] = push.local_step;
    }
  }

  void Check() {
    CheckUpdates(history_.dense, /*is_dense=*/true);
    CheckUpdates(history_.sparse, /*is_dense=*/false);
    CheckTokens();
    CheckLedger();
    CheckEnds();
  }

 private:
  // S1: no gradient is older than its update. S2: each update has the right number of gradients,
  // and none is used twice.
  void CheckUpdates(const std::vector<std::vector<float>>& values, bool is_dense) {
    const bool sums = options_.form == Form::kQueues || !is_dense;  // a mean divides rows by hits
    std::set<std::pair<int, int>> all;
    for (size_t u = 0; u + 1 < values.size(); ++u) {
      const auto used = Used(values, u);
      EXPECT_EQ(used.size(), static_cast<size_t>(options_.aggregate)) << "update " << u;
      EXPECT_EQ(history_.global_steps[u + 1], history_.global_steps[u] + 1);
      for (const auto& [gradient, weight] : used) {
        EXPECT_EQ(step_of_.at(gradient), static_cast<int64_t>(u))
            << "replica " << gradient.first << ", attempt " << gradient.second;
        EXPECT_TRUE(all.insert(gradient).second) << "used twice";
        EXPECT_FLOAT_EQ(weight, sums ? 1.0f : 1.0f / static_cast<float>(options_.aggregate));
      }
      for (const auto& [gradient, weight] : used) ++applied_[u][gradient.first];
    }
  }

  // Tokens are neither lost nor duplicated.
  void CheckTokens() {
    const auto updates = static_cast<int64_t>(history_.dense.size()) - 1;
    const int64_t made = history_.initial_tokens + history_.tokens_returned +
                         updates * std::max(options_.aggregate, options_.replicas);
    EXPECT_EQ(history_.tokens_taken + history_.tokens_left, made);
  }

  // S6: the ledger shows for each replica's gradients whether they were applied or why they were
  // dropped.
  void CheckLedger() {
    std::map<int, int64_t> pushed;
    for (const Push& push : history_.pushes) pushed[push.replica] += 2;  // one per variable
    const int64_t* totals = history_.totals.data<int64_t>();
    int64_t entered = 0, gradients = 0;
    for (int r = 0; r < options_.replicas; ++r) {
      const int64_t* row = totals + 3 * r;
      entered += row[0] + row[1] + row[2];
      gradients += pushed[r];
      EXPECT_LE(row[0] + row[1] + row[2], pushed[r]) << "replica " << r;
      int64_t applied = 0;
      for (const auto& [update, by_replica] : applied_) {
        auto found = by_replica.find(r);
        const int64_t here = found == by_replica.end() ? 0 : found->second;
        applied += here;
        if (static_cast<int>(history_.dense.size()) - 1 < options_.updates) continue;
        const int64_t cell = (static_cast<int64_t>(update) * (options_.replicas + 1) + r) * 3;
        EXPECT_EQ(history_.by_update.data<int64_t>()[cell], here)
            << "update " << update << ", replica " << r;
      }
      EXPECT_EQ(row[0], applied) << "replica " << r;
    }
    EXPECT_EQ(entered + history_.gradients_left, gradients);
  }

  // S3: every replica ends. A replica may only be stuck if all replicas have left.
  void CheckEnds() {
    for (int r = 0; r < options_.replicas; ++r) {
      const absl::Status& end = history_.ends[r];
      EXPECT_TRUE(end.ok() || absl::IsOutOfRange(end)) << "replica " << r << ": " << end;
    }
    if (history_.replicas_left > 0) {
      EXPECT_EQ(history_.times_stuck, 0) << history_.stalls;
      EXPECT_TRUE(history_.ends.back().ok()) << history_.ends.back();
    } else if (history_.times_stuck > 0) {
      EXPECT_TRUE(absl::IsCancelled(history_.ends.back())) << history_.ends.back();
      EXPECT_THAT(history_.stalls, HasSubstr(" for step "));
    }
  }

  const WorldOptions& options_;
  const History& history_;
  std::map<std::pair<int, int>, int64_t> step_of_;
  std::map<size_t, std::map<int, int64_t>> applied_;  // by update and replica, both variables
};

struct Case {
  Form form;
  int aggregate;
  int replicas;
};

class SyncInterleavings : public ::testing::TestWithParam<Case> {};

void CheckAll(const WorldOptions& options, int seeds) {
  SyncWorld world(options);
  ASSERT_TRUE(world.status().ok()) << world.status();
  for (uint64_t seed : Seeds(seeds)) {
    SCOPED_TRACE(Describe(options, seed));
    absl::StatusOr<History> history = world.Train(seed);
    ASSERT_TRUE(history.ok()) << history.status();
    Checker(options, *history).Check();
    if (::testing::Test::HasFailure()) return;  // the first failing seed is enough
  }
}

TEST_P(SyncInterleavings, KeepTheInvariants) {
  CheckAll(
      {.form = GetParam().form, .aggregate = GetParam().aggregate, .replicas = GetParam().replicas},
      100);
}

TEST_P(SyncInterleavings, KeepTheInvariantsWithReplicasThatComeLateLeaveAndStartAgain) {
  CheckAll({.form = GetParam().form,
            .aggregate = GetParam().aggregate,
            .replicas = GetParam().replicas,
            .unruly = true},
           200);
}

TEST_P(SyncInterleavings, GiveTheSameBitsInDeterministicMode) {
  // This mode is rejected with backups (training/sync), so there is nothing to run.
  if (GetParam().replicas > GetParam().aggregate) return;
  const WorldOptions options = {.form = GetParam().form,
                                .aggregate = GetParam().aggregate,
                                .replicas = GetParam().replicas,
                                .deterministic = true};
  SyncWorld world(options);
  ASSERT_TRUE(world.status().ok()) << world.status();
  std::optional<History> first;
  for (uint64_t seed : Seeds(60)) {
    SCOPED_TRACE(Describe(options, seed));
    absl::StatusOr<History> history = world.Train(seed);
    ASSERT_TRUE(history.ok()) << history.status();
    ASSERT_EQ(history->times_stuck, 0) << history->stalls;
    ASSERT_EQ(history->dense.size(), static_cast<size_t>(options.updates) + 1);
    if (!first) first = *history;
    ASSERT_EQ(history->dense, first->dense);  // no NaNs: equal floats have equal bits, except zeros
    ASSERT_EQ(history->sparse, first->sparse);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, SyncInterleavings,
    ::testing::Values(Case{Form::kAccumulators, 1, 1}, Case{Form::kAccumulators, 2, 2},
                      Case{Form::kAccumulators, 3, 4}, Case{Form::kAccumulators, 2, 4},
                      Case{Form::kAccumulators, 4, 2}, Case{Form::kAccumulators, 5, 3},
                      Case{Form::kQueues, 1, 1}, Case{Form::kQueues, 2, 2},
                      Case{Form::kQueues, 3, 4}, Case{Form::kQueues, 2, 4},
                      Case{Form::kQueues, 4, 2}, Case{Form::kQueues, 5, 3}),
    [](const auto& info) {
      return StrCat(info.param.form == Form::kQueues ? "Queues" : "Accumulators",
                    info.param.aggregate, "Of", info.param.replicas);
    });

}  // namespace
}  // namespace sluice
