// The rules that make and remove the records of an embedding table must depend on keys and steps
// only, remove few records per call, and lose no update of a row that stays.
#include "ops/embedding/table_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "graph/tensor/float16.h"
#include "ops/embedding/row_store.h"

namespace sluice {
namespace {

RowStoreOptions Options(AdmissionRule admission, EvictionRule eviction) {
  return {.name = "t",
          .dim = 4,
          .initial_rows = InitialRows::Constant(0),
          .seed = 7,
          .slot_values = {0.5f},
          .admission = admission,
          .eviction = eviction};
}

std::vector<int64_t> Range(int64_t begin, int64_t end) {
  std::vector<int64_t> all(static_cast<size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

// Adds 1 to all elements of the rows.
void Update(RowStore& store, const std::vector<int64_t>& keys, int64_t step) {
  const std::vector<int64_t> all = Range(0, static_cast<int64_t>(keys.size()));
  const auto add = [](int64_t, void* row, char*) {
    for (int i = 0; i < 4; ++i) static_cast<float*>(row)[i] += 1;
  };
  ASSERT_TRUE(store.Update(keys, all, store.BeginUpdate(step), add).ok());
}

// The first element of each row.
std::vector<float> Values(const RowStore& store, const std::vector<int64_t>& keys) {
  std::vector<float> rows(keys.size() * 4), first;
  store.Gather(keys, rows.data());
  for (size_t i = 0; i < keys.size(); ++i) first.push_back(rows[4 * i]);
  return first;
}

TEST(Admission, MakesARecordWithTheNthUpdate) {
  RowStore store(Options({.after_updates = 3}, {}));
  Update(store, {1, 2, 1}, 0);
  EXPECT_EQ(store.size(), 0);
  EXPECT_EQ(Values(store, {1, 2}), (std::vector<float>{0, 0}));
  Update(store, {1, 2}, 1);
  EXPECT_EQ(store.size(), 1);
  EXPECT_EQ(Values(store, {1, 2}), (std::vector<float>{1, 0}));
  Update(store, {1, 2}, 2);
  EXPECT_EQ(Values(store, {1, 2}), (std::vector<float>{2, 1}));
  EXPECT_EQ(store.counts().admitted, 2);
  EXPECT_EQ(store.counts().filtered, 4);
  store.Remove({1});
  Update(store, {1}, 3);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{0}));
}

// Insertions and checkpoints bring records of their own.
TEST(Admission, InsertionsNeedNone) {
  RowStore store(Options({.after_updates = 9, .probability = 0}, {}));
  const float row[] = {5, 5, 5, 5};
  ASSERT_TRUE(store.Put(3, row, {}, 0, 0).ok());
  Update(store, {3, 4}, 0);
  EXPECT_EQ(Values(store, {3, 4}), (std::vector<float>{6, 0}));
}

TEST(Admission, DoesNotDependOnTheOrderOfKeys) {
  std::vector<std::vector<float>> results;
  for (unsigned seed = 0; seed < 3; ++seed) {
    RowStore store(Options({.after_updates = 2, .probability = 0.5f}, {}));
    std::mt19937 random(seed);
    for (int64_t step = 0; step < 3; ++step) {
      std::vector<int64_t> keys = Range(0, 2000);
      std::shuffle(keys.begin(), keys.end(), random);
      std::vector<std::thread> threads;
      for (const int half : {0, 1}) {
        threads.emplace_back([&, half] {
          Update(store, {keys.begin() + 1000 * half, keys.begin() + 1000 * (half + 1)}, step);
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    results.push_back(Values(store, Range(0, 2000)));
    EXPECT_NEAR(static_cast<double>(store.size()), 1000, 100);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Admission, TheFilterNeverCountsTooFewAndRarelyTooMany) {
  constexpr int64_t kKeys = 10'000, kCounters = 80'000;
  RowStore store(Options({.after_updates = 2, .filter_counters = kCounters}, {}));
  Update(store, Range(0, kKeys), 0);
  // The bound is the filter's share of errors after all keys. On average, a key meets half of them.
  const double bound = std::pow(1 - std::exp(-4.0 * kKeys / kCounters), 4);
  EXPECT_GT(store.size(), 0);
  EXPECT_LT(static_cast<double>(store.size()), bound * kKeys);
  Update(store, Range(0, kKeys), 1);
  EXPECT_EQ(store.size(), kKeys);
}

// Each part has the blocks of the filter that its keys use.
TEST(Admission, TheFilterAdmitsTheSameKeysInAnyNumberOfParts) {
  const AdmissionRule rule = {.after_updates = 3, .filter_counters = 6'000};
  const std::vector<int64_t> keys = Range(0, 3000);
  std::vector<float> whole;
  for (const int64_t parts : {1, 2, 4}) {
    std::vector<float> values(keys.size());
    for (int64_t shard = 0; shard < parts; ++shard) {
      RowStoreOptions options = Options(rule, {});
      options.shard = shard;
      options.num_shards = parts;
      RowStore store(options);
      std::vector<int64_t> own;
      for (const int64_t key : keys) {
        if (RowStore::ShardOf(key, static_cast<uint64_t>(parts)) == shard) own.push_back(key);
      }
      for (int64_t step = 0; step < 3; ++step) Update(store, own, step);
      const std::vector<float> some = Values(store, own);
      for (size_t i = 0; i < own.size(); ++i) values[static_cast<size_t>(own[i])] = some[i];
    }
    // Some keys were admitted too early, but none too late.
    EXPECT_EQ(std::count(values.begin(), values.end(), 0.0f), 0);
    EXPECT_LT(std::count(values.begin(), values.end(), 1.0f), 3000);
    if (parts == 1) whole = values;
    EXPECT_EQ(values, whole) << parts << " parts";
  }
}

TEST(Eviction, IdleKeysHaveInitialRowsAtOnceAndNoRecordsSoon) {
  RowStore store(Options({}, {.idle_steps = 10}));
  const std::vector<int64_t> keys = Range(0, 5000);
  Update(store, keys, 0);
  Update(store, {7}, 5);
  for (int64_t step = 6; step <= 10; ++step) Update(store, {-1}, step);
  EXPECT_EQ(Values(store, {7, 8}), (std::vector<float>{2, 1}));
  EXPECT_EQ(store.counts().evicted, 0);
  Update(store, {-1}, 11);
  EXPECT_EQ(Values(store, {7, 8}), (std::vector<float>{2, 0}));
  // A call removes a few.
  Update(store, {-1}, 12);
  EXPECT_GT(store.counts().evicted, 0);
  EXPECT_LT(store.counts().evicted, 200);
  for (int64_t step = 13; step < 100; ++step) Update(store, {-1, 7}, step);
  EXPECT_EQ(store.size(), 2);
  EXPECT_EQ(store.counts().evicted, 4999);
}

// Whether or not its record was examined, an idle key starts again with its initial row and slots.
TEST(Eviction, UpdatesOfIdleKeysStartAgain) {
  RowStore store(Options({}, {.idle_steps = 3}));
  const auto add = [](int64_t, void* row, char* slot) {
    static_cast<float*>(row)[0] += 1;
    reinterpret_cast<float*>(slot)[0] += 1;
  };
  for (const int64_t step : {0, 4, 9}) ASSERT_TRUE(store.Update({5}, {0}, step, add).ok());
  const RowStore::Contents contents = store.Export(0, store.end());
  ASSERT_EQ(contents.keys, (std::vector<int64_t>{5}));
  EXPECT_EQ(reinterpret_cast<const float*>(contents.rows.data())[0], 1);
  EXPECT_EQ(reinterpret_cast<const float*>(contents.slots[0].data())[0], 1.5f);
  EXPECT_EQ(contents.counts[0], 1);
  EXPECT_EQ(contents.steps[0], 9);
  EXPECT_EQ(store.counts().evicted, 1);
}

// Asynchronous workers send updates of earlier steps after those of later ones.
TEST(Eviction, LateUpdatesDoNotMakeAKeyOlder) {
  RowStore store(Options({}, {.idle_steps = 5}));
  Update(store, {1}, 9);
  Update(store, {1}, 3);
  Update(store, {2}, 14);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{2}));
  Update(store, {2}, 15);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{0}));
}

// Between the eviction and the late update, lookups returned the initial row.
TEST(Eviction, LateUpdatesDoNotContinueAnEvictedRow) {
  RowStore store(Options({}, {.idle_steps = 5}));
  Update(store, {1}, 0);
  Update(store, {}, 7);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{0}));
  Update(store, {1}, 5);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{1}));
  EXPECT_EQ(store.counts().evicted, 1);
}

