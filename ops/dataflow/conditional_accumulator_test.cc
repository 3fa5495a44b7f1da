#include "ops/dataflow/conditional_accumulator.h"

#include <algorithm>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = ConditionalAccumulator::Kind;

void Here(int64_t total, double, absl::FunctionRef<void(int64_t, int64_t)> f) { f(0, total); }

std::shared_ptr<ConditionalAccumulator> Dense(PartialShape shape = {2},
                                              Reduction reduction = Reduction::kMean) {
  return std::make_shared<ConditionalAccumulator>("a", Kind::kDense, DT_FLOAT, shape, reduction);
}
std::shared_ptr<ConditionalAccumulator> Sparse(PartialShape shape = {4, 2},
                                               Reduction reduction = Reduction::kMean) {
  return std::make_shared<ConditionalAccumulator>("a", Kind::kSparse, DT_FLOAT, shape, reduction);
}

absl::Status Apply(ConditionalAccumulator& a, const Caller& caller, int64_t step,
                   GradientTensors gradient, bool has_known_shape = false) {
  return a.Apply(caller, step, Give(gradient), has_known_shape, Here);
}
absl::Status Add(ConditionalAccumulator& a, int64_t step, std::initializer_list<float> g) {
  return Apply(a, {}, step, {Tensor::Vector<float>(g)});
}
GradientTensors Rows(std::initializer_list<int64_t> rows, std::initializer_list<float> values) {
  return {Tensor::Vector<int64_t>(rows),
          Tensor::Of<float>({static_cast<int64_t>(rows.size()), 2}, values),
          Tensor::Vector<int64_t>({4, 2})};
}
absl::Status AddRows(ConditionalAccumulator& a, GradientTensors gradient) {
  return Apply(a, {}, 0, std::move(gradient), true);
}

struct Take {
  std::shared_ptr<absl::StatusOr<GradientTensors>> result;
  void From(ConditionalAccumulator& a, int64_t n, const Caller& caller = {}) {
    a.Take(caller, n, Here, [this](absl::StatusOr<GradientTensors> t) {
      ASSERT_EQ(result, nullptr) << "called twice";
      result = std::make_shared<absl::StatusOr<GradientTensors>>(std::move(t));
    });
  }
  bool pending() const { return result == nullptr; }
  absl::Status status() const {
    return pending() ? absl::UnknownError("pending") : result->status();
  }
  std::vector<float> values(int part = 0) const {
    if (!status().ok()) return {-1};
    const auto flat = (**result)[part].flat<float>();
    return {flat.begin(), flat.end()};
  }
  std::vector<int64_t> ints(int part) const {
    const auto flat = (**result)[part].flat<int64_t>();
    return {flat.begin(), flat.end()};
  }
};

TEST(ConditionalAccumulatorTest, MeanIsOverAllThatCameAlsoIfMoreThanRequired) {
  auto a = Dense();
  for (float v : {1.0f, 2.0f, 6.0f}) ASSERT_TRUE(Add(*a, 0, {v, 2}).ok());
  Take take;
  take.From(*a, 2);
  EXPECT_THAT(take.values(), ElementsAre(3, 2));
  EXPECT_EQ(a->counts().accumulated, 0);
  EXPECT_EQ(a->counts().global_step, 1);
}

TEST(ConditionalAccumulatorTest, SumDoesNotDivide) {
  auto a = Dense({2}, Reduction::kSum);
  for (float v : {1.0f, 2.0f}) ASSERT_TRUE(Add(*a, 0, {v, 2}).ok());
  Take take;
  take.From(*a, 1);
  EXPECT_THAT(take.values(), ElementsAre(3, 4));
}

TEST(ConditionalAccumulatorTest, GradientFromOldStepIsDroppedAndCounted) {
  auto a = Dense();
  a->SetGlobalStep(5);
  // A stale gradient is accepted without a check of its shape.
  EXPECT_TRUE(Add(*a, 4, {1, 2, 3}).ok());
  EXPECT_TRUE(Add(*a, 5, {1, 2}).ok());
  EXPECT_TRUE(Add(*a, 9, {1, 2}).ok());
  EXPECT_EQ(a->counts().accumulated, 2);
  EXPECT_EQ(a->counts().applied, 2);
  EXPECT_EQ(a->counts().dropped_as_stale, 1);
}

std::shared_ptr<ConditionalAccumulator> OfReplicas(std::shared_ptr<GradientLedger> ledger) {
  return std::make_shared<ConditionalAccumulator>(
      "a", Kind::kDense, DT_FLOAT, PartialShape({2}), Reduction::kMean,
      ReplicaGradients{.replicas = 2, .at_most = 2, .ledger = std::move(ledger)});
}

