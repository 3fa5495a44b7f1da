#include "ops/data/iterator_resource.h"

#include <atomic>
#include <future>
#include <limits>
#include <thread>

#include "gmock/gmock.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "ops/data/iterator_position.h"
#include "ops/data/shuffle.h"

namespace sluice {
namespace {

// The result of a GetNext.
using Got = absl::StatusOr<Tensors>;

std::future<Got> Ask(IteratorResource& iterator, CancellationManager* cancellation = nullptr) {
  auto got = std::make_shared<std::promise<Got>>();
  std::future<Got> future = got->get_future();
  iterator.GetNext({.cancellation = cancellation, .node = "next", .op = "IteratorGetNext"},
                   [got](Got next) { got->set_value(std::move(next)); });
  return future;
}

float ValueOf(const Got& got) { return got.ok() ? (*got)[0].scalar<float>() : -1; }

std::shared_ptr<IteratorResource> NewIterator() {
  return std::make_shared<IteratorResource>("it", std::vector<DataType>{DT_FLOAT},
                                            std::vector<PartialShape>{PartialShape::Scalar()});
}

// Returns a dataset with elements 1, 2, …, count.
DatasetPointer Counting(int count) {
  return MakeDataset({}, [count](Reading&) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator([count, next = 0](Tensors* element) mutable -> absl::StatusOr<bool> {
      if (next == count) return false;
      *element = {Tensor::Scalar<float>(static_cast<float>(++next))};
      return true;
    });
  });
}

// A dataset whose elements the test supplies one by one. It ends when the reading is cancelled. The
// dataset holds a reference to this object, because the reading thread may be the last to hold the
// iterator.
struct ByHand : std::enable_shared_from_this<ByHand> {
  Mutex mutex;
  CondVar changed;
  std::deque<float> values ABSL_GUARDED_BY(mutex);
  bool cancelled ABSL_GUARDED_BY(mutex) = false;

  void Give(float value) {
    ScopedLock lock(&mutex);
    values.push_back(value);
    changed.NotifyAll();
  }
  DatasetPointer Dataset() {
    return MakeDataset(
        {}, [self = shared_from_this()](Reading& reading) -> absl::StatusOr<IteratorPointer> {
          reading.cancellation.Register(reading.cancellation.NewToken(), [self] {
            ScopedLock lock(&self->mutex);
            self->cancelled = true;
            self->changed.NotifyAll();
          });
          return MakeIterator([self](Tensors* element) -> absl::StatusOr<bool> {
            ScopedLock lock(&self->mutex);
            while (!self->cancelled && self->values.empty()) self->changed.Wait(&self->mutex);
            if (self->values.empty()) return absl::CancelledError("the reading has ended");
            *element = {Tensor::Scalar<float>(self->values.front())};
            self->values.pop_front();
            return true;
          });
        });
  }
};

TEST(IteratorResourceTest, GivesElementsThenTheEnd) {
  auto iterator = NewIterator();
  EXPECT_TRUE(absl::IsFailedPrecondition(Ask(*iterator).get().status()));
  ASSERT_TRUE(iterator->SetDataset(Counting(2)).ok());
  EXPECT_EQ(ValueOf(Ask(*iterator).get()), 1);
  EXPECT_EQ(ValueOf(Ask(*iterator).get()), 2);
  EXPECT_EQ(Ask(*iterator).get().status(), absl::OutOfRangeError("End of sequence"));
  EXPECT_EQ(Ask(*iterator).get().status(), absl::OutOfRangeError("End of sequence"));
  ASSERT_TRUE(iterator->SetDataset(Counting(1)).ok());
  EXPECT_EQ(ValueOf(Ask(*iterator).get()), 1);
}

TEST(IteratorResourceTest, ACancelledStepLosesNoElement) {
  auto hand = std::make_shared<ByHand>();
  auto iterator = NewIterator();
  ASSERT_TRUE(iterator->SetDataset(hand->Dataset()).ok());
  CancellationManager cancellation;
  std::future<Got> cancelled = Ask(*iterator, &cancellation);
  cancellation.StartCancel();
  EXPECT_EQ(cancelled.get().status(),
            absl::CancelledError("IteratorGetNext operation was cancelled"));
  hand->Give(7);
  EXPECT_EQ(ValueOf(Ask(*iterator).get()), 7);
}

TEST(IteratorResourceTest, WhoWaitsGetsTheElementsOfTheNextDataset) {
  auto hand = std::make_shared<ByHand>();
  auto iterator = NewIterator();
  ASSERT_TRUE(iterator->SetDataset(hand->Dataset()).ok());
  std::future<Got> waiting = Ask(*iterator);
  ASSERT_TRUE(iterator->SetDataset(Counting(3)).ok());
  EXPECT_EQ(ValueOf(waiting.get()), 1);
}

TEST(IteratorResourceTest, EndsWhileItsDatasetWaits) {
  auto hand = std::make_shared<ByHand>();
  auto iterator = NewIterator();
  ASSERT_TRUE(iterator->SetDataset(hand->Dataset()).ok());
  CancellationManager cancellation;
  std::future<Got> waiting = Ask(*iterator, &cancellation);
  cancellation.StartCancel();
  waiting.wait();
  iterator.reset();  // would hang if the reading were not cancelled
  ScopedLock lock(&hand->mutex);
  EXPECT_TRUE(hand->cancelled);
}

// Returns a dataset that looks at elements until `passes` is true, and then returns one. Counts the
// elements that it looks at in `looked`.
DatasetPointer Searching(std::shared_ptr<std::atomic<int64_t>> looked,
                         std::shared_ptr<std::atomic<bool>> passes) {
  return MakeDataset({}, [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator([=, &reading](Tensors* element) -> absl::StatusOr<bool> {
      while (!passes->load()) {
        SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading));
        looked->fetch_add(1);
      }
      *element = {Tensor::Scalar<float>(5)};
      return true;
    });
  });
}