// The step in which a key becomes idle can still update it, because its lookups saw the row.
TEST(Eviction, TheStepThatEndsAKeyCanUpdateIt) {
  RowStore store(Options({}, {.idle_steps = 5}));
  Update(store, {1}, 0);
  Update(store, {2}, 5);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{1}));
  Update(store, {2}, 6);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{0}));
  Update(store, {1}, 6);
  EXPECT_EQ(Values(store, {1}), (std::vector<float>{2}));
}

class IdleSeconds : public ::testing::Test {
 protected:
  IdleSeconds() : store_(OptionsWithClock()) {}
  RowStoreOptions OptionsWithClock() {
    RowStoreOptions options = Options({}, {.idle_seconds = 10});
    options.clock = [this] { return now_ms_; };
    return options;
  }
  void UpdateAt(const std::vector<int64_t>& keys, int64_t step, double seconds) {
    now_ms_ = 5'000'000 + static_cast<int64_t>(seconds * 1000);
    Update(store_, keys, step);
  }
  std::vector<float> Values(const std::vector<int64_t>& keys) {
    return sluice::Values(store_, keys);
  }

  int64_t now_ms_ = 0;
  RowStore store_;
};

TEST_F(IdleSeconds, EvictKeysByTime) {
  UpdateAt({1, 2}, 0, 0);
  UpdateAt({2}, 1, 4);
  // Key 1 is idle from the beginning of step 1, at second 4. At second 14 it has been idle for ten
  // seconds, and the next step evicts it.
  UpdateAt({3}, 2, 14);
  EXPECT_EQ(Values({1, 2, 3}), (std::vector<float>{1, 2, 1}));
  UpdateAt({3}, 3, 14.2);
  EXPECT_EQ(Values({1, 2, 3}), (std::vector<float>{0, 2, 2}));
  UpdateAt({3}, 4, 24.1);
  UpdateAt({3}, 5, 24.2);
  EXPECT_EQ(Values({1, 2, 3}), (std::vector<float>{0, 0, 4}));
  EXPECT_EQ(store_.size(), 1);
  EXPECT_EQ(store_.counts().evicted, 2);
}