// In synchronous training, this happens if a chief is lost or an older model is restored.
TEST(ConditionalAccumulatorTest, AGlobalStepBeforeItsOwnUndoesItsUpdates) {
  const auto ledger = std::make_shared<GradientLedger>("ledger", 2);
  auto a = OfReplicas(ledger);
  for (int64_t step : {0, 1, 2}) {
    ASSERT_TRUE(Add(*a, step, {1, 1}).ok());
    Take().From(*a, 1);
  }
  ASSERT_TRUE(Add(*a, 3, {100, 100}).ok());
  a->SetGlobalStep(1);
  EXPECT_EQ(a->counts().accumulated, 0);
  ASSERT_TRUE(Add(*a, 3, {100, 100}).ok()) << "was on its way";
  EXPECT_EQ(a->counts().accumulated, 0);
  EXPECT_EQ(a->counts().dropped_as_stale, 2);
  // One gradient is still applied. The gradients of the undone updates 1 and 2 count as stale, as
  // do both gradients of step 3.
  EXPECT_EQ(ledger->Totals().flat<int64_t>()[6], 1);
  EXPECT_EQ(ledger->Totals().flat<int64_t>()[7], 4);
  for (int64_t step : {1, 2, 3}) {
    ASSERT_TRUE(Add(*a, step, {2, 4}).ok());
    Take take;
    take.From(*a, 1);
    EXPECT_THAT(take.values(), ElementsAre(2, 4)) << step;
  }
}

TEST(ConditionalAccumulatorTest, OfReplicasItKeepsWhatIsOfTheGlobalStep) {
  auto a = OfReplicas(nullptr);
  ASSERT_TRUE(Add(*a, 0, {2, 4}).ok());
  Take lost, take;
  lost.From(*a, 2);
  a->SetGlobalStep(0);
  EXPECT_EQ(lost.status(),
            absl::FailedPreconditionError(
                "accumulator 'a': another chief has started, and takes the gradients"));
  take.From(*a, 1);
  EXPECT_THAT(take.values(), ElementsAre(2, 4));
}

TEST(ConditionalAccumulatorTest, TakersAreServedInTheirOrder) {
  auto a = Dense();
  Take first, second;
  first.From(*a, 2);
  second.From(*a, 1);
  ASSERT_TRUE(Add(*a, 0, {1, 1}).ok());
  EXPECT_TRUE(second.pending()) << "must not overtake";
  ASSERT_TRUE(Add(*a, 0, {3, 3}).ok());
  EXPECT_THAT(first.values(), ElementsAre(2, 2));
  EXPECT_TRUE(second.pending());
  ASSERT_TRUE(Add(*a, 1, {7, 7}).ok());
  EXPECT_THAT(second.values(), ElementsAre(7, 7));
  EXPECT_EQ(a->counts().updates, 2);
}

TEST(ConditionalAccumulatorTest, AGradientThatOthersHoldIsNotWrittenTo) {
  auto a = Dense();
  const Tensor mine = Tensor::Vector<float>({1, 2});
  ASSERT_TRUE(Apply(*a, {}, 0, {mine}).ok());
  ASSERT_TRUE(Add(*a, 0, {10, 20}).ok());
  Take take;
  take.From(*a, 2);
  EXPECT_THAT(take.values(), ElementsAre(5.5, 11));
  EXPECT_THAT(mine.flat<float>(), ElementsAre(1, 2));
}

TEST(ConditionalAccumulatorTest, ShapesAreCheckedAgainstTheFirstGradientAndTheDeclaredShape) {
  auto declared = Dense({2});
  EXPECT_EQ(Add(*declared, 0, {1, 2, 3}).message(), "Shape mismatch: expected [2], got [3]");
  auto open = Dense(PartialShape({-1}));
  ASSERT_TRUE(Add(*open, 0, {1}).ok());
  EXPECT_EQ(Add(*open, 0, {1, 2}).message(), "Shape mismatch: expected [1], got [2]");
  EXPECT_TRUE(absl::IsInvalidArgument(Apply(*declared, {}, 0, {Tensor::Vector<double>({1, 2})})));
}

TEST(ConditionalAccumulatorTest, NumRequiredMustBePositive) {
  auto a = Dense();
  Take take;
  take.From(*a, 0);
  EXPECT_EQ(take.status().message(), "Argument num_required must be positive, but was 0");
}

