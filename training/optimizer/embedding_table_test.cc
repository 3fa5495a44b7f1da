// For each optimizer that is one rule, embedding tables must train like static tables with the same
// initial rows, however the keys are partitioned.
#include "ops/embedding/embedding_table.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/build/scopes.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/embedding/embedding.h"
#include "ops/math/cast_builders.h"
#include "ops/math/power_builders.h"
#include "ops/sugar.h"
#include "training/optimizer/adagrad.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/adam_async.h"
#include "training/optimizer/ftrl.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/group_lasso.h"
#include "training/optimizer/momentum.h"
#include "training/optimizer/rms_prop.h"
#include "training/optimizer/sign.h"
#include "training/optimizer/weight_decay.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kRows = 40, kDim = 6, kBatch = 16;
constexpr int kSteps = 200;

int64_t KeyOf(int64_t row) { return row * 1'000'000'007 - 77; }

Tensor Keys(const std::vector<int64_t>& rows) {
  Tensor keys(DT_INT64, {static_cast<int64_t>(rows.size())});
  std::transform(rows.begin(), rows.end(), keys.data<int64_t>(), KeyOf);
  return keys;
}
std::vector<int64_t> AllRows() {
  std::vector<int64_t> rows(kRows);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

std::vector<float> Numbers(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.num_elements()};
}

using Make = std::function<std::unique_ptr<Optimizer>(Graph&)>;
template <typename O, typename Options>
Make MakerOf(Options options) {
  return [options](Graph&) { return std::make_unique<O>(options); };
}

// A model that moves the rows of a batch towards targets. The rows are in a table or a static
// variable.
class Model {
 public:
  // Uses a static variable with `initial_rows` or, if they are not given, a table of `shards`
  // parts. A dense model reads all rows in each step.
  Model(const Make& make, bool is_dense, std::optional<Tensor> initial_rows, int shards = 1,
        DataType dtype = DT_FLOAT) {
    ids_ = Placeholder(g_, DT_INT64, {.name = "ids"});
    target_ = Placeholder(g_, DT_FLOAT, {.name = "target"});
    Output rows;
    if (initial_rows) {
      Variable v(g_, "table", *initial_rows);
      rows = is_dense ? v.Read() : EmbeddingLookup(v, ids_);
      all_ = v.Read();
    } else {
      EmbeddingTable table(
          g_, "table", kDim,
          {.dtype = dtype, .initial_rows = InitialRows::Uniform(-1, 1), .num_shards = shards});
      rows = EmbeddingLookup(table, ids_);
      all_ = EmbeddingLookup(table, Constant(g_, Keys(AllRows())));
    }
    const Output error = (dtype == DT_FLOAT ? rows : Cast(rows, DT_FLOAT)) - target_;
    const std::unique_ptr<Optimizer> optimizer = make(g_);
    train_ = optimizer->Minimize(ReduceSum(error * error));
    init_ = InitializeVariables(g_);
    session_ = std::make_unique<Session>(g_);
    Expect(session_->Run({init_}));
  }

  void Step(const Tensor& ids, const Tensor& target) {
    Expect(session_->Run({{ids_, ids}, {target_, target}}, {}, {train_}).status());
  }
  Tensor Rows() {
    const absl::StatusOr<Tensors> rows = session_->Run({}, {all_});
    Expect(rows.status());
    return rows.ok() ? rows->at(0) : Tensor(DT_FLOAT, {0});
  }

 private:
  static void Expect(const absl::Status& status) { EXPECT_TRUE(status.ok()) << status; }

  Graph g_;
  Output ids_, target_, all_;
  Operation train_, init_;
  std::unique_ptr<Session> session_;
};

enum class Batch { kAllRows, kRepeatedRows, kDistinctRows };

std::vector<int64_t> NextRows(Batch batch, std::mt19937& random) {
  std::vector<int64_t> rows = AllRows();
  if (batch == Batch::kAllRows) return rows;
  std::shuffle(rows.begin(), rows.end(), random);
  rows.resize(kBatch);
  if (batch == Batch::kRepeatedRows) {
    for (size_t i = kBatch / 2; i < kBatch; ++i) rows[i] = rows[random() % (kBatch / 2)];
  }
  return rows;
}

void ExpectEqualToStatic(const Make& make, Batch batch) {
  const bool is_dense = batch == Batch::kAllRows;
  Model dynamic(make, is_dense, std::nullopt);
  Model fixed(make, is_dense, dynamic.Rows());
  std::mt19937 random(3);
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<int64_t> rows = NextRows(batch, random);
    const auto n = static_cast<int64_t>(rows.size());
    Tensor ids(DT_INT64, {n}), target(DT_FLOAT, {n, kDim});
    std::copy(rows.begin(), rows.end(), ids.data<int64_t>());
    std::generate_n(target.data<float>(), n * kDim,
                    [&] { return static_cast<float>(random() % 1000) / 500 - 1; });
    dynamic.Step(Keys(rows), target);
    fixed.Step(ids, target);
  }
  EXPECT_EQ(Numbers(dynamic.Rows()), Numbers(fixed.Rows()));
}