TEST_F(IdleSeconds, PassOnlyWithUpdates) {
  UpdateAt({1}, 0, 0);
  UpdateAt({}, 1, 1);
  now_ms_ += 1'000'000;
  EXPECT_EQ(Values({1}), (std::vector<float>{1}));
  UpdateAt({}, 2, 2000);
  EXPECT_EQ(Values({1}), (std::vector<float>{0}));
}

// The table remembers the beginnings of only a limited number of steps.
TEST_F(IdleSeconds, MayBe1In64TooLate) {
  for (int64_t step = 0; step < 3000; ++step) {
    const double now = 0.01 * static_cast<double>(step);
    UpdateAt({step}, step, now);
    if (step % 100 != 0) continue;
    const std::vector<float> values = Values(Range(0, step + 1));
    for (int64_t key = 0; key <= step; ++key) {
      const double age = now - 0.01 * static_cast<double>(key);
      const float value = values[static_cast<size_t>(key)];
      const bool may_be_either = age >= 10 && age <= 10.2;
      ASSERT_TRUE(may_be_either || value == (age < 10 ? 1 : 0)) << key << " at " << now;
    }
  }
  EXPECT_LE(store_.idle().state().ages.size(), 66u);
  EXPECT_LT(store_.size(), 1200);
}

// A pause after a step must not make keys of the step before younger.
TEST_F(IdleSeconds, DoNotDependOnTheDistanceOfSteps) {
  UpdateAt({1}, 1, 0);
  UpdateAt({2}, 2, 0.05);
  UpdateAt({3}, 3, 0.1);
  UpdateAt({}, 4, 9);
  UpdateAt({}, 5, 10.2);
  EXPECT_EQ(Values({1, 2, 3}), (std::vector<float>{0, 0, 1}));
}

