// Every model learns the known probabilities of the labels from the files of a small log, and
// graphs read files of both formats alike.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "demos/recommenders/log_files.h"
#include "demos/recommenders/training.h"
#include "graph/strings.h"
#include "sluice.h"

namespace sluice::recommenders {
namespace {

constexpr int64_t kRows = 30'000, kTestRows = 5'000;

// The files of a log with few keys, which are written once.
std::string LogFile(LogKind kind, const std::string& part, const std::string& ending) {
  const std::string path = ::testing::TempDir() +
                           (kind == LogKind::kClicks ? "/clicks_" : "/purchases_") + part + ending;
  if (std::filesystem::exists(path)) return path;
  const bool is_test = part == "test";
  EXPECT_EQ(absl::OkStatus(), WriteLog(MakeLog(kind, {.keys_max = 60}), is_test ? kRows : 0,
                                       is_test ? kTestRows : kRows, path));
  return path;
}

// A model, and the AUC of each label that it has to exceed.
struct Goal {
  const char* model;
  std::vector<double> aucs;
  TableKind table = TableKind::kStatic;
};

class ModelsTest : public ::testing::TestWithParam<Goal> {};

TEST_P(ModelsTest, LearnsThePlantedTruth) {
  const ModelKind* model = FindModel(GetParam().model);
  ASSERT_NE(model, nullptr);
  TrainingOptions options;
  options.model = model;
  options.train_file = LogFile(model->log, "train", ".tfrecord");
  options.test_file = LogFile(model->log, "test", ".csv");
  options.tables.kind = GetParam().table;
  options.batch = 128;
  options.steps = 500;
  options.evaluations = 2;
  const absl::StatusOr<TrainingResult> result = Train(options);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->aucs.size(), GetParam().aucs.size());
  const Impressions test =
      MakeLog(model->log, {.keys_max = 60}).rows(kRows, kTestRows / options.batch * options.batch);
  for (size_t task = 0; task < result->aucs.size(); ++task) {
    const auto column = static_cast<int64_t>(task);
    const double best = AreaUnderCurve(test.columns[0], test.probabilities, column);
    EXPECT_GT(result->aucs[task].back(), GetParam().aucs[task]) << "label " << task;
    EXPECT_LT(result->aucs[task].back(), best + 0.01) << "label " << task;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ModelsTest,
                         ::testing::Values(Goal{"wdl", {0.72}}, Goal{"dlrm", {0.7}},
                                           Goal{"deepfm", {0.72}}, Goal{"dcnv2", {0.72}},
                                           Goal{"din", {0.7}}, Goal{"dien", {0.7}},
                                           Goal{"mmoe", {0.6, 0.6, 0.6}}, Goal{"two_tower", {0.7}},
                                           Goal{"wdl", {0.72}, TableKind::kDynamic},
                                           Goal{"din", {0.7}, TableKind::kDynamic},
                                           Goal{"two_tower", {0.7}, TableKind::kDynamic}),
                         [](const auto& info) {
                           const bool is_static = info.param.table == TableKind::kStatic;
                           return StrCat(info.param.model, is_static ? "" : "_dynamic");
                         });

class LogFilesTest : public ::testing::TestWithParam<std::tuple<LogKind, std::string>> {};

TEST_P(LogFilesTest, ReadingGivesTheRowsThatWereWritten) {
  const auto& [kind, ending] = GetParam();
  const Log log = MakeLog(kind, {.keys_max = 60});
  Graph g;
  const OutputList columns =
      ReadLog(g, log, {.files = {LogFile(kind, "test", ending)}, .batch = 100, .repeat = false});
  ASSERT_TRUE(g.status().ok()) << g.status();
  Session session(g);
  ASSERT_TRUE(session.Run({Operation(g.Find(g.Collection(kTableInitializers).at(0)))}).ok());
  for (int64_t first = 0; first < 300; first += 100) {
    const absl::StatusOr<Tensors> read = session.Run({}, columns, {});
    ASSERT_TRUE(read.ok()) << read.status();
    const Impressions written = log.rows(kRows + first, 100);
    for (size_t c = 0; c < log.columns.size(); ++c) {
      EXPECT_EQ((*read)[c].shape(), written.columns[c].shape());
      EXPECT_EQ((*read)[c].SummarizeValues(5000), written.columns[c].SummarizeValues(5000))
          << log.columns[c].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LogFilesTest,
                         ::testing::Combine(::testing::Values(LogKind::kClicks,
                                                              LogKind::kPurchases),
                                            ::testing::Values(".tfrecord", ".csv")));

TEST(LogFilesErrors, ANameWithAnotherEndingIsAnError) {
  const absl::Status status = WriteLog(ClickLog({}), 0, 1, ::testing::TempDir() + "/log.txt");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("expected a name that ends in .tfrecord or .csv"),
            std::string::npos);
}

TEST(LogTest, ARowDependsOnlyOnSeedAndNumber) {
  for (const LogKind kind : {LogKind::kClicks, LogKind::kPurchases}) {
    const Log log = MakeLog(kind, {.seed = 5});
    const Impressions whole = log.rows(0, 20), rest = log.rows(10, 10);
    const Impressions other = MakeLog(kind, {.seed = 6}).rows(0, 20);
    for (size_t c = 1; c < log.columns.size(); ++c) {
      EXPECT_EQ(whole.columns[c].SliceRows(10, 20).SummarizeValues(1000),
                rest.columns[c].SummarizeValues(1000));
      EXPECT_NE(whole.columns[c].SummarizeValues(1000), other.columns[c].SummarizeValues(1000));
    }
  }
}

TEST(AreaUnderCurveTest, CountsOrderedPairsAndHalfOfTies) {
  const Tensor labels = Tensor::Of<float>({5, 1}, {1, 0, 1, 0, 0});
  const Tensor scores = Tensor::Of<float>({5, 1}, {3, 2, 1, 1, 0});
  // There are six pairs. The first positive is above all three negatives, the second above one, and
  // equal to one.
  EXPECT_DOUBLE_EQ(AreaUnderCurve(labels, scores, 0), 4.5 / 6);
  EXPECT_DOUBLE_EQ(AreaUnderCurve(Tensor::Of<float>({2, 1}, {1, 1}), scores.SliceRows(0, 2), 0),
                   0.5);
}

TEST(AreaUnderCurveTest, IsNanIfAScoreIsNan) {
  const Tensor labels = Tensor::Of<float>({3, 1}, {1, 0, 1});
  const Tensor scores = Tensor::Of<float>({3, 1}, {1, std::nanf(""), 2});
  EXPECT_TRUE(std::isnan(AreaUnderCurve(labels, scores, 0)));
}

}  // namespace
}  // namespace sluice::recommenders
