// Tests checkpoints of embedding tables. After a restore, training continues with the same bits,
// even with another number of parts, and a model without a table can read the other variables.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/strings.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/checkpoint/bundle.h"
#include "ops/embedding/builders.h"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_table.h"
#include "ops/sugar.h"
#include "training/checkpoint/saver.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/gradient_descent.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

std::string FolderOfTest() {
  std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(test.begin(), test.end(), '/', '_');  // in names of tests with parameters
  std::string name = StrCat(::testing::TempDir(), "/", test, "_XXXXXX");
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

Output AllIds(Graph& g) {
  std::vector<int64_t> all(100);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i) * 12'345'678'901;
  return Constant(g, Tensor::Vector<int64_t>(all));
}

// Copies a checkpoint to the folder of the test. `change` returns the tensor to write, or nullopt
// to omit it.
using Change = std::function<std::optional<Tensor>(const std::string& name, const Tensor& tensor)>;
std::string ChangedCopy(const std::string& path, const Change& change) {
  const std::string copy = FolderOfTest() + "/changed";
  const auto reader = BundleReader::Open(path);
  const auto writer = BundleWriter::Create(copy);
  EXPECT_TRUE(reader.ok() && writer.ok());
  for (const std::string& name : (*reader)->names()) {
    const absl::StatusOr<Tensor> tensor = (*reader)->Read(name);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    const std::optional<Tensor> changed = change(name, *tensor);
    if (!changed) continue;
    EXPECT_TRUE((*writer)->Add(name, *changed).ok());
  }
  EXPECT_TRUE((*writer)->Finish().ok());
  return copy;
}

class Model {
 public:
  explicit Model(int shards, bool is_sharded = false, std::string_view name = "items")
      : table_(g_, name, 3, {.num_shards = shards}),
        w_(g_, "w", 2.0f),
        ids_(Placeholder(g_, DT_INT64, {-1}, "ids")) {
    const Output loss = ReduceSum(EmbeddingLookup(table_, ids_) * w_);
    train_ = Adam({.learning_rate = 0.1f}).Minimize(loss);
    rows_ = EmbeddingLookup(table_, AllIds(g_));
    saver_ = std::make_unique<Saver>(g_, SaverOptions{.sharded = is_sharded});
    init_ = InitializeVariables(g_);
    session_ = std::make_unique<Session>(g_);
    Expect(session_->Run({init_}));
  }
  void Train(int first, int steps) {
    for (int i = first; i < first + steps; ++i) {
      const int64_t a = i % 10 * int64_t{12'345'678'901}, b = i % 7 * int64_t{12'345'678'901};
      Expect(session_->Run({{ids_, Tensor::Vector<int64_t>({a, b})}}, {}, {train_}).status());
    }
  }
  std::vector<float> Rows() {
    const auto rows = session_->Run({}, {rows_});
    Expect(rows.status());
    if (!rows.ok()) return {};
    const Tensor& t = rows->at(0);
    return {t.data<float>(), t.data<float>() + t.num_elements()};
  }
  std::string Save(const std::string& folder) {
    const auto path = saver_->Save(*session_, folder + "/model");
    Expect(path.status());
    return path.value_or("");
  }
  absl::Status Restore(const std::string& path) { return saver_->Restore(*session_, path); }

 private:
  static void Expect(const absl::Status& status) { EXPECT_TRUE(status.ok()) << status; }

  Graph g_;
  EmbeddingTable table_;
  Variable w_;
  Output ids_, rows_;
  Operation train_, init_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Session> session_;
};

TEST(TableCheckpoint, TrainingContinuesWithAnyNumberOfParts) {
  Model model(2);
  model.Train(0, 20);
  const std::string path = model.Save(FolderOfTest());
  const std::vector<float> saved = model.Rows();
  model.Train(20, 20);
  for (const int shards : {1, 2, 3}) {
    for (const bool is_sharded : {false, true}) {
      Model restored(shards, is_sharded);
      // Rows that the checkpoint lacks must disappear.
      restored.Train(3, 9);
      const absl::Status status = restored.Restore(path);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(restored.Rows(), saved);
      restored.Train(20, 20);
      EXPECT_EQ(restored.Rows(), model.Rows());
    }
  }
}

TEST(TableCheckpoint, TablesWithoutRecords) {
  Model model(1);
  const std::string path = model.Save(FolderOfTest());
  const std::vector<float> initial = model.Rows();
  model.Train(0, 5);
  EXPECT_NE(model.Rows(), initial);
  ASSERT_TRUE(model.Restore(path).ok());
  EXPECT_EQ(model.Rows(), initial);
}

TEST(TableCheckpoint, OtherTable) {
  Model model(1);
  const std::string path = model.Save(FolderOfTest());
  Model other(1, false, "users");
  EXPECT_THAT(std::string(other.Restore(path).message()),
              HasSubstr("Key users not found in checkpoint"));
}

