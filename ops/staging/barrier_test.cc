#include "ops/staging/barrier.h"

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A caller that takes tuples, and the result of the call.
struct Taker {
  void Take(BarrierResource& barrier, int64_t count, bool allow_fewer = false,
            CancellationManager* cancellation = nullptr, Stalls* stalls = nullptr) {
    barrier.Take(
        {.cancellation = cancellation, .stalls = stalls, .node = "take", .op = "BarrierTakeMany"},
        count, allow_fewer,
        [this](absl::StatusOr<BarrierResource::Batch> batch) { result = std::move(batch); });
  }
  std::vector<std::string> Keys() const {
    const auto keys = (*result)->keys.flat<std::string>();
    return {keys.begin(), keys.end()};
  }
  std::optional<absl::StatusOr<BarrierResource::Batch>> result;
};

std::shared_ptr<BarrierResource> MakeBarrier() {
  return std::make_shared<BarrierResource>(BarrierSpec{
      .name = "b", .types = {DT_FLOAT, DT_INT32}, .shapes = {TensorShape(), TensorShape({2})}});
}

absl::Status First(BarrierResource& barrier, const std::vector<std::string>& keys) {
  const std::vector<float> values(keys.size(), 1.0f);
  return barrier.Insert(Tensor::Vector<std::string>(keys), 0, Tensor::Vector<float>(values));
}

absl::Status Second(BarrierResource& barrier, const std::string& key) {
  return barrier.Insert(Tensor::Vector<std::string>({key}), 1, Tensor::Of<int32_t>({1, 2}, {7, 8}));
}

TEST(BarrierTest, ATakeWaitsUntilTuplesAreWhole) {
  auto barrier = MakeBarrier();
  Taker taker;
  taker.Take(*barrier, 2);
  ASSERT_TRUE(First(*barrier, {"a", "b"}).ok());
  ASSERT_TRUE(Second(*barrier, "b").ok());
  EXPECT_FALSE(taker.result);
  ASSERT_TRUE(Second(*barrier, "a").ok());
  ASSERT_TRUE(taker.result && taker.result->ok());
  EXPECT_EQ((*taker.result)->indices.data<int64_t>()[0], std::numeric_limits<int64_t>::min());
  EXPECT_EQ((*taker.result)->components[1].shape().ToString(), "[2,2]");
  EXPECT_EQ(barrier->ready_size() + barrier->incomplete_size(), 0);
}

TEST(BarrierTest, TakesEndInTheOrderInWhichTheyCame) {
  auto barrier = MakeBarrier();
  Taker two, one;
  two.Take(*barrier, 2);
  one.Take(*barrier, 1);
  ASSERT_TRUE(First(*barrier, {"a"}).ok());
  ASSERT_TRUE(Second(*barrier, "a").ok());
  EXPECT_FALSE(one.result) << "it came after the one that takes two";
  ASSERT_TRUE(First(*barrier, {"b", "c"}).ok());
  ASSERT_TRUE(Second(*barrier, "b").ok());
  ASSERT_TRUE(two.result && two.result->ok());
  EXPECT_THAT(two.Keys(), ElementsAre("a", "b"));
  ASSERT_TRUE(Second(*barrier, "c").ok());
  EXPECT_THAT(one.Keys(), ElementsAre("c"));
}

// In TensorFlow, a take never ends if it waits when the barrier is closed.
TEST(BarrierTest, TakesThatWaitWhenItIsClosedEnd) {
  auto barrier = MakeBarrier();
  ASSERT_TRUE(First(*barrier, {"a", "b"}).ok());
  ASSERT_TRUE(Second(*barrier, "a").ok());
  Taker some, many;
  some.Take(*barrier, 3, true);
  many.Take(*barrier, 3);
  ASSERT_TRUE(barrier->Close(false).ok());
  EXPECT_FALSE(some.result) << "b can still be completed";
  ASSERT_TRUE(Second(*barrier, "b").ok());
  ASSERT_TRUE(some.result && some.result->ok());
  EXPECT_THAT(some.Keys(), ElementsAre("a", "b"));
  ASSERT_TRUE(many.result);
  EXPECT_EQ(many.result->status(),
            absl::OutOfRangeError("Barrier 'b' is closed and has insufficient elements (requested "
                                  "3, total size 0)"));
}

