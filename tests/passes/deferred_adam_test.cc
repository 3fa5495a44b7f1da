// Adam with deferred updates of rows without gradients gives the same bits as Adam that updates all
// rows in every step, whatever else uses the variables.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/passes/pass_checks.h"

namespace sluice {
namespace {

constexpr int kRows = 61;
constexpr int kColumns = 70;

Tensor RandomFloats(const TensorShape& shape, std::mt19937& random) {
  Tensor t(DT_FLOAT, shape);
  for (float& x : t.flat<float>()) x = std::normal_distribution<float>()(random);
  return t;
}

// An embedding that is trained by rows, with all other kinds of accesses.
struct Embedding {
  Graph g;
  Variable table;
  Output ids = Placeholder(g, DT_INT32, {-1}, "ids");
  Output weights = Placeholder(g, DT_FLOAT, {-1, kColumns}, "weights");
  Output rate = Placeholder(g, DT_FLOAT, PartialShape::Scalar(), "rate");
  Output value = Placeholder(g, DT_FLOAT, {kRows, kColumns}, "value");
  Adam adam{{.learning_rate = rate}};
  Operation train, train_dense, assign, scatter, init;
  Output rows;
  OutputList all;  // table, m, v
  std::unique_ptr<Saver> saver;

  explicit Embedding(bool use_resource)
      : table(g, "table", {kRows, kColumns}, RandomNormalInit(0, 1, 3),
              {.use_resource = use_resource}) {
    rows = Gather(table, ids);
    train = adam.Minimize(ReduceSum(rows * rows * weights));
    train_dense = GradientDescent({.learning_rate = 0.01f})
                      .Minimize(ReduceSum(Square(table.Read())), {.var_list = {table}});
    const Variable m = *adam.GetSlot(table, "m"), v = *adam.GetSlot(table, "v");
    all = {table.Read(), m.Read(), v.Read()};
    assign = table.Assign(value);
    scatter = m.ScatterUpdate(ids, weights);
    saver = std::make_unique<Saver>(g);
    init = InitializeVariables(g);
  }
};

// A session with the pass and one without. Both run the same steps.
class Both {
 public:
  explicit Both(Embedding& net) : net_(net), now_(net.g, Without({"defer_adam"})), later_(net.g) {}

  void Run(const std::vector<Feed>& feeds, const OutputList& fetches,
           const std::vector<Operation>& targets) {
    const absl::StatusOr<Tensors> a = now_.Run(feeds, fetches, targets);
    const absl::StatusOr<Tensors> b = later_.Run(feeds, fetches, targets);
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    for (size_t i = 0; i < fetches.size(); ++i) {
      ASSERT_EQ((*a)[i].shape(), (*b)[i].shape());
      ASSERT_EQ(std::memcmp((*a)[i].raw(), (*b)[i].raw(), (*a)[i].bytes()), 0)
          << "fetch " << i << " after " << steps_ << " steps";
    }
  }

  void Save(const std::string& name) {
    for (Session* session : {&now_, &later_}) {
      ASSERT_TRUE(net_.saver->Save(*session, PathOf(name, session)).ok());
    }
  }
  void Restore(const std::string& name) {
    for (Session* session : {&now_, &later_}) {
      ASSERT_TRUE(net_.saver->Restore(*session, PathOf(name, session)).ok());
    }
  }

  void CountStep() { ++steps_; }
  Session& later() { return later_; }

