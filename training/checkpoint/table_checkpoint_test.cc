// Checkpoints of embedding tables: training continues with the same bits, also with another number
// of parts, and a model without a table can read the other variables.
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
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_table.h"
#include "ops/sugar.h"
#include "training/checkpoint/saver.h"
#include "training/optimizer/adam.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

std::string FolderOfTest() {
  std::string name =
      StrCat(::testing::TempDir(), "/",
             ::testing::UnitTest::GetInstance()->current_test_info()->name(), "_XXXXXX");
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

Output AllIds(Graph& g) {
  std::vector<int64_t> all(100);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i) * 12'345'678'901;
  return Constant(g, Tensor::Vector<int64_t>(all));
}

// Copies a checkpoint to the folder of the test. `change` returns the tensor to write, or nullopt
// to leave it out.
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
      // Rows that the checkpoint does not have must disappear.
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

}  // namespace
}  // namespace sluice