Make DualAveraging() {
  return [](Graph& g) {
    const Variable step(g, "step", int64_t{0}, {.trainable = false});
    return std::make_unique<AdagradDA>(AdagradDAOptions{
        .learning_rate = 0.1f, .global_step = step, .l1_regularization_strength = 0.01f});
  };
}

Make Decaying() {
  return [](Graph& g) {
    const Variable step(g, "step", int64_t{5}, {.trainable = false});
    return std::make_unique<AdagradDecay>(AdagradDecayOptions{
        .learning_rate = 0.1f, .global_step = step, .accumulator_decay_step = 2});
  };
}

struct Case {
  const char* name;
  Make make;
  // Whether the static table has an update of rows by the same rule. If not, only dense gradients
  // can be compared.
  bool has_sparse;
};

std::vector<Case> Cases() {
  return {
      {"Adagrad", MakerOf<Adagrad>(AdagradOptions{.learning_rate = 0.1f}), true},
      {"AdagradDA", DualAveraging(), true},
      {"ProximalAdagrad",
       MakerOf<ProximalAdagrad>(
           ProximalAdagradOptions{.learning_rate = 0.1f, .l1_regularization_strength = 0.01f}),
       true},
      {"Momentum", MakerOf<Momentum>(MomentumOptions{.learning_rate = 0.01f, .momentum = 0.9f}),
       true},
      {"Nesterov",
       MakerOf<Momentum>(
           MomentumOptions{.learning_rate = 0.01f, .momentum = 0.9f, .use_nesterov = true}),
       true},
      {"RMSProp", MakerOf<RMSProp>(RMSPropOptions{.learning_rate = 0.01f, .momentum = 0.5f}), true},
      {"CenteredRMSProp",
       MakerOf<RMSProp>(RMSPropOptions{.learning_rate = 0.01f, .centered = true}), true},
      {"Adadelta", MakerOf<Adadelta>(AdadeltaOptions{.learning_rate = 1.0f}), true},
      {"Ftrl",
       MakerOf<Ftrl>(FtrlOptions{.learning_rate = 0.1f, .l1_regularization_strength = 0.01f}),
       true},
      {"ProximalGradientDescent",
       MakerOf<ProximalGradientDescent>(ProximalGradientDescentOptions{
           .learning_rate = 0.01f, .l2_regularization_strength = 0.1f}),
       true},
      {"GradientDescent", MakerOf<GradientDescent>(GradientDescentOptions{.learning_rate = 0.01f}),
       false},
      {"Adam", MakerOf<Adam>(AdamOptions{.learning_rate = 0.01f}), false},
      {"AMSGrad", MakerOf<AMSGrad>(AMSGradOptions{.learning_rate = 0.01f}), false},
      {"AdaMax", MakerOf<AdaMax>(AdaMaxOptions{.learning_rate = 0.01f}), false},
      {"AddSign", MakerOf<AddSign>(AddSignOptions{.learning_rate = 0.01f}), false},
      {"AdamW", MakerOf<AdamW>(AdamWOptions{.learning_rate = 0.01f, .weight_decay = 0.1f}), false},
      {"AdamAsync", MakerOf<AdamAsync>(AdamAsyncOptions{.learning_rate = 0.01f}), true},
      {"AdagradDecay", Decaying(), true},
      {"GroupFtrl",
       MakerOf<GroupFtrl>(GroupFtrlOptions{.learning_rate = 0.1f,
                                           .l1_regularization_strength = 0.01f,
                                           .l21_regularization_strength = 0.1f}),
       true},
      {"GroupAdam",
       MakerOf<GroupAdam>(GroupAdamOptions{.learning_rate = 0.01f,
                                           .l1_regularization_strength = 0.01f,
                                           .l21_regularization_strength = 0.1f}),
       true},
      {"PowerSign", MakerOf<PowerSign>(PowerSignOptions{.learning_rate = 0.01f}), false},
  };
}