 private:
  std::string PathOf(const std::string& name, Session* session) {
    return testing::TempDir() + "/" + name + (session == &now_ ? "_now" : "_later");
  }
  Embedding& net_;
  Session now_, later_;
  int steps_ = 0;
};

class DeferredAdam : public testing::TestWithParam<bool> {};

std::vector<Feed> SomeRows(const Embedding& net, std::mt19937& random) {
  const int n = static_cast<int>(random() % 9);
  Tensor ids(DT_INT32, {n});
  for (int32_t& id : ids.flat<int32_t>()) {
    const int most = random() % 3 == 0 ? kRows : 7;  // some rows occur often, some never
    id = static_cast<int32_t>(random() % most);
  }
  const float rate = random() % 20 == 0 ? 0.5f : 0.01f;
  return {{net.ids, ids},
          {net.weights, RandomFloats({n, kColumns}, random)},
          {net.rate, Tensor::Scalar(rate)}};
}

TEST_P(DeferredAdam, GivesTheSameBitsWhateverIsDoneInBetween) {
  Embedding net(GetParam());
  ASSERT_TRUE(net.g.status().ok()) << net.g.status();
  std::mt19937 random(GetParam() ? 1 : 2);
  Both both(net);
  both.Run({}, {}, {net.init});
  both.Save("deferred_adam");
  for (int i = 0; i < 800 && !HasFatalFailure(); ++i) {
    const auto feeds = SomeRows(net, random);
    switch (random() % 40) {
      default:
        both.CountStep();
        both.Run(feeds, {}, {net.train});
        break;
      case 1:
      case 2:
        both.CountStep();
        both.Run(feeds, {net.rows}, {net.train});
        break;
      case 3:
      case 4:
        both.Run(feeds, {net.rows}, {});
        break;
      case 5:
        both.Run({}, {net.all[random() % 3]}, {});
        break;
      case 6:
        both.Run({}, net.all, {});
        break;
      case 7:
        both.Run(feeds, {}, {net.scatter});
        break;
      case 8:
        both.Run({}, {}, {net.train_dense});
        break;
      case 9:
        if (random() % 3 != 0) break;
        both.Run({{net.value, RandomFloats({kRows, kColumns}, random)}}, {}, {net.assign});
        break;
      case 10:
        both.Save("deferred_adam");
        break;
      case 11:
        if (random() % 3 == 0) both.Restore("deferred_adam");
        break;
      case 12:
        // Reads a whole table that the same step updates.
        both.Run(feeds, {net.all[1]}, {net.scatter});
        break;
    }
  }
  both.Run({}, net.all, {});
}

TEST_P(DeferredAdam, RowsThatWaitForLongAreCaughtUp) {
  Embedding net(GetParam());
  std::mt19937 random(5);
  Both both(net);
  both.Run({}, {}, {net.init});
  Tensor every(DT_INT32, {kRows});
  for (int i = 0; i < kRows; ++i) every.data<int32_t>()[i] = i;
  both.Run({{net.ids, every},
            {net.weights, RandomFloats({kRows, kColumns}, random)},
            {net.rate, Tensor::Scalar(0.01f)}},
           {}, {net.train});
  for (int i = 0; i < 9000 && !HasFatalFailure(); ++i) {
    both.CountStep();
    both.Run({{net.ids, Tensor::Vector<int32_t>({2, 3})},
              {net.weights, RandomFloats({2, kColumns}, random)},
              {net.rate, Tensor::Scalar(0.01f)}},
             {}, {net.train});
  }
  both.Run({}, net.all, {});
}

// The graph of a training step has the op, and no node that processes all rows.
TEST_P(DeferredAdam, IsWhatATrainingStepRuns) {
  Embedding net(GetParam());
  std::mt19937 random(6);
  Both both(net);
  both.Run({}, {}, {net.init});
  RunMetadata metadata;
  const auto feeds = SomeRows(net, random);
  ASSERT_TRUE(
      both.later().Run(feeds, {}, {net.train}, {.output_partition_graphs = true}, &metadata).ok());
  ASSERT_EQ(metadata.partition_graphs.size(), 1u);
  int deferred = 0;
  for (const Node* node : metadata.partition_graphs[0]->nodes()) {
    deferred += node->op() == "_DeferredAdam" || node->op() == "_DeferredAdamOfHandles" ? 1 : 0;
    EXPECT_FALSE(node->op() == "Sqrt" && node->output_shape(0).rank() == 2) << node->name();
  }
  EXPECT_EQ(deferred, 1);
}

// Concurrent readers always see the table between two steps.
TEST_P(DeferredAdam, ReadersInOtherThreadsSeeWholeSteps) {
  Embedding net(GetParam());
  net.g.Finalize();
  std::mt19937 random(9);
  constexpr int kSteps = 150;
  std::vector<std::vector<Feed>> feeds;
  for (int i = 0; i < kSteps; ++i) feeds.push_back(SomeRows(net, random));
  std::vector<Tensor> after;
  Session now(net.g, Without({"defer_adam"})), later(net.g);
  ASSERT_TRUE(now.Run({net.init}).ok() && later.Run({net.init}).ok());
  const auto table = [&](Session& session) { return (*session.Run({}, {net.all[0]}))[0]; };
  after.push_back(table(now));
  for (const auto& step : feeds) {
    ASSERT_TRUE(now.Run(step, {}, {net.train}).ok());
    after.push_back(table(now));
  }
  std::atomic<bool> done{false};
  std::vector<Tensor> seen;
  std::thread reader([&] {
    while (!done.load() || seen.empty()) {
      seen.push_back(table(later));
      (void)later.Run(feeds[0], {net.rows}).ok();
    }
  });
  for (const auto& step : feeds) EXPECT_TRUE(later.Run(step, {}, {net.train}).ok());
  done = true;
  reader.join();
  seen.push_back(table(later));
  size_t at = 0;
  for (const Tensor& t : seen) {
    while (at < after.size() && std::memcmp(t.raw(), after[at].raw(), t.bytes()) != 0) ++at;
    ASSERT_LT(at, after.size()) << "one of " << seen.size() << " reads is of no step";
  }
  EXPECT_EQ(std::memcmp(seen.back().raw(), after.back().raw(), after.back().bytes()), 0);
}

INSTANTIATE_TEST_SUITE_P(Variables, DeferredAdam, testing::Bool(),
                         [](const auto& info) { return info.param ? "Resource" : "Reference"; });

}  // namespace
}  // namespace sluice