TEST(ConditionalAccumulatorTest, CancellingATakerLetsTheNextOneOn) {
  auto a = Dense();
  CancellationManager step;
  Take cancelled, next, late;
  cancelled.From(*a, 3, {.cancellation = &step});
  next.From(*a, 1);
  ASSERT_TRUE(Add(*a, 0, {1, 2}).ok());
  EXPECT_TRUE(next.pending());
  step.StartCancel();
  EXPECT_EQ(cancelled.status(), absl::CancelledError("TakeGrad operation was cancelled"));
  EXPECT_THAT(next.values(), ElementsAre(1, 2));
  late.From(*a, 1, {.cancellation = &step});
  EXPECT_TRUE(absl::IsCancelled(late.status()));
}

TEST(ConditionalAccumulatorTest, WhoWaitsAndForWhatIsSeen) {
  auto a = Dense();
  Stalls stalls;
  ASSERT_TRUE(Add(*a, 0, {1, 2}).ok());
  Take take;
  take.From(*a, 3, {.stalls = &stalls, .node = "take", .op = "AccumulatorTakeGradient"});
  ASSERT_EQ(stalls.Describe().size(), 1u);
  EXPECT_EQ(stalls.Describe()[0].resource, "accumulator 'a'");
  EXPECT_THAT(stalls.Describe()[0].state, HasSubstr("1 of 3 gradients for step 0"));
  ASSERT_TRUE(Add(*a, 0, {1, 2}).ok());
  ASSERT_TRUE(Add(*a, 0, {1, 2}).ok());
  EXPECT_TRUE(stalls.Describe().empty());
}

// --- rows