// Once, a client died while its step waited for an element that never came. The reading then
// occupied a core forever.
TEST(IteratorResourceTest, AReadingThatNobodyWaitsForPauses) {
  auto looked = std::make_shared<std::atomic<int64_t>>(0);
  auto passes = std::make_shared<std::atomic<bool>>(false);
  auto iterator = NewIterator();
  ASSERT_TRUE(iterator->SetDataset(Searching(looked, passes)).ok());
  for (int i = 0; i < 2; ++i) {
    CancellationManager cancellation;
    std::future<Got> cancelled = Ask(*iterator, &cancellation);
    for (const int64_t before = *looked; *looked < before + 1000;) std::this_thread::yield();
    cancellation.StartCancel();
    EXPECT_TRUE(absl::IsCancelled(cancelled.get().status()));
    // The reading looks at one more element at most.
    const int64_t paused = *looked;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LE(*looked, paused + 1);
  }
  std::future<Got> waiting = Ask(*iterator);
  *passes = true;
  EXPECT_EQ(ValueOf(waiting.get()), 5);
  *passes = false;
  CancellationManager cancellation;
  std::future<Got> last = Ask(*iterator, &cancellation);
  cancellation.StartCancel();
  last.wait();
  iterator.reset();  // would hang if the pause did not end
}

TEST(IteratorResourceTest, ElementsOfOtherTypesAreRefused) {
  auto iterator = std::make_shared<IteratorResource>("it", std::vector<DataType>{DT_INT32},
                                                     std::vector<PartialShape>{});
  ASSERT_TRUE(iterator->SetDataset(Counting(1)).ok());
  EXPECT_EQ(Ask(*iterator).get().status().message(),
            "Data type mismatch at component 0: expected int32 but got float.");
}

// A saved position may be damaged, or made by an attacker.
TEST(IteratorResourceTest, MovesToAPositionWithAnyNumberOfEpochs) {
  const auto seeds = std::make_shared<ShuffleSeeds>("seeds", 3, 5, true);
  const absl::StatusOr<DatasetPointer> dataset = Shuffled(Counting(2), 2, 1, seeds);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  IteratorPosition position;
  position.taken = kMax;
  position.seeds["seeds"] = {{.seed = 3, .seed2 = 5, .epochs = kMax}};
  auto iterator = NewIterator();
  ASSERT_TRUE(iterator->SetDataset(*dataset).ok());
  ASSERT_TRUE(iterator->MoveTo(position, nullptr).ok());
  EXPECT_EQ(iterator->Position()->taken, 2);
  EXPECT_EQ(Ask(*iterator).get().status(), absl::OutOfRangeError("End of sequence"));
  EXPECT_EQ(seeds->state().epochs, kMax);
}

TEST(IteratorResourceTest, AMoveToAnElementThatNeverComesCanBeCancelled) {
  auto looked = std::make_shared<std::atomic<int64_t>>(0);
  auto iterator = NewIterator();
  const DatasetPointer dataset = Searching(looked, std::make_shared<std::atomic<bool>>(false));
  ASSERT_TRUE(iterator->SetDataset(dataset).ok());
  CancellationManager cancellation;
  std::thread cancelling([&] {
    while (looked->load() == 0) std::this_thread::yield();
    cancellation.StartCancel();
  });
  const absl::Status moved = iterator->MoveTo({.taken = 1, .seeds = {}}, &cancellation);
  cancelling.join();
  EXPECT_EQ(moved, absl::CancelledError("Operation was cancelled"));
}

TEST(ShuffleSeedsTest, ARestoredStateGivesTheNextSeeds) {
  for (const bool reshuffle : {true, false}) {
    ShuffleSeeds drawn("drawn", 3, 5, reshuffle);
    for (int64_t epochs = 0; epochs < 7; ++epochs) {
      ShuffleSeeds restored("restored", 0, 0, reshuffle);
      restored.SetState({.seed = 3, .seed2 = 5, .epochs = epochs});
      EXPECT_EQ(restored.state().epochs, epochs);
      EXPECT_EQ(restored.Next(), drawn.Next()) << epochs;
    }
  }
}

}  // namespace
}  // namespace sluice
