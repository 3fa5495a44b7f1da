// Tests synchronous training of an embedding table: gradients of replicas are combined by key, as
// those of a static table are combined by row.
#include "ops/embedding/embedding_table.h"

#include <optional>
#include <vector>

#include "executor/session/session.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/embedding/embedding.h"
#include "ops/sugar.h"
#include "training/optimizer/adagrad.h"
#include "training/sync/sync_replicas_optimizer.h"
#include "training/testing/sync.h"

namespace sluice {
namespace {

constexpr int64_t kRows = 8, kDim = 3;

Tensor Ids(const std::vector<int64_t>& ids) {
  Tensor t(DT_INT64, {static_cast<int64_t>(ids.size())});
  std::copy(ids.begin(), ids.end(), t.data<int64_t>());
  return t;
}

class Model {
 public:
  // Puts two tokens at first, so that each push returns before the update.
  explicit Model(std::optional<Tensor> static_rows)
      : step_(GlobalStep(g_)),
        ids_(Placeholder(g_, DT_INT64, {.name = "ids"})),
        optimizer_(Adagrad({.learning_rate = 0.5f}),
                   {.replicas_to_aggregate = 2, .total_num_replicas = 2}) {
    const Output all = Constant(g_, Ids({0, 1, 2, 3, 4, 5, 6, 7}));
    Output rows;
    if (static_rows) {
      const Variable v(g_, "t", *static_rows);
      rows = EmbeddingLookup(v, ids_);
      all_ = v.Read();
    } else {
      const EmbeddingTable table(g_, "t", kDim);
      rows = EmbeddingLookup(table, ids_);
      all_ = EmbeddingLookup(table, all);
    }
    train_ = optimizer_.Minimize(ReduceSum(rows * rows), {.global_step = &step_});
    step_value_ = step_.Read();
    const auto tokens = optimizer_.InitTokensOp(2);
    session_ = std::make_unique<Session>(g_);
    Expect(g_.status());
    Expect(session_->Run({InitializeVariables(g_)}));
    Expect(session_->Run({optimizer_.LocalInitOp(true)}));
    Expect(session_->Run({tokens.value_or(Operation())}));
  }

  void Push(const std::vector<int64_t>& ids) {
    Expect(session_->Run({{ids_, Ids(ids)}}, {}, {train_}).status());
  }
  void Update() { Expect(session_->Run({optimizer_.sync_op()})); }
  std::vector<float> Rows() {
    const absl::StatusOr<Tensors> rows = session_->Run({}, {all_});
    Expect(rows.status());
    if (!rows.ok()) return {};
    value_ = rows->at(0);
    return {value_.data<float>(), value_.data<float>() + kRows * kDim};
  }
  const Tensor& value() const { return value_; }
  int64_t step() { return session_->Run({}, {step_value_})->at(0).scalar<int64_t>(); }

 private:
  static void Expect(const absl::Status& status) { ASSERT_TRUE(status.ok()) << status; }

  Graph g_;
  Variable step_;
  Output ids_, all_, step_value_;
  SyncReplicasOptimizer optimizer_;
  Operation train_;
  std::unique_ptr<Session> session_;
  Tensor value_;
};

TEST(SyncReplicas, GradientsOfATableMeetByKey) {
  Model dynamic(std::nullopt);
  const std::vector<float> before = dynamic.Rows();
  Model fixed(dynamic.value());
  ASSERT_EQ(fixed.Rows(), before);
  for (Model* model : {&dynamic, &fixed}) {
    model->Push({1, 2, 2});
    model->Push({2, 7});
    model->Update();
  }
  EXPECT_EQ(dynamic.step(), 1);
  EXPECT_EQ(dynamic.Rows(), fixed.Rows());
  EXPECT_NE(dynamic.Rows(), before);
}

}  // namespace
}  // namespace sluice