TEST(TableCheckpoint, AGraphWithoutTheOptimizerReadsTheRows) {
  Model model(2);
  model.Train(0, 20);
  const std::string path = model.Save(FolderOfTest());
  Graph g;
  const EmbeddingTable table(g, "items", 3);
  const Output rows = EmbeddingLookup(table, AllIds(g));
  Saver saver(g);
  Session session(g);
  const absl::Status restored = saver.Restore(session, path);
  ASSERT_TRUE(restored.ok()) << restored;
  const absl::StatusOr<Tensors> values = session.Run({}, {rows});
  ASSERT_TRUE(values.ok()) << values.status();
  const Tensor& t = values->at(0);
  EXPECT_EQ(std::vector<float>(t.data<float>(), t.data<float>() + t.num_elements()), model.Rows());
}

TEST(TableCheckpoint, ACheckpointWithoutAPartLeavesTheTable) {
  Model model(2);
  model.Train(0, 20);
  const std::string path =
      ChangedCopy(model.Save(FolderOfTest()),
                  [](const std::string& name, const Tensor& tensor) -> std::optional<Tensor> {
                    if (name.find("/1-of-2/") != name.npos) return std::nullopt;
                    return tensor;
                  });
  model.Train(20, 5);
  const std::vector<float> rows = model.Rows();
  const absl::Status status = model.Restore(path);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("expected 2 parts, but part '1-of-2' is missing"));
  EXPECT_EQ(model.Rows(), rows);
}

TEST(TableCheckpoint, AChunkOfAnotherShapeLeavesTheTable) {
  Model model(2);
  model.Train(0, 20);
  const std::string path =
      ChangedCopy(model.Save(FolderOfTest()),
                  [](const std::string& name, const Tensor& tensor) -> std::optional<Tensor> {
                    if (name == "items/1-of-2/00000/slots")
                      return Tensor(DT_FLOAT, TensorShape({1, 1, 3}));
                    return tensor;
                  });
  model.Train(20, 5);
  const std::vector<float> rows = model.Rows();
  const absl::Status status = model.Restore(path);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected slots of type float and shape"));
  EXPECT_EQ(model.Rows(), rows);
}

// Has a table with rules for admission and eviction. Each step updates two keys that stay in the
// table, and other keys that come and go.
class ModelWithRules {
 public:
  ModelWithRules(int shards, AdmissionRule admission, EvictionRule eviction)
      : table_(g_, "items", 3,
               {.initial_rows = InitialRows::Constant(0),
                .num_shards = shards,
                .admission = admission,
                .eviction = eviction}),
        ids_(Placeholder(g_, DT_INT64, {-1}, "ids")) {
    const Output loss = ReduceSum(EmbeddingLookup(table_, ids_));
    train_ = GradientDescent({.learning_rate = -1.0f}).Minimize(loss);
    rows_ = EmbeddingLookup(table_, AllIds(g_));
    for (const Variable& shard : table_.shards()) {
      const EmbeddingTableCountsOutputs counts = EmbeddingTableCounts(shard.handle());
      counts_.insert(counts_.end(), {counts.admitted, counts.filtered, counts.evicted});
      sizes_.push_back(EmbeddingTableSize(shard.handle()));
    }
    saver_ = std::make_unique<Saver>(g_);
    session_ = std::make_unique<Session>(g_);
  }
  void Step(int i) {
    std::vector<int64_t> ids = {0, 1};
    for (int64_t j = 0; j < 12; ++j) ids.push_back((i * 5 + j * j) % 100);
    for (int64_t& id : ids) id *= 12'345'678'901;
    const auto done = session_->Run({{ids_, Tensor::Vector<int64_t>(ids)}}, {}, {train_});
    EXPECT_TRUE(done.ok()) << done.status();
  }
  std::vector<float> Rows() {
    const Tensor rows = session_->Run({}, {rows_})->at(0);
    return {rows.data<float>(), rows.data<float>() + rows.num_elements()};
  }
  // Returns the numbers of keys admitted, updates filtered, and keys evicted.
  std::vector<int64_t> Counts() {
    std::vector<int64_t> sums(3);
    const Tensors counts = *session_->Run({}, counts_);
    for (size_t i = 0; i < counts.size(); ++i) sums[i % 3] += counts[i].scalar<int64_t>();
    return sums;
  }
  int64_t Size() {
    int64_t sum = 0;
    for (const Tensor& size : *session_->Run({}, sizes_)) sum += size.scalar<int64_t>();
    return sum;
  }
  std::string Save(const std::string& folder) {
    return saver_->Save(*session_, folder + "/model").value_or("");
  }
  absl::Status Restore(const std::string& path) { return saver_->Restore(*session_, path); }

 private:
  Graph g_;
  EmbeddingTable table_;
  Output ids_, rows_;
  OutputList counts_, sizes_;
  Operation train_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Session> session_;
};

struct Rules {
  const char* name;
  AdmissionRule admission;
  EvictionRule eviction;
};
class TableCheckpointRules : public ::testing::TestWithParam<Rules> {};

