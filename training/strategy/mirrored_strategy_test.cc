// Two devices must give the same result as one device with the whole batch.
#include "training/strategy/mirrored_strategy.h"

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/momentum.h"

namespace sluice {
namespace {

constexpr int kSteps = 10;
constexpr int64_t kBatch = 8;

Tensor Numbers(const TensorShape& shape, int seed) {
  Tensor t(DT_FLOAT, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<float>()[i] = static_cast<float>((i * 7 + seed * 3) % 11) / 5.0f - 1.0f;
  }
  return t;
}

using MakeVariable = std::function<Variable(std::string_view name, const Tensor& first)>;

// Returns the loss of a dense layer over rows of a table. It has dense and sparse gradients, with
// repeated rows.
Output Loss(Graph& g, int64_t begin, int64_t end, const MakeVariable& make) {
  const Variable table = make("table", Numbers({5, 3}, 1));
  const Variable w = make("w", Numbers({3, 2}, 2));
  const Output ids = Slice(Constant(g, {0, 1, 1, 3, 3, 3, 4, 0}), {begin}, {end - begin});
  const Output y = Slice(Constant(g, Numbers({kBatch, 2}, 3)), {begin, 0}, {end - begin, 2});
  return ReduceMean(Square(MatMul(Gather(table, ids), w) - y));
}

std::vector<float> Train(Graph& g, const std::vector<Operation>& train,
                         const std::vector<Variable>& watched) {
  const Operation init = InitializeVariables(g);
  Session session(g, {.cpu_devices = 2});
  absl::Status status = session.Run({init});
  for (int i = 0; i < kSteps && status.ok(); ++i) status = session.Run(train);
  const absl::StatusOr<Tensors> values =
      session.Run({}, OutputList(watched.begin(), watched.end()));
  EXPECT_TRUE(status.ok() && values.ok()) << status << values.status();
  std::vector<float> numbers;
  if (!values.ok()) return numbers;
  for (const Tensor& t : *values) {
    for (int64_t i = 0; i < t.num_elements(); ++i) numbers.push_back(t.data<float>()[i]);
  }
  return numbers;
}

template <typename O>
std::vector<float> OnOneDevice(O optimizer) {
  Graph g;
  auto make = [&](std::string_view name, const Tensor& first) { return Variable(g, name, first); };
  const Operation train = optimizer.Minimize(Loss(g, 0, kBatch, make));
  EXPECT_TRUE(train) << g.status();
  return Train(g, {train}, {*Variable::Find(g, "table"), *Variable::Find(g, "w")});
}

template <typename O>
std::vector<float> OnTwoDevices(O optimizer, std::string_view suffix) {
  Graph g;
  MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
  Variable step = GlobalStep(g);
  auto make = [&](std::string_view name, const Tensor& first) {
    return strategy.MakeVariable(name, first.shape(), ConstantInit(first));
  };
  const auto train = strategy.Run<Operation>([&](ReplicaContext& r) -> absl::StatusOr<Operation> {
    const int64_t share = kBatch / 2;
    const Output loss = Loss(g, share * r.replica(), share * (r.replica() + 1), make);
    std::vector<Variable> mine = {strategy.Local(*Variable::Find(g, "table")),
                                  strategy.Local(*Variable::Find(g, "w"))};
    SLUICE_ASSIGN_OR_RETURN(GradientsAndVariables pairs,
                            optimizer.ComputeGradients(loss, {.var_list = mine}));
    return optimizer.ApplyGradients(pairs, {.global_step = &step});
  });
  EXPECT_TRUE(train.ok()) << train.status();
  if (!train.ok()) return {};
  EXPECT_EQ((*train)[0], (*train)[1]);
  auto named = [&](const char* name) { return *Variable::Find(g, StrCat(name, suffix)); };
  EXPECT_EQ(named("w").device(), suffix.empty() ? "/device:CPU:0" : "/device:CPU:1");
  return Train(g, {(*train)[0]}, {named("table"), named("w")});
}

template <typename O>
void Compare(O optimizer, float tolerance) {
  const std::vector<float> alone = OnOneDevice(optimizer);
  ASSERT_EQ(alone.size(), 15u + 6u);
  const auto near = testing::Pointwise(testing::FloatNear(tolerance), alone);
  EXPECT_THAT(OnTwoDevices(optimizer, ""), near);
  EXPECT_THAT(OnTwoDevices(optimizer, "/replica_1"), near);
}

TEST(MirroredStrategyTest, SgdIsWhatOneDeviceGives) {
  Compare(GradientDescent({.learning_rate = 0.3f}), 1e-6f);
}
TEST(MirroredStrategyTest, MomentumIsWhatOneDeviceGives) {
  Compare(Momentum({.learning_rate = 0.2f, .momentum = 0.8f}), 1e-6f);
}
TEST(MirroredStrategyTest, AdamIsWhatOneDeviceGives) {
  Compare(Adam({.learning_rate = 0.05f}), 1e-5f);
}

TEST(MirroredStrategyTest, SlotsOfCopiesAreNamedAfterTheFirst) {
  Graph g;
  MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
  Adam adam;
  const auto train = strategy.Run<Operation>([&](ReplicaContext&) -> absl::StatusOr<Operation> {
    const Variable w = strategy.MakeVariable("w", {2}, Ones());
    SLUICE_ASSIGN_OR_RETURN(GradientsAndVariables pairs,
                            adam.ComputeGradients(ReduceSum(Square(w)), {.var_list = {w}}));
    return adam.ApplyGradients(pairs);
  });
  ASSERT_TRUE(train.ok()) << train.status();
  std::vector<std::string> names;
  for (const Variable& v : GlobalVariables(g)) names.push_back(v.name());
  EXPECT_THAT(names, testing::UnorderedElementsAre("w", "w/replica_1", "beta1_power", "beta2_power",
                                                   "w/Adam", "w/Adam_1", "w/Adam/replica_1",
                                                   "w/Adam_1/replica_1"));
  EXPECT_EQ(Variable::Find(g, "w/Adam_1/replica_1")->device(), "/device:CPU:1");
}

TEST(MirroredStrategyTest, ApplyGradientsIsForReplicas) {
  Graph g;
  MirroredStrategy strategy(g, {"/device:CPU:0"});
  Variable w(g, "w", 1.0f);
  StrategyScope scope(strategy);
  EXPECT_TRUE(InCrossReplicaContext());
  GradientDescent sgd({.learning_rate = 0.5f});
  EXPECT_EQ(sgd.ApplyGradients({{Constant(g, 1.0f), w}}).status(),
            absl::FailedPreconditionError("Use `_distributed_apply()` instead of "
                                          "`apply_gradients()` in a cross-replica context."));
}

TEST(MirroredStrategyTest, ReplicasMeetOnce) {
  Graph g;
  MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1", "/device:CPU:2"});
  int merges = 0;
  const auto sums = strategy.Run<int>([&](ReplicaContext& r) -> absl::StatusOr<int> {
    EXPECT_EQ(CurrentStrategy().replica, &r);
    const std::string inside = g.scopes().name;
    auto add = [&](Strategy& s,
                   PerReplica<std::any> numbers) -> absl::StatusOr<PerReplica<std::any>> {
      EXPECT_TRUE(InCrossReplicaContext());
      EXPECT_EQ(&s, &strategy);
      EXPECT_EQ(g.scopes().name, "");
      ++merges;
      int sum = 0;
      for (const std::any& n : numbers) sum += std::any_cast<int>(n);
      return PerReplica<std::any>(numbers.size(), std::any(sum));
    };
    SLUICE_ASSIGN_OR_RETURN(const std::any first, r.MergeCall(add, 1 << r.replica()));
    EXPECT_EQ(g.scopes().name, inside);
    SLUICE_ASSIGN_OR_RETURN(const std::any second, r.MergeCall(add, std::any_cast<int>(first)));
    return std::any_cast<int>(second);
  });
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_THAT(*sums, testing::ElementsAre(21, 21, 21));
  EXPECT_EQ(merges, 2);
  EXPECT_FALSE(HasStrategy());
}

TEST(MirroredStrategyTest, AReplicaThatEndsEarlyBreaksTheMeeting) {
  for (const int early : {0, 1, 2}) {
    Graph g;
    MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1", "/device:CPU:2"});
    auto nothing = [](Strategy&, PerReplica<std::any> a) -> absl::StatusOr<PerReplica<std::any>> {
      return a;
    };
    const absl::Status status = strategy.RunReplicas([&](ReplicaContext& r) -> absl::Status {
      if (r.replica() == early) return absl::OkStatus();
      return r.MergeCall(nothing, 1).status();
    });
    EXPECT_EQ(status, absl::FailedPreconditionError(
                          "MergeCall: expected all replicas to come, but one of them has ended"));
  }
}

TEST(MirroredStrategyTest, AnErrorOfOneReplicaIsTheRunsError) {
  Graph g;
  MirroredStrategy strategy(g, {"/device:CPU:0", "/device:CPU:1"});
  auto nothing = [](Strategy&, PerReplica<std::any> a) -> absl::StatusOr<PerReplica<std::any>> {
    return a;
  };
  const absl::Status status = strategy.RunReplicas([&](ReplicaContext& r) -> absl::Status {
    if (r.replica() == 1) return absl::NotFoundError("no data for replica 1");
    return r.MergeCall(nothing, 1).status();
  });
  EXPECT_EQ(status, absl::NotFoundError("no data for replica 1"));
}

}  // namespace
}  // namespace sluice