TEST(SparseAccumulatorTest, MeanDividesEachRowByItsOwnCount) {
  auto a = Sparse();
  ASSERT_TRUE(AddRows(*a, Rows({0, 2}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(AddRows(*a, Rows({2, 3}, {5, 6, 7, 8})).ok());
  Take take;
  take.From(*a, 2);
  EXPECT_THAT(take.ints(0), ElementsAre(0, 2, 3));
  EXPECT_THAT(take.values(1), ElementsAre(1, 2, 4, 5, 7, 8));
  EXPECT_THAT(take.ints(2), ElementsAre(4, 2));
}

TEST(SparseAccumulatorTest, SumAndUnknownShape) {
  auto a = Sparse(PartialShape::Scalar(), Reduction::kSum);
  ASSERT_TRUE(AddRows(*a, Rows({0, 2}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(AddRows(*a, Rows({2, 3}, {5, 6, 7, 8})).ok());
  Take take;
  take.From(*a, 2);
  EXPECT_THAT(take.values(1), ElementsAre(1, 2, 8, 10, 7, 8));
  EXPECT_THAT(take.ints(2), ElementsAre(-1, 2));
}

TEST(SparseAccumulatorTest, AnEmptyGradientCounts) {
  auto a = Sparse();
  ASSERT_TRUE(AddRows(*a, Rows({}, {})).ok());
  ASSERT_TRUE(AddRows(*a, Rows({1}, {1, 2})).ok());
  Take take;
  take.From(*a, 2);
  EXPECT_THAT(take.ints(0), ElementsAre(1));
  EXPECT_THAT(take.values(1), ElementsAre(1, 2));
}

TEST(SparseAccumulatorTest, RowsThatRepeatInOneGradientStayApart) {
  auto a = Sparse();
  ASSERT_TRUE(AddRows(*a, Rows({2, 2}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(AddRows(*a, Rows({2, 3}, {5, 6, 7, 8})).ok());
  Take take;
  take.From(*a, 1);
  EXPECT_THAT(take.ints(0), ElementsAre(2, 2, 3));
  EXPECT_THAT(take.values(1), ElementsAre(3, 4, 3, 4, 7, 8));
}

TEST(SparseAccumulatorTest, MessagesNameWhatDoesNotFit) {
  auto a = Sparse();
  const auto says = [&](GradientTensors g) {
    return std::string(AddRows(*a, std::move(g)).message());
  };
  GradientTensors g = Rows({1}, {1, 2});
  g[0] = Tensor(DT_INT64, {1, 1});
  EXPECT_EQ(says(g), "Input indices should be vector but received shape: [1,1]");
  g = Rows({1}, {1, 2});
  g[1] = Tensor::Scalar(1.0f);
  EXPECT_EQ(says(g), "Values cannot be 0-dimensional.");
  g = Rows({1, 2}, {1, 2, 3, 4});
  g[0] = Tensor::Vector<int64_t>({1});
  EXPECT_EQ(says(g), "Expected 1 non-empty input values, got 2");
  g = Rows({1}, {1, 2});
  g[2] = Tensor::Vector<int64_t>({4});
  EXPECT_EQ(says(g), "Shape mismatch: expected shape rank at least 2, got 1");
  g[2] = Tensor::Vector<int64_t>({4, 3});
  EXPECT_EQ(says(g), "Shape mismatch: expected shape dim 1 to be 2, got 3");
  EXPECT_EQ(says(Rows({4}, {1, 2})),
            "Shape mismatch: index of slice 0 exceeded limits of shape; index is 4 exceeded 4");
  g = Rows({1}, {1, 2});
  g[1] = Tensor::Of<float>({1, 3}, {1, 2, 3});
  EXPECT_EQ(says(g), "Shape mismatch: expected values dim 1 to be 2, got 3");
  g[1] = Tensor::Vector<float>({1});
  EXPECT_EQ(says(g), "Shape mismatch: expected values rank at least 2, got 1");
}

// Threads of replicas add gradients while other threads take the mean, wait for it, or are
// cancelled.
TEST(ConditionalAccumulatorTest, EveryGradientIsCountedOnceBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 300;
  auto a = Dense({1}, Reduction::kSum);
  std::atomic<int64_t> sum{0};
  std::atomic<bool> adding{true};
  std::thread taker([&] {
    while (adding.load() || a->counts().accumulated > 0) {
      CancellationManager step;
      std::promise<void> done;
      std::thread canceller([&step] { step.StartCancel(); });
      a->Take({.cancellation = &step, .stalls = &Stalls::Global()}, 2, Here,
              [&](absl::StatusOr<GradientTensors> t) {
                if (t.ok()) sum += static_cast<int64_t>((*t)[0].data<float>()[0]);
                done.set_value();
              });
      done.get_future().wait();
      canceller.join();
      if (!adding.load()) break;
    }
  });
  std::vector<std::thread> replicas;
  for (int t = 0; t < kThreads; ++t) {
    replicas.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) ASSERT_TRUE(Add(*a, 1'000'000, {1}).ok());
    });
  }
  for (std::thread& t : replicas) t.join();
  adding = false;
  taker.join();
  const int64_t left = a->counts().accumulated;
  if (left > 0) {
    Take rest;
    rest.From(*a, 1);
    sum += static_cast<int64_t>(rest.values()[0]);
  }
  EXPECT_EQ(sum.load(), kThreads * kEach);
  EXPECT_EQ(a->counts().applied, kThreads * kEach);
}

// --- accumulators with known replicas

class OfReplicas : public ::testing::Test {
 protected:
  std::shared_ptr<GradientLedger> ledger_ = std::make_shared<GradientLedger>("ledger", 3);
  std::shared_ptr<ConditionalAccumulator> Make(Kind kind, bool in_replica_order) {
    return std::make_shared<ConditionalAccumulator>(
        "a", kind, DT_FLOAT, PartialShape(), Reduction::kMean,
        ReplicaGradients{
            .replicas = 3, .at_most = 2, .in_replica_order = in_replica_order, .ledger = ledger_});
  }
  static void Add(ConditionalAccumulator& a, int replica, int64_t step, GradientTensors gradient) {
    ASSERT_TRUE(Apply(a, {.replica = replica}, step, std::move(gradient)).ok());
  }
  std::vector<int64_t> Totals() {
    const Tensor totals = ledger_->Totals();
    return {totals.data<int64_t>(), totals.data<int64_t>() + totals.num_elements()};
  }
};

TEST_F(OfReplicas, AGradientBeyondThoseOfAnUpdateIsSurplus) {
  auto a = Make(Kind::kDense, false);
  for (int r = 0; r < 3; ++r) Add(*a, r, 0, {Tensor::Vector<float>({static_cast<float>(r)})});
  Take take;
  take.From(*a, 2);
  EXPECT_THAT(take.values(), ElementsAre(0.5));
  Add(*a, 1, 0, {Tensor::Vector<float>({9})});
  EXPECT_EQ(a->counts().dropped_as_surplus, 1);
  EXPECT_THAT(Totals(), ElementsAre(1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0));
  const Tensor updates = ledger_->Updates(0, 2);
  EXPECT_EQ(updates.data<int64_t>()[3 * 4 + 3 * 1 + GradientLedger::kStale], 1) << "at step 1";
}

// The result of a sum of floats depends on the order: 1e8 + 1 - 1e8 is 0 or 1.
TEST_F(OfReplicas, InReplicaOrderTheBitsDoNotDependOnTheOrderOfArrival) {
  const std::vector<float> values = {1e8f, -1e8f, 1.0f};
  std::vector<int> order = {0, 1, 2};
  do {
    auto a = std::make_shared<ConditionalAccumulator>(
        "a", Kind::kDense, DT_FLOAT, PartialShape(), Reduction::kSum,
        ReplicaGradients{.replicas = 3, .at_most = 3, .in_replica_order = true});
    for (int r : order) Add(*a, r, 0, {Tensor::Vector<float>({values[r]})});
    Take take;
    take.From(*a, 3);
    EXPECT_THAT(take.values(), ElementsAre(1.0f));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(OfReplicas, InReplicaOrderRowsToo) {
  std::vector<float> first;
  for (const bool swapped : {false, true}) {
    auto a = Make(Kind::kSparse, true);
    Take take;
    take.From(*a, 2);
    for (int i = 0; i < 2; ++i) {
      const int replica = swapped ? 1 - i : i;
      Add(*a, replica, 0,
          replica == 0 ? Rows({3, 1, 3}, {1, 2, 3, 4, 5, 6})
                       : Rows({1, 0}, {0.1f, 0.2f, 0.3f, 0.4f}));
    }
    ASSERT_TRUE(take.status().ok()) << take.status();
    if (!swapped) first = take.values(1);
    EXPECT_EQ(take.values(1), first);
  }
}

TEST_F(OfReplicas, InReplicaOrderGradientsOfDifferentShapesFailTheTake) {
  auto a = Make(Kind::kDense, true);
  Add(*a, 0, 0, {Tensor::Vector<float>({1})});
  Add(*a, 1, 0, {Tensor::Vector<float>({1, 2})});
  Take take;
  take.From(*a, 2);
  EXPECT_EQ(take.status(), absl::InvalidArgumentError("Shape mismatch: expected [1], got [2]"));
  // There was no update, so no gradient was applied.
  EXPECT_EQ(a->counts().updates, 0);
  EXPECT_EQ(a->counts().global_step, 0);
  EXPECT_EQ(a->counts().applied, 0);
  EXPECT_EQ(a->counts().dropped_as_surplus, 2);
  EXPECT_THAT(Totals(), ElementsAre(0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0));
  for (int replica : {0, 1}) Add(*a, replica, 0, {Tensor::Vector<float>({4})});
  Take next;
  next.From(*a, 2);
  EXPECT_THAT(next.values(), ElementsAre(4));
}

TEST_F(OfReplicas, TheReportSaysWhoseGradientIsMissing) {
  auto a = Make(Kind::kDense, false);
  Stalls stalls;
  Add(*a, 1, 0, {Tensor::Vector<float>({1})});
  Take take;
  take.From(*a, 2, {.stalls = &stalls, .node = "take", .op = "TakeGradient"});
  EXPECT_THAT(stalls.ToString(),
              HasSubstr("1 of 2 gradients for step 0; none yet of replicas 0, 2"));
  Add(*a, 2, 0, {Tensor::Vector<float>({1})});
}

TEST_F(OfReplicas, AnUpdateShrinksAtOnceAndGrowsWithTheNext) {
  auto a = Make(Kind::kDense, false);
  Stalls stalls;
  Take take[4];
  take[0].From(*a, 2);
  Add(*a, 0, 0, {Tensor::Vector<float>({1})});
  EXPECT_TRUE(take[0].pending());
  a->SetUpdateSize(1);
  EXPECT_THAT(take[0].values(), ElementsAre(1));
  take[1].From(*a, 2);
  Add(*a, 1, 1, {Tensor::Vector<float>({2})});
  EXPECT_THAT(take[1].values(), ElementsAre(2));
  Add(*a, 0, 2, {Tensor::Vector<float>({3})});
  Add(*a, 1, 2, {Tensor::Vector<float>({4})});  // surplus
  a->SetUpdateSize(3);                          // more than any take requires
  take[2].From(*a, 2);
  EXPECT_THAT(take[2].values(), ElementsAre(3));
  take[3].From(*a, 2, {.stalls = &stalls, .node = "take", .op = "TakeGradient"});
  Add(*a, 0, 3, {Tensor::Vector<float>({5})});
  EXPECT_THAT(stalls.ToString(), HasSubstr("1 of 2 gradients for step 3"));
  Add(*a, 1, 3, {Tensor::Vector<float>({6})});
  EXPECT_THAT(take[3].values(), ElementsAre(5.5));
  EXPECT_EQ(a->counts().dropped_as_surplus, 1);
}

}  // namespace
}  // namespace sluice
