// An embedding table must give the same rows in whatever order keys arrive, and must lose no update
// while threads look up, update and remove the same keys.
#include "ops/embedding/row_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "graph/tensor/limited_heap.h"
#include "ops/embedding/record_tensors.h"
#include "ops/random/distributions.h"
#include "ops/random/philox.h"

namespace sluice {
namespace {

RowStoreOptions Options(int64_t dim, std::vector<float> slots = {}) {
  return {.name = "t",
          .dim = dim,
          .initial_rows = InitialRows::Uniform(-1, 1),
          .seed = 7,
          .slot_values = std::move(slots)};
}

std::vector<int64_t> Range(int64_t n) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

std::vector<float> Rows(const RowStore& store, const std::vector<int64_t>& keys) {
  std::vector<float> rows(keys.size() * static_cast<size_t>(store.options().dim));
  store.Gather(keys, rows.data());
  return rows;
}

// Adds `x` to all elements of the rows of `keys`.
void Add(RowStore& store, const std::vector<int64_t>& keys, float x, int64_t step = 0) {
  const std::vector<int64_t> all = Range(static_cast<int64_t>(keys.size()));
  const int64_t dim = store.options().dim;
  ASSERT_TRUE(store
                  .Update(keys, all, step,
                          [&](int64_t, void* row, char*) {
                            for (int64_t i = 0; i < dim; ++i) static_cast<float*>(row)[i] += x;
                          })
                  .ok());
}

TEST(RowStore, InitialRowsDependOnSeedAndKeyOnly) {
  RowStore a(Options(5)), b(Options(5));
  Add(b, {9, 3, -4, 9}, 0);
  const std::vector<int64_t> keys = {3, -4, 9, 1'000'000'000'007};
  EXPECT_EQ(Rows(a, keys), Rows(b, keys));
  EXPECT_EQ(a.size(), 0);
  EXPECT_EQ(b.size(), 3);
  RowStoreOptions other = Options(5);
  other.seed = 8;
  EXPECT_NE(Rows(RowStore(other), keys), Rows(a, keys));
  EXPECT_NE(Rows(a, {3}), Rows(a, {4}));
}

TEST(RowStore, InitialRowsHaveTheirDistribution) {
  const auto moments = [](InitialRows rows) {
    RowStoreOptions options = Options(1);
    options.initial_rows = rows;
    const std::vector<float> x = Rows(RowStore(options), Range(100'000));
    double sum = 0, squares = 0;
    for (const float v : x) sum += v, squares += v * v;
    const double n = static_cast<double>(x.size());
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    return std::array<double, 4>{sum / n, squares / n - sum * sum / n / n, *low, *high};
  };
  const auto uniform = moments(InitialRows::Uniform(-1, 3));
  EXPECT_NEAR(uniform[0], 1, 0.02);
  EXPECT_NEAR(uniform[1], 16.0 / 12, 0.02);
  EXPECT_GE(uniform[2], -1);
  EXPECT_LT(uniform[3], 3);
  const auto normal = moments(InitialRows::Normal(2, 3));
  EXPECT_NEAR(normal[0], 2, 0.05);
  EXPECT_NEAR(normal[1], 9, 0.2);
  const auto truncated = moments(InitialRows::TruncatedNormal(0, 1));
  EXPECT_NEAR(truncated[1], 0.774, 0.02);
  EXPECT_GT(truncated[2], -2);
  EXPECT_LT(truncated[3], 2);
  EXPECT_EQ(moments(InitialRows::Constant(0.5f)), (std::array<double, 4>{0.5, 0, 0.5, 0.5}));
}

// The row of a key as the definition says, one call of the generator after the other.
std::vector<float> DefinedRow(const InitialRows& rows, int64_t seed, int64_t key, int64_t dim) {
  Philox generator(static_cast<uint64_t>(seed), static_cast<uint64_t>(key));
  std::vector<float> row;
  while (static_cast<int64_t>(row.size()) < dim) {
    const Philox::Results r = generator();
    const auto a = random::BoxMuller(r[0], r[1]), b = random::BoxMuller(r[2], r[3]);
    const float normal[] = {a.first, a.second, b.first, b.second};
    for (int i = 0; i < 4; ++i) {
      const bool is_truncated = rows.kind == InitialRows::Kind::kTruncatedNormal;
      if (rows.kind == InitialRows::Kind::kUniform) {
        row.push_back(rows.first + (rows.second - rows.first) * random::ToFloat(r[i]));
      } else if (!is_truncated || std::abs(normal[i]) < 2) {
        row.push_back(rows.first + rows.second * normal[i]);
      }
    }
  }
  row.resize(static_cast<size_t>(dim));
  return row;
}

// Initial rows are part of the meaning of checkpoints, and they are computed for many keys at once.
TEST(RowStore, InitialRowsHaveTheBitsOfTheGenerator) {
  std::vector<int64_t> keys = Range(37);
  keys.insert(keys.end(), {-1, int64_t{1} << 40, std::numeric_limits<int64_t>::min()});
  for (const InitialRows rows : {InitialRows::Uniform(-0.3f, 0.7f), InitialRows::Normal(1, 0.1f),
                                 InitialRows::TruncatedNormal(-1, 3)}) {
    for (const int64_t dim : {1, 3, 4, 16, 18, 67, 130}) {
      RowStoreOptions options = Options(dim);
      options.initial_rows = rows;
      RowStore store(options);
      // Half of the keys get records. Their rows are initial rows, too.
      Add(store, {keys.begin(), keys.begin() + 20}, 0);
      std::vector<float> expected;
      for (const int64_t key : keys) {
        const std::vector<float> row = DefinedRow(rows, options.seed, key, dim);
        expected.insert(expected.end(), row.begin(), row.end());
      }
      EXPECT_EQ(Rows(store, keys), expected) << dim;
    }
  }
}

TEST(RowStore, ActsAsAMapUnderRandomOperations) {
  RowStore store(Options(3));
  const RowStore initial(Options(3));
  std::map<int64_t, std::vector<float>> expected;
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> keys;
    for (int i = 0; i < 500; ++i) keys.push_back(static_cast<int64_t>(random() % 20'000) - 500);
    if (round % 4 == 3) {
      store.Remove(keys);
      for (const int64_t key : keys) expected.erase(key);
    } else {
      for (const int64_t key : keys) {
        auto& row = expected.try_emplace(key, Rows(store, {key})).first->second;
        for (float& x : row) x += 1;
        Add(store, {key}, 1);
      }
    }
    ASSERT_EQ(store.size(), static_cast<int64_t>(expected.size()));
    for (const int64_t key : keys) {
      const auto it = expected.find(key);
      const std::vector<float> row = it == expected.end() ? Rows(initial, {key}) : it->second;
      ASSERT_EQ(Rows(store, {key}), row) << key;
    }
  }
}

TEST(RowStore, RemovedRecordsAreUsedAgain) {
  RowStore store(Options(16));
  const std::vector<int64_t> keys = Range(5'000);
  Add(store, keys, 1);
  const Records::Number records = store.end();
  for (int i = 0; i < 5; ++i) {
    store.Remove(keys);
    EXPECT_EQ(store.size(), 0);
    Add(store, keys, 1);
  }
  // Readers may still use the last few records, which are not reused yet.
  EXPECT_LT(store.end(), records + 10);
  EXPECT_EQ(store.size(), 5'000);
}

TEST(RowStore, ExportAndPutCopyRowsSlotsCountsAndSteps) {
  RowStore store(Options(3, {0.5f, 0}));
  const std::vector<int64_t> keys = {5, -7, 5};
  ASSERT_TRUE(store
                  .Update(keys, {0, 1, 2}, 42,
                          [&](int64_t position, void* row, char* slots) {
                            static_cast<float*>(row)[1] = static_cast<float>(position);
                            reinterpret_cast<float*>(slots)[0] += 1;
                            reinterpret_cast<float*>(slots + store.slot_stride())[2] = 9;
                          })
                  .ok());
  const RowStore::Contents c = store.Export(0, store.end());
  EXPECT_EQ(c.keys, (std::vector<int64_t>{5, -7}));
  EXPECT_EQ(c.counts, (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(c.steps, (std::vector<int64_t>{42, 42}));
  const auto* accum = reinterpret_cast<const float*>(c.slots[0].data());
  EXPECT_EQ(std::vector<float>(accum, accum + 6),
            (std::vector<float>{2.5f, 0.5f, 0.5f, 1.5f, 0.5f, 0.5f}));
  RowStore copy(Options(3, {0, 0}));
  for (size_t i = 0; i < c.keys.size(); ++i) {
    const char* slots[] = {c.slots[0].data() + 12 * i, c.slots[1].data() + 12 * i};
    ASSERT_TRUE(copy.Put(c.keys[i], c.rows.data() + 12 * i, slots, c.counts[i], c.steps[i]).ok());
  }
  EXPECT_EQ(Rows(copy, {5, -7, 1}), Rows(store, {5, -7, 1}));
  EXPECT_EQ(copy.Export(0, copy.end()).slots, c.slots);
}

TEST(RowStore, SixteenBitRows) {
  RowStoreOptions options = Options(5, {1});
  options.dtype = DT_BFLOAT16;
  RowStore store(options);
  std::vector<bfloat16> row(5), again(5);
  store.Gather({3}, row.data());
  ASSERT_TRUE(store.Update({3}, {0}, 0, [](int64_t, void*, char*) {}).ok());
  store.Gather({3}, again.data());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(static_cast<float>(row[i]), static_cast<float>(again[i]));
    EXPECT_LE(std::abs(static_cast<float>(row[i])), 1);
  }
}

TEST(RowStore, MemoryPerKey) {
  RowStore store(Options(16, {0.1f}));
  Add(store, Range(400'000), 1);
  const double payload = 16 * 4 * 2 + 8 + 4;
  EXPECT_LT(static_cast<double>(store.bytes()) / 400'000, 1.25 * payload);
}

// For keys in a pattern, the index must find all keys, and its pages must be as full as for random
// keys.
TEST(RowStore, KeysWithPatterns) {
  constexpr int64_t kKeys = 100'000;
  for (const int64_t factor : {int64_t{1}, int64_t{1} << 12, int64_t{1} << 32, int64_t{1} << 46,
                               int64_t{-3} << 20, int64_t{0x1000001}}) {
    RowStoreOptions options = Options(1);
    options.initial_rows = InitialRows::Constant(0);
    RowStore store(options);
    std::vector<int64_t> keys = Range(kKeys);
    for (int64_t& key : keys) key *= factor;
    Add(store, keys, 1);
    Add(store, keys, 1);
    ASSERT_EQ(store.size(), kKeys);
    const std::vector<float> rows = Rows(store, keys);
    ASSERT_EQ(std::count(rows.begin(), rows.end(), 2.0f), kKeys);
    // The memory consists of records of 32 bytes, in whole huge pages, and of the index.
    EXPECT_LT(store.bytes(), (4 << 20) + kKeys * 12) << factor;
    store.Remove(keys);
    EXPECT_EQ(store.size(), 0);
  }
}

// Splits of a page move some keys without reading their records. A place may have had another key.
TEST(RowStore, KeysAreFoundThroughSplitsAndRemovals) {
  RowStoreOptions options = Options(1);
  options.initial_rows = InitialRows::Constant(0);
  RowStore store(options);
  constexpr int64_t kStep = 5'000;
  int64_t first = 0;
  for (int64_t end = kStep; end <= 40 * kStep; end += kStep) {
    std::vector<int64_t> added = Range(kStep), removed;
    for (int64_t& key : added) key += end - kStep;
    Add(store, added, 1);
    for (int64_t key = first; key < first + kStep / 2; ++key) removed.push_back(key);
    store.Remove(removed);
    first += kStep / 2;
    ASSERT_EQ(store.size(), end - first);
    const std::vector<float> rows = Rows(store, Range(end));
    ASSERT_EQ(std::count(rows.begin(), rows.begin() + first, 0.0f), first);
    ASSERT_EQ(std::count(rows.begin() + first, rows.end(), 1.0f), end - first);
  }
}

constexpr int kThreads = 8;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kUpdates = 20'000;
#else
constexpr int kUpdates = 1'000'000;
#endif

// Readers check that all elements of a row have had the same updates.
TEST(RowStore, ConcurrentUpdatesOfTheSameRowsAreAllDone) {
  RowStoreOptions options = Options(16);
  options.initial_rows = InitialRows::Constant(0);
  RowStore store(options);
  std::atomic<bool> is_done = false;
  std::atomic<int> torn = 0;
  std::thread reader([&] {
    const std::vector<int64_t> keys = Range(1000);
    while (!is_done) {
      const std::vector<float> rows = Rows(store, keys);
      for (size_t i = 0; i < rows.size(); ++i) torn += rows[i] != rows[i / 16 * 16] ? 1 : 0;
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<int64_t> keys;
      for (int i = 0; i < kUpdates / 1000; ++i) {
        keys.clear();
        for (int64_t k = 0; k < 1000; ++k) keys.push_back((k * 7 + i + t * 100) % 1000);
        Add(store, keys, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  is_done = true;
  reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(store.size(), 1000);
  for (const float x : Rows(store, Range(1000))) {
    ASSERT_EQ(x, static_cast<float>(kThreads * (kUpdates / 1000)));
  }
}

// All threads insert all keys, so that pages are replaced while others search them.
TEST(RowStore, ConcurrentGrowth) {
  RowStoreOptions options = Options(2);
  options.initial_rows = InitialRows::Constant(0);
  RowStore store(options);
  const int64_t n = kUpdates / 5;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<int64_t> keys = Range(n);
      std::shuffle(keys.begin(), keys.end(), std::mt19937(static_cast<unsigned>(t)));
      for (int64_t begin = 0; begin < n; begin += 100) {
        const std::vector<int64_t> some(keys.begin() + begin, keys.begin() + begin + 100);
        Add(store, some, 1);
        // A thread sees its insertions.
        for (const float x : Rows(store, some)) ASSERT_GE(x, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store.size(), n);
  const std::vector<float> rows = Rows(store, Range(n));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), 4.0f), 2 * n);
}

// Keys are added and removed while the table grows. Each row that a reader sees must be one that
// its key had.
TEST(RowStore, LookupsDuringRemovalAndGrowth) {
  RowStoreOptions options = Options(4);
  options.initial_rows = InitialRows::Constant(0);
  RowStore store(options);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int round = 0; round < kUpdates / 5'000; ++round) {
        std::vector<int64_t> keys;
        for (int i = 0; i < 100; ++i) keys.push_back(static_cast<int64_t>(random() % 5'000));
        if (round % 3 == 1) store.Remove(keys);
        if (round % 3 == 2) {
          ASSERT_TRUE(store
                          .Update(keys, Range(100), round,
                                  [&](int64_t i, void* row, char*) {
                                    std::fill_n(static_cast<float*>(row), 4,
                                                static_cast<float>(keys[static_cast<size_t>(i)]));
                                  })
                          .ok());
        }
        const std::vector<float> rows = Rows(store, keys);
        for (size_t i = 0; i < rows.size(); ++i) {
          const auto key = static_cast<float>(keys[i / 4]);
          const bool is_right = rows[i] == rows[i / 4 * 4] && (rows[i] == 0 || rows[i] == key);
          wrong += is_right ? 0 : 1;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(static_cast<size_t>(store.size()), store.Export(0, store.end()).keys.size());
}

// A checkpoint in memory. Some of its tensors cannot be read.
class Checkpoint : public TensorSource {
 public:
  absl::Status Save(RowStore& store) {
    return SaveTable(store, {"t"}, [&](const std::string& name, const Tensor& tensor) {
      tensors[name] = tensor;
      return absl::OkStatus();
    });
  }
  std::string Describe() const override { return "'c'"; }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& [name, tensor] : tensors) all.push_back(name);
    return all;
  }
  absl::StatusOr<std::pair<DataType, TensorShape>> TypeOf(const std::string& name) const override {
    return std::pair(tensors.at(name).dtype(), tensors.at(name).shape());
  }
  absl::StatusOr<Tensor> Read(const std::string& name) const override {
    ++reads;
    if (name == damaged) return absl::DataLossError(name);
    return tensors.at(name);
  }

  std::map<std::string, Tensor> tensors;
  std::string damaged;
  mutable int reads = 0;
};

TEST(RowStore, ADamagedCheckpointDoesNotChangeATable) {
  RowStoreOptions options = Options(3);
  options.admission.after_updates = 2;
  RowStore saved(options);
  Add(saved, {1, 2, 3, 1, 2}, 1);
  Checkpoint checkpoint;
  ASSERT_TRUE(checkpoint.Save(saved).ok());
  EXPECT_THAT(checkpoint.tensors, ::testing::SizeIs(9));
  for (const std::string& name : checkpoint.names()) {
    RowStore store(options);
    Add(store, {5, 6, 7, 5, 6}, 4);
    const std::vector<float> before = Rows(store, Range(9));
    checkpoint.damaged = name;
    const absl::Status status = RestoreTable(checkpoint, {"t"}, store);
    EXPECT_EQ(status, absl::DataLossError(name));
    EXPECT_EQ(store.size(), 2);
    EXPECT_EQ(Rows(store, Range(9)), before);
    Add(store, {7}, 4);
    EXPECT_EQ(store.size(), 3) << "key 7 still waited for its second update";
    checkpoint.damaged.clear();
    ASSERT_TRUE(RestoreTable(checkpoint, {"t"}, store).ok());
    EXPECT_EQ(Rows(store, Range(9)), Rows(saved, Range(9)));
  }
}

TEST(RowStore, ARestoreReadsACheckpointTwiceOnlyIntoAUsedTable) {
  RowStore saved(Options(3)), store(Options(3));
  Add(saved, {1, 2}, 1);
  Checkpoint checkpoint;
  ASSERT_TRUE(checkpoint.Save(saved).ok());
  const auto tensors = static_cast<int>(checkpoint.tensors.size());
  ASSERT_TRUE(RestoreTable(checkpoint, {"t"}, store).ok());
  EXPECT_EQ(std::exchange(checkpoint.reads, 0), tensors);
  ASSERT_TRUE(RestoreTable(checkpoint, {"t"}, store).ok());
  EXPECT_EQ(checkpoint.reads, 2 * tensors);
}

TEST(RowStore, ASaveWithoutMemoryForTheFilterFails) {
  RowStoreOptions options = Options(3);
  options.admission = {.after_updates = 2, .filter_counters = 1 << 20};
  RowStore store(options);
  Add(store, {1}, 1);
  Checkpoint checkpoint;
  SetHeapRoom([](size_t, RoomFor) { return false; });
  const absl::Status status = checkpoint.Save(store);
  SetHeapRoom(nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace sluice