TEST(EmbeddingTable, TrainsLikeAStaticTable) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    ExpectEqualToStatic(c.make, Batch::kAllRows);
    if (c.has_sparse) ExpectEqualToStatic(c.make, Batch::kRepeatedRows);
  }
}

TEST(EmbeddingTable, AdamAsyncTrainsRowsByRmsprop) {
  ExpectEqualToStatic(
      MakerOf<AdamAsync>(AdamAsyncOptions{.learning_rate = 0.01f, .apply_sparse_rmsprop = true}),
      Batch::kRepeatedRows);
}

// Moves one row towards 2. Returns the row before each step.
std::vector<std::vector<float>> PathOfOneRow(const Make& make, std::optional<Tensor> initial) {
  Graph g;
  Output row;
  if (initial) {
    row = Variable(g, "row", *initial).Read();
  } else {
    EmbeddingTable table(g, "table", kDim, {.initial_rows = InitialRows::Uniform(-1, 1)});
    row = EmbeddingLookup(table, Constant(g, Keys({3})));
  }
  const Operation train = make(g)->Minimize(ReduceSum(Square(row - 2.0f)));
  const Operation init = InitializeVariables(g);
  Session session(g);
  EXPECT_TRUE(session.Run({init}).ok());
  std::vector<std::vector<float>> path;
  for (int step = 0; step < 20; ++step) {
    const absl::StatusOr<Tensors> now = session.Run({}, {row});
    EXPECT_TRUE(now.ok()) << now.status();
    path.push_back(now.ok() ? Numbers(now->at(0)) : std::vector<float>(kDim));
    EXPECT_TRUE(session.Run({train}).ok());
  }
  return path;
}

// If a variable has one row, its norms are those of the row.
TEST(EmbeddingTable, LambTrainsARowLikeAVariable) {
  const Make make = MakerOf<Lamb>(LambOptions{.learning_rate = 0.05f, .weight_decay = 0.1f});
  const auto dynamic = PathOfOneRow(make, std::nullopt);
  const auto fixed = PathOfOneRow(make, Tensor::Of<float>({1, kDim}, dynamic[0]));
  for (size_t step = 0; step < fixed.size(); ++step) {
    for (size_t k = 0; k < kDim; ++k) {
      EXPECT_NEAR(dynamic[step][k], fixed[step][k], 1e-5) << step;
    }
  }
  EXPECT_NE(dynamic[0], dynamic[19]);
}

TEST(EmbeddingTable, GroupAdamWithoutPenaltiesIsAdam) {
  const auto group =
      PathOfOneRow(MakerOf<GroupAdam>(GroupAdamOptions{.learning_rate = 0.05f}), std::nullopt);
  const auto adam = PathOfOneRow(MakerOf<Adam>(AdamOptions{.learning_rate = 0.05f}), std::nullopt);
  for (size_t step = 0; step < adam.size(); ++step) {
    for (size_t k = 0; k < kDim; ++k) EXPECT_NEAR(group[step][k], adam[step][k], 1e-4) << step;
  }
}