// Compares lookups after each step, because they show which keys are admitted and evicted. The
// table counts the steps itself, because the optimizer has no global step.
TEST_P(TableCheckpointRules, GoOnAfterARestoreIntoAnyNumberOfParts) {
  const auto [name, admission, eviction] = GetParam();
  constexpr int kSaveAt = 25, kSteps = 60;
  ModelWithRules model(2, admission, eviction);
  for (int i = 0; i < kSaveAt; ++i) model.Step(i);
  const std::string path = model.Save(FolderOfTest());
  const std::vector<int64_t> at_save = model.Counts();
  std::vector<std::vector<float>> rows = {model.Rows()};
  for (int i = kSaveAt; i < kSteps; ++i) {
    model.Step(i);
    rows.push_back(model.Rows());
  }
  const std::vector<int64_t> counts = model.Counts();
  for (const int shards : {1, 2, 3, 4}) {
    ModelWithRules restored(shards, admission, eviction);
    // The state that these steps leave in the table must not influence training after the restore.
    for (int i = 7; i < 12; ++i) restored.Step(i);
    const std::vector<int64_t> before = restored.Counts();
    const absl::Status status = restored.Restore(path);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(restored.Rows(), rows[0]) << shards << " parts";
    for (int i = kSaveAt; i < kSteps; ++i) {
      restored.Step(i);
      ASSERT_EQ(restored.Rows(), rows[static_cast<size_t>(i - kSaveAt + 1)])
          << shards << " parts, step " << i;
    }
    const std::vector<int64_t> after = restored.Counts();
    for (const size_t i : {0, 1}) {
      EXPECT_EQ(after[i] - before[i], counts[i] - at_save[i]) << shards << " parts";
    }
    EXPECT_EQ(eviction != EvictionRule(), after[2] > before[2]);
  }
  EXPECT_GT(counts[0], at_save[0]);
  EXPECT_EQ(admission != AdmissionRule(), counts[1] > at_save[1]);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, TableCheckpointRules,
    ::testing::Values(Rules{"ExactCounters", {.after_updates = 4}, {}},
                      Rules{"Filter", {.after_updates = 4, .filter_counters = 20'000}, {}},
                      Rules{"Steps", {}, {.idle_steps = 6}},
                      Rules{"SmallRows", {}, {.min_norm = 4, .min_norm_steps = 5}},
                      Rules{"CountersAndSteps", {.after_updates = 2}, {.idle_steps = 9}}),
    [](const auto& info) { return info.param.name; });

// Changes a checkpoint such that step 9, the last one, began long ago or recently.
TEST(TableCheckpoint, TimesOfSteps) {
  const EvictionRule rule = {.idle_seconds = 1e6f};
  ModelWithRules model(1, {}, rule);
  for (int i = 0; i < 10; ++i) model.Step(i);
  const std::string path = model.Save(FolderOfTest());
  for (const bool is_old : {false, true}) {
    const std::string changed =
        ChangedCopy(path, [&](const std::string& name, const Tensor& tensor) {
          if (!name.ends_with("/rules/ages")) return std::optional<Tensor>(tensor);
          EXPECT_GT(tensor.num_elements(), 0);
          const int64_t age_ms = is_old ? 1'100'000'000 : 1000;
          return std::optional<Tensor>(Tensor::Of<int64_t>({1, 2}, {9, age_ms}));
        });
    ModelWithRules restored(2, {}, rule);
    const absl::Status status = restored.Restore(changed);
    ASSERT_TRUE(status.ok()) << status;
    const std::vector<float> rows = restored.Rows();
    const auto present = std::count_if(rows.begin(), rows.end(), [](float x) { return x != 0; });
    restored.Step(99);
    const std::vector<float> later = restored.Rows();
    const auto present_later =
        std::count_if(later.begin(), later.end(), [](float x) { return x != 0; });
    EXPECT_GT(present, 100);
    if (is_old) {
      EXPECT_LT(present_later, present / 2);
    } else {
      EXPECT_GE(present_later, present);
    }
  }
}

TEST(TableCheckpoint, RulesOfAnotherShapeLeaveTheTable) {
  ModelWithRules model(1, {.after_updates = 4}, {});
  for (int i = 0; i < 10; ++i) model.Step(i);
  const std::string path = model.Save(FolderOfTest());
  const std::vector<float> rows = model.Rows();
  for (const char* changed : {"/rules/steps", "/rules/ages", "/keys", "/counts"}) {
    const std::string copy = ChangedCopy(path, [&](const std::string& name, const Tensor& tensor) {
      const bool is_rule = name.find("/rules/") != name.npos && name.ends_with(changed);
      return std::optional<Tensor>(is_rule ? Tensor::Vector<int64_t>({1, 2, 3}) : tensor);
    });
    const absl::Status status = model.Restore(copy);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << changed << ": " << status;
    EXPECT_EQ(model.Rows(), rows);
  }
}

}  // namespace
}  // namespace sluice