// Another process has another clock.
TEST_F(IdleSeconds, AreSavedRelativeToTheSave) {
  UpdateAt({1}, 0, 0);
  UpdateAt({2}, 1, 3);
  const RowStore::Contents records = store_.Export(0, store_.end());
  const IdleLimits::State state = store_.idle().state();
  store_.Remove({1, 2});
  now_ms_ = 77;
  store_.ForgetSteps();
  for (size_t i = 0; i < records.keys.size(); ++i) {
    const char* slot = records.slots[0].data() + 16 * i;
    const char* row = records.rows.data() + 16 * i;
    ASSERT_TRUE(store_.Put(records.keys[i], row, {slot}, 1, records.steps[i]).ok());
  }
  store_.idle().Restore(state);
  now_ms_ = 77 + 9'900;
  Update(store_, {3}, 2);
  EXPECT_EQ(Values({1, 2}), (std::vector<float>{1, 1}));
  now_ms_ = 77 + 10'001;
  Update(store_, {3}, 3);
  EXPECT_EQ(Values({1, 2}), (std::vector<float>{0, 1}));
}

TEST(Eviction, SmallRowsThatAreIdle) {
  RowStore store(Options({}, {.min_norm = 3, .min_norm_steps = 4}));
  // Norms 2 and 4: rows (1, 1, 1, 1) and (2, 2, 2, 2).
  Update(store, {1, 2}, 0);
  Update(store, {2}, 1);
  for (int64_t step = 2; step <= 4; ++step) Update(store, {-1}, step);
  EXPECT_EQ(Values(store, {1, 2}), (std::vector<float>{1, 2}));
  Update(store, {-1}, 5);
  EXPECT_EQ(Values(store, {1, 2}), (std::vector<float>{0, 2}));
  for (int64_t step = 6; step < 40; ++step) Update(store, {-1}, step);
  EXPECT_EQ(Values(store, {1, 2}), (std::vector<float>{0, 2}));
  EXPECT_EQ(store.size(), 2);
  EXPECT_EQ(store.counts().evicted, 1);
}

TEST(Eviction, SmallRowsOf16Bits) {
  for (const DataType dtype : {DT_HALF, DT_BFLOAT16}) {
    RowStoreOptions options = Options({}, {.min_norm = 3, .min_norm_steps = 4});
    options.dtype = dtype;
    RowStore store(options);
    const half halves[] = {half(1), half(2), half(1), half(0)};
    const bfloat16 bfloats[] = {bfloat16(1), bfloat16(2), bfloat16(1), bfloat16(0)};
    const void* row = dtype == DT_HALF ? static_cast<const void*>(halves) : bfloats;
    ASSERT_TRUE(store.Put(1, row, {}, 1, 0).ok());  // of norm sqrt(6)
    ASSERT_TRUE(store.Put(2, row, {}, 1, 5).ok());
    EXPECT_EQ(store.size(), 2);
    const auto nothing = [](int64_t, void*, char*) {};
    ASSERT_TRUE(store.Update({3}, {0}, 6, nothing).ok());
    EXPECT_EQ(store.size(), 2) << "key 1 is idle and small, keys 2 and 3 are not idle";
  }
}

// A restored checkpoint may be older than the table.
TEST(Eviction, RestoredRecordsOfEarlierStepsAreNotIdle) {
  RowStore store(Options({.after_updates = 2}, {.idle_steps = 10}));
  Update(store, {1, 2, 1}, 1000);
  store.Remove({1});
  store.ForgetSteps();
  const float row[] = {5, 5, 5, 5};
  ASSERT_TRUE(store.Put(1, row, {}, 1, 20).ok());
  ASSERT_TRUE(store.Put(3, row, {}, 1, 9).ok());
  EXPECT_EQ(Values(store, {1, 3}), (std::vector<float>{5, 0}));
  Update(store, {1, 2}, 21);
  EXPECT_EQ(Values(store, {1, 2}), (std::vector<float>{6, 0}));
}