TEST(EmbeddingTable, GroupLassoMakesWholeRowsZero) {
  for (const Make& make : {MakerOf<GroupAdam>(GroupAdamOptions{.learning_rate = 0.05f,
                          .l21_regularization_strength = 1e3f}),
                           MakerOf<GroupFtrl>(GroupFtrlOptions{.learning_rate = 0.05f,
                           .l21_regularization_strength = 1e3f})}) {
    EXPECT_EQ(PathOfOneRow(make, std::nullopt).back(), std::vector<float>(kDim));
  }
}

std::vector<float> RowsAfterTraining(int shards, bool in_reverse) {
  Model model(MakerOf<Adam>(AdamOptions{.learning_rate = 0.01f}), false, std::nullopt, shards);
  std::mt19937 random(5);
  for (int step = 0; step < 30; ++step) {
    std::vector<int64_t> rows = NextRows(Batch::kDistinctRows, random);
    if (in_reverse) std::reverse(rows.begin(), rows.end());
    Tensor target(DT_FLOAT, {kBatch, kDim});
    for (int64_t i = 0; i < kBatch; ++i) {
      std::fill_n(target.data<float>() + i * kDim, kDim,
                  static_cast<float>(rows[static_cast<size_t>(i)]));
    }
    model.Step(Keys(rows), target);
  }
  return Numbers(model.Rows());
}

TEST(EmbeddingTable, PartsAndOrderOfKeysDoNotChangeBits) {
  const std::vector<float> expected = RowsAfterTraining(1, false);
  EXPECT_EQ(RowsAfterTraining(1, true), expected);
  EXPECT_EQ(RowsAfterTraining(2, false), expected);
  EXPECT_EQ(RowsAfterTraining(4, true), expected);
}

TEST(EmbeddingTable, SixteenBitRowsTrain) {
  Model model(MakerOf<Adagrad>(AdagradOptions{.learning_rate = 0.1f}), false, std::nullopt, 1,
              DT_BFLOAT16);
  Tensor target(DT_FLOAT, {kRows, kDim});
  std::fill_n(target.data<float>(), kRows * kDim, 3.0f);
  const Tensor before = model.Rows();
  for (int i = 0; i < 100; ++i) model.Step(Keys(AllRows()), target);
  const Tensor after = model.Rows();
  for (int64_t i = 0; i < kRows * kDim; ++i) {
    ASSERT_GT(static_cast<float>(after.data<bfloat16>()[i]),
              static_cast<float>(before.data<bfloat16>()[i]) + 0.5f);
  }
}

// Returns the error of a train op that `optimizer` adds for a table.
std::string ErrorOf(Graph& g, Optimizer& optimizer, const EmbeddingTable& table) {
  const Output loss = ReduceSum(EmbeddingLookup(table, Constant(g, Keys({1}))));
  optimizer.Minimize(loss);
  return std::string(g.status().message());
}

// An optimizer whose update is not a single rule.
class InSteps : public Optimizer {
 public:
  InSteps() : Optimizer("InSteps", false) {}

 protected:
  Operation ApplyDense(Output, const Variable&) override { return {}; }
  Operation ApplySparse(const IndexedSlices&, const Variable&) override { return {}; }
};

TEST(EmbeddingTableErrors, OptimizersThatAreNotOneRule) {
  Graph g;
  InSteps optimizer;
  EXPECT_THAT(ErrorOf(g, optimizer, EmbeddingTable(g, "t", 4)),
              HasSubstr("InSteps: expected variables, got embedding table 't'"));
}

TEST(EmbeddingTableErrors, TwoOptimizers) {
  Graph g;
  EmbeddingTable table(g, "t", 4);
  Adagrad adagrad({.learning_rate = 0.1f});
  EXPECT_EQ(ErrorOf(g, adagrad, table), "");
  Adam adam;
  EXPECT_THAT(ErrorOf(g, adam, table),
              HasSubstr("embedding table 't': expected one optimizer, Adagrad, got Adam too"));
}

TEST(EmbeddingTableErrors, Arguments) {
  Graph g;
  EmbeddingTable table(g, "t", 0);
  EXPECT_THAT(std::string(g.status().message()),
              HasSubstr("embedding table 't': expected rows of at least 1 element, got 0"));
}

}  // namespace
}  // namespace sluice