TEST(BarrierTest, ClosingWithCancellingGivesUpIncompleteTuples) {
  auto barrier = MakeBarrier();
  ASSERT_TRUE(First(*barrier, {"a"}).ok());
  Taker taker;
  taker.Take(*barrier, 1);
  ASSERT_TRUE(barrier->Close(true).ok());
  ASSERT_TRUE(taker.result);
  EXPECT_TRUE(absl::IsOutOfRange(taker.result->status()));
  EXPECT_TRUE(absl::IsCancelled(Second(*barrier, "a")));
}

TEST(BarrierTest, ACancelledTakeLeavesItsPlace) {
  auto barrier = MakeBarrier();
  CancellationManager cancellation;
  Taker first, second, late;
  first.Take(*barrier, 2, false, &cancellation);
  second.Take(*barrier, 1);
  ASSERT_TRUE(First(*barrier, {"a"}).ok());
  ASSERT_TRUE(Second(*barrier, "a").ok());
  cancellation.StartCancel();
  ASSERT_TRUE(first.result);
  EXPECT_EQ(first.result->status(),
            absl::CancelledError("BarrierTakeMany operation was cancelled"));
  EXPECT_THAT(second.Keys(), ElementsAre("a"));
  late.Take(*barrier, 1, false, &cancellation);
  EXPECT_TRUE(absl::IsCancelled(late.result->status()));
}

TEST(BarrierTest, AWaitIsShownWithWhatIsThere) {
  auto barrier = MakeBarrier();
  Stalls stalls;
  ASSERT_TRUE(First(*barrier, {"a", "b"}).ok());
  Taker taker;
  taker.Take(*barrier, 1, false, nullptr, &stalls);
  const std::vector<Stalls::Report> reports = stalls.Describe();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].resource, "barrier 'b'");
  EXPECT_EQ(reports[0].state, "0 ready, 2 incomplete, 1 waiting");
  ASSERT_TRUE(Second(*barrier, "a").ok());
  EXPECT_TRUE(stalls.Describe().empty());
}

// TensorFlow detects the first error only when the tuple is complete. In the second case, it reads
// beyond the end of the values.
TEST(BarrierTest, WrongShapesAreFoundWhenTheyAreInserted) {
  auto barrier = MakeBarrier();
  const Tensor key = Tensor::Vector<std::string>({"a"});
  EXPECT_THAT(
      std::string(barrier->Insert(key, 1, Tensor::Of<int32_t>({1, 3}, {1, 2, 3})).message()),
      HasSubstr("Shape mismatch in tuple component 1. Expected [2], got [3]"));
  EXPECT_THAT(std::string(barrier->Insert(key, 0, Tensor::Vector<float>({1, 2})).message()),
              HasSubstr("Expected a vector of keys and a row of values for each, got shapes [1] "
                        "and [2]"));
  EXPECT_EQ(barrier->incomplete_size(), 0);
}

// Refuses large blocks.
class SmallBlocks : public Allocator {
 public:
  explicit SmallBlocks(size_t most) : most_(most) {}
  void* Allocate(size_t bytes) override {
    return bytes <= most_ ? Heap().Allocate(bytes) : nullptr;
  }
  void Deallocate(void* block, size_t bytes) override { Heap().Deallocate(block, bytes); }

 private:
  const size_t most_;
};

// The components of 100 tuples need 400 bytes, their indices 800, and their keys more.
TEST(BarrierTest, ATakeFailsIfItsStepHasNoMemoryForIndicesOrKeys) {
  for (const size_t most : {600u, 1000u}) {
    auto barrier = std::make_shared<BarrierResource>(
        BarrierSpec{.name = "b", .types = {DT_FLOAT}, .shapes = {TensorShape()}});
    std::vector<std::string> keys;
    for (int i = 0; i < 100; ++i) keys.push_back(std::to_string(i));
    ASSERT_TRUE(First(*barrier, keys).ok());
    SmallBlocks step(most);
    std::optional<absl::Status> status;
    barrier->Take({.allocator = &step, .node = "take", .op = "BarrierTakeMany"}, 100, false,
                  [&](const auto& batch) { status = batch.status(); });
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->code(), absl::StatusCode::kResourceExhausted) << *status;
  }
}

}  // namespace
}  // namespace sluice
