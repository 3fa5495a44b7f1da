// Tests the ops of embedding tables: export and import of records, and the texts of errors.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/build/node_builder.h"
#include "gtest/gtest.h"
#include "ops/array/builders.h"
#include "ops/embedding/builders.h"
#include "ops/embedding/embedding_table.h"
#include "ops/sugar.h"
#include "ops/update/builders.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

template <typename T>
Tensor Vector(const std::vector<T>& values, std::vector<int64_t> dims = {}) {
  if (dims.empty()) dims = {static_cast<int64_t>(values.size())};
  Tensor t(kDataTypeOf<T>, TensorShape(dims));
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}

template <typename T>
std::vector<T> Values(const Tensor& t) {
  return {t.data<T>(), t.data<T>() + t.num_elements()};
}

// Has a table with constant initial rows (1, 1), and operations on it.
class EmbeddingTableOps : public ::testing::Test {
 protected:
  EmbeddingTableOps()
      : table_(g_, "t", 2, {.initial_rows = InitialRows::Constant(1)}),
        handle_(table_.shards()[0].handle()) {}

  Session& session() {
    if (session_ == nullptr) session_ = std::make_unique<Session>(g_);
    return *session_;
  }
  void Run(Operation op) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    const absl::Status status = session().Run({op});
    EXPECT_TRUE(status.ok()) << status;
  }
  Tensor Fetch(Output value) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    const absl::StatusOr<Tensors> values = session().Run({}, {value});
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() ? values->at(0) : Tensor();
  }
  std::string ErrorOf(Operation op) {
    if (!g_.status().ok()) return std::string(g_.status().message());
    return std::string(session().Run({op}).message());
  }
  Output Keys(const std::vector<int64_t>& keys) { return Constant(g_, Vector(keys)); }

  Graph g_;
  EmbeddingTable table_;
  Output handle_;
  std::unique_ptr<Session> session_;
};

TEST_F(EmbeddingTableOps, InsertLookUpAndRemove) {
  const Operation insert = EmbeddingTableInsert(handle_, Keys({-5, 8}),
                                                Constant(g_, Vector<float>({2, 3, 4, 5}, {2, 2})));
  const Output rows = GatherRows(table_.shards()[0], Keys({8, 6, -5}));
  const Output narrow = GatherRows(table_.shards()[0], Constant(g_, Vector<int32_t>({8})));
  const Output size = EmbeddingTableSize(handle_);
  const Operation remove = EmbeddingTableRemove(handle_, Keys({8, 9}));
  Run(insert);
  EXPECT_EQ(Values<float>(Fetch(rows)), (std::vector<float>{4, 5, 1, 1, 2, 3}));
  EXPECT_EQ(Values<float>(Fetch(narrow)), (std::vector<float>{4, 5}));
  EXPECT_EQ(Fetch(size).scalar<int64_t>(), 2);
  Run(remove);
  EXPECT_EQ(Values<float>(Fetch(rows)), (std::vector<float>{1, 1, 1, 1, 2, 3}));
  EXPECT_EQ(Fetch(size).scalar<int64_t>(), 1);
}