TEST(Eviction, TheCapacityKeepsRecentKeys) {
  RowStore store(Options({}, {.capacity = 1000}));
  for (int64_t step = 0; step < 50; ++step) {
    std::vector<int64_t> keys = Range(100 * step, 100 * step + 100);
    keys.push_back(-1);
    Update(store, keys, step);
  }
  EXPECT_LE(store.size(), 1000);
  EXPECT_GE(store.size(), 900);
  const std::vector<float> all = Values(store, Range(4800, 5000));
  EXPECT_GT(std::count(all.begin(), all.end(), 1.0f), 180);
  EXPECT_EQ(Values(store, {-1}), (std::vector<float>{50}));
}

TEST(Eviction, TheCapacityKeepsKeysWithManyUpdates) {
  RowStore store(Options({}, {.capacity = 500, .least_updated = true}));
  for (int64_t step = 0; step < 10; ++step) Update(store, Range(0, 200), step);
  for (int64_t step = 10; step < 40; ++step) {
    Update(store, Range(100 * step, 100 * step + 100), step);
  }
  EXPECT_LE(store.size(), 500);
  const std::vector<float> rows = Values(store, Range(0, 200));
  EXPECT_GT(std::count(rows.begin(), rows.end(), 10.0f), 190);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int64_t kSteps = 300;
#else
constexpr int64_t kSteps = 3000;
#endif

// Two threads update keys that stay in every step, and others that come and go. A reader checks
// that rows are whole, and counts rows of staying keys that lack updates which were done before.
struct Outcome {
  int torn = 0, lost = 0;
};
Outcome UpdateAndRead(RowStore& store, int64_t stay) {
  std::atomic<int64_t> done = 0;
  std::atomic<bool> is_over = false;
  Outcome outcome;
  std::thread reader([&] {
    const std::vector<int64_t> keys = Range(0, stay + 500);
    std::vector<float> rows(keys.size() * 4);
    while (!is_over) {
      const auto least = static_cast<float>(done);
      store.Gather(keys, rows.data());
      for (size_t i = 0; i < rows.size(); ++i) {
        outcome.torn += rows[i] == rows[i / 4 * 4] ? 0 : 1;
        outcome.lost += keys[i / 4] >= stay || rows[i] >= least ? 0 : 1;
      }
    }
  });
  for (int64_t step = 0; step < kSteps; ++step) {
    std::vector<std::thread> threads;
    for (const int64_t part : {0, 1}) {
      threads.emplace_back([&, part] {
        std::vector<int64_t> keys = Range(part * stay / 2, (part + 1) * stay / 2);
        std::mt19937 random(static_cast<unsigned>(2 * step + part));
        for (int i = 0; i < 300; ++i)
          keys.push_back(stay + static_cast<int64_t>(random() % 20'000));
        Update(store, keys, step);
      });
    }
    for (std::thread& thread : threads) thread.join();
    done = step + 1;
  }
  is_over = true;
  reader.join();
  return outcome;
}

TEST(Eviction, LosesNoUpdateOfRowsThatStay) {
  RowStore store(Options({}, {.idle_steps = 5}));
  const Outcome outcome = UpdateAndRead(store, 500);
  EXPECT_EQ(outcome.torn, 0);
  EXPECT_EQ(outcome.lost, 0);
  EXPECT_GT(store.counts().evicted, 1000);
  const std::vector<float> rows = Values(store, Range(0, 500));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), static_cast<float>(kSteps)), 500);
  EXPECT_EQ(static_cast<size_t>(store.size()), store.Export(0, store.end()).keys.size());
}

TEST(Eviction, TheCapacityBesideUpdatesAndLookups) {
  RowStore store(Options({}, {.capacity = 2000}));
  EXPECT_EQ(UpdateAndRead(store, 500).torn, 0);
  EXPECT_LE(store.size(), 2000 + 1100);  // and those of the last step
  EXPECT_GT(store.counts().evicted, 1000);
  EXPECT_EQ(static_cast<size_t>(store.size()), store.Export(0, store.end()).keys.size());
}

}  // namespace
}  // namespace sluice