// Exports two chunks, and imports them into a second table.
TEST_F(EmbeddingTableOps, ExportAndImportInChunks) {
  ASSERT_TRUE(SetTableSlots(table_.shards()[0], "Test", {0.5f}).ok());
  EmbeddingTable copy(g_, "copy", 2);
  ASSERT_TRUE(SetTableSlots(copy.shards()[0], "Test", {0}).ok());
  const Output handle = copy.shards()[0].handle();
  const Operation update = EmbeddingTableApplyAdagrad(
      handle_, Constant(g_, 1.0f), Constant(g_, Vector<float>({1, 2, 3, 4, 5, 6}, {3, 2})),
      Keys({10, 20, 30}), Constant(g_, int64_t{7}));
  Output begin = Placeholder(g_, DT_INT64, {.name = "begin"});
  const EmbeddingTableExportOutputs chunk =
      EmbeddingTableExport(handle_, begin, Constant(g_, int64_t{2}), DT_FLOAT);
  const Operation import =
      EmbeddingTableImport(handle, chunk.keys, chunk.rows, chunk.slots, chunk.counts, chunk.steps);
  const Output rows = GatherRows(table_.shards()[0], Keys({10, 20, 30}));
  const Output copied = GatherRows(copy.shards()[0], Keys({10, 20, 30}));
  Run(update);
  std::vector<int64_t> nexts, counts, steps;
  for (int64_t from = 0; from >= 0;) {
    const auto got = session().Run({{begin, Tensor::Scalar(from)}},
                                   {chunk.next, chunk.counts, chunk.steps}, {import});
    ASSERT_TRUE(got.ok()) << got.status();
    from = (*got)[0].scalar<int64_t>();
    nexts.push_back(from);
    for (const int64_t n : Values<int64_t>((*got)[1])) counts.push_back(n);
    for (const int64_t n : Values<int64_t>((*got)[2])) steps.push_back(n);
  }
  EXPECT_EQ(nexts, (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(steps, (std::vector<int64_t>{7, 7, 7}));
  EXPECT_EQ(Values<float>(Fetch(copied)), Values<float>(Fetch(rows)));
  EXPECT_FLOAT_EQ(Values<float>(Fetch(rows))[1], 1 - 2 / std::sqrt(4.5f));
}

TEST_F(EmbeddingTableOps, PartsOfKeysAreFixed) {
  const Output parts = EmbeddingTableShard(Keys({0, 1, 2, 3, -1, 1'000'000'007}), 3);
  // The parts of keys must never change, because checkpoints and clusters depend on them.
  const std::vector<int32_t> first = Values<int32_t>(Fetch(parts));
  for (const int32_t part : first) EXPECT_TRUE(part >= 0 && part < 3);
  std::vector<int64_t> many(30'000), count(3);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int64_t>(i);
  session_.reset();
  for (const int32_t part : Values<int32_t>(Fetch(EmbeddingTableShard(Keys(many), 3)))) {
    ++count[static_cast<size_t>(part)];
  }
  for (const int64_t n : count) EXPECT_NEAR(static_cast<double>(n), 10'000, 300);
}

TEST_F(EmbeddingTableOps, TooManyPartsAreRefused) {
  const Output parts = EmbeddingTableShard(Keys({1}), (int64_t{1} << 32) + 1);
  EXPECT_THAT(Session(g_).Run({}, {parts}, {}).status().message(),
              HasSubstr("expected num_shards of at most 65536, got 4294967297"));
}

TEST_F(EmbeddingTableOps, WrongShapes) {
  const Output unknown = Placeholder(g_, DT_FLOAT, {.name = "rows"});
  const Operation insert = EmbeddingTableInsert(handle_, Keys({1, 2}), unknown);
  const absl::Status status =
      session().Run({{unknown, Vector<float>({1, 2, 3}, {1, 3})}}, {}, {insert}).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected rows of shape [2,2], got [1,3]"));
}

TEST_F(EmbeddingTableOps, OptimizerWithoutSlotsInTheTable) {
  const Operation update = EmbeddingTableApplyAdagrad(handle_, Constant(g_, 1.0f),
                                                      Constant(g_, Vector<float>({1, 2}, {1, 2})),
                                                      Keys({10}), Constant(g_, int64_t{-1}));
  EXPECT_THAT(
      ErrorOf(update),
      HasSubstr("expected a table of float rows with 1 slots, got one of float rows with 0"));
}

TEST_F(EmbeddingTableOps, RulesAdmitAndEvictKeys) {
  EmbeddingTable rare(g_, "rare", 2,
                      {.initial_rows = InitialRows::Constant(1),
                       .admission = {.after_updates = 2},
                       .eviction = {.idle_steps = 5}});
  ASSERT_TRUE(SetTableSlots(rare.shards()[0], "Test", {0.5f}).ok());
  const Output handle = rare.shards()[0].handle();
  const Output keys = Placeholder(g_, DT_INT64, {.name = "keys"});
  const Output step = Placeholder(g_, DT_INT64, {.name = "step"});
  const Operation update = EmbeddingTableApplyAdagrad(
      handle, Constant(g_, 1.0f), Constant(g_, Vector<float>({1, 2}, {1, 2})), keys, step);
  const EmbeddingTableCountsOutputs counts = EmbeddingTableCounts(handle);
  const auto run = [&](int64_t key, int64_t at) {
    EXPECT_TRUE(session()
                    .Run({{keys, Vector<int64_t>({key})}, {step, Tensor::Scalar(at)}}, {}, {update})
                    .ok());
  };
  const auto numbers = [&] {
    const auto got = session().Run({}, {counts.admitted, counts.filtered, counts.evicted});
    std::vector<int64_t> all;
    for (const Tensor& t : *got) all.push_back(t.scalar<int64_t>());
    return all;
  };
  run(3, 0);
  EXPECT_EQ(numbers(), (std::vector<int64_t>{0, 1, 0}));
  run(3, 1);
  EXPECT_EQ(numbers(), (std::vector<int64_t>{1, 1, 0}));
  run(4, 20);
  EXPECT_EQ(numbers(), (std::vector<int64_t>{1, 2, 1}));
}

TEST_F(EmbeddingTableOps, WrongRules) {
  EmbeddingTable wrong(g_, "wrong", 2, {.admission = {.probability = 1.5f}});
  EXPECT_THAT(ErrorOf(EmbeddingTableRemove(wrong.shards()[0].handle(), Keys({1}))),
              HasSubstr("expected admit_probability in [0, 1], got 1.5"));
}

// Adds further handles of the fixture's table, as another graph would have them.
TEST_F(EmbeddingTableOps, HandlesOfATrainedTable) {
  ASSERT_TRUE(SetTableSlots(table_.shards()[0], "Test", {0.5f}).ok());
  const auto gather = [&](std::vector<float> slot_values, int64_t seed, float constant) {
    Node* node = NodeBuilder(&g_, "EmbeddingTableHandleOp", At::current())
                     .Attr("shared_name", "t")
                     .Attr("dtype", DT_FLOAT)
                     .Attr("shape", PartialShape({-1, 2}))
                     .Attr("initializer", "constant")
                     .Attr("initializer_values", std::vector<float>{constant})
                     .Attr("seed", seed)
                     .Attr("slot_values", slot_values)
                     .Finish();
    return EmbeddingTableGather(Output(node), Keys({8}), DT_FLOAT);
  };
  const auto seed = *table_.shards()[0].op().node->FindAttr<int64_t>("seed");
  const Operation insert =
      EmbeddingTableInsert(handle_, Keys({8}), Constant(g_, Vector<float>({4, 5}, {1, 2})));
  const Output without_slots = gather({}, seed, 1);
  const Output other_slots = gather({0, 0}, seed, 1);
  const Output other_seed = gather({}, seed + 1, 1);
  const Output other_constant = gather({}, seed, 2);
  Run(insert);
  EXPECT_EQ(Values<float>(Fetch(without_slots)), (std::vector<float>{4, 5}));
  EXPECT_THAT(
      ErrorOf(Operation(other_slots)),
      HasSubstr("with 2 slots behind this name, got one of float rows of 2 elements with 1"));
  EXPECT_THAT(ErrorOf(Operation(other_seed)), HasSubstr("expected a table with seed"));
  EXPECT_THAT(ErrorOf(Operation(other_constant)), HasSubstr("or another initializer"));
}

TEST_F(EmbeddingTableOps, WrongNumberOfInitializerValues) {
  const Node* node = NodeBuilder(&g_, "EmbeddingTableHandleOp", At::current())
                         .Attr("dtype", DT_FLOAT)
                         .Attr("shape", PartialShape({-1, 2}))
                         .Attr("initializer_values", std::vector<float>{1})
                         .Finish();
  EXPECT_THAT(ErrorOf(Operation(const_cast<Node*>(node))),
              HasSubstr("expected 2 initializer_values for the initializer 'uniform', got 1"));
}

}  // namespace
}  // namespace sluice
