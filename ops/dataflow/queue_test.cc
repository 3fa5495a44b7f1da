#include "ops/dataflow/queue.h"

#include <future>
#include <memory>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/dataflow/fifo_queue.h"
#include "ops/dataflow/priority_queue.h"
#include "ops/dataflow/random_shuffle_queue.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<FifoQueue> Scalars(int64_t capacity) {
  return std::make_shared<FifoQueue>(QueueSpec{.kind = "FIFOQueue",
                                               .name = "q",
                                               .capacity = capacity,
                                               .types = {DT_INT32},
                                               .shapes = {PartialShape::Scalar()}});
}

Tensors One(int32_t v) { return {Tensor::Scalar(v)}; }
Tensors Many(std::initializer_list<int32_t> v) { return {Tensor::Vector<int32_t>(v)}; }

// The result of a call, which is pending until the callback runs.
struct Put {
  std::shared_ptr<absl::StatusOr<int>> result = nullptr;
  QueueResource::Done done() {
    return [this](absl::Status s) {
      ASSERT_EQ(result, nullptr) << "called twice";
      result = std::make_shared<absl::StatusOr<int>>(s.ok() ? absl::StatusOr<int>(0) : s);
    };
  }
  bool pending() const { return result == nullptr; }
  absl::Status status() const {
    return pending() ? absl::UnknownError("pending") : result->status();
  }
};

struct Get {
  std::shared_ptr<absl::StatusOr<Tensors>> result = nullptr;
  QueueResource::Taken taken() {
    return [this](absl::StatusOr<Tensors> t) {
      ASSERT_EQ(result, nullptr) << "called twice";
      result = std::make_shared<absl::StatusOr<Tensors>>(std::move(t));
    };
  }
  bool pending() const { return result == nullptr; }
  absl::Status status() const {
    return pending() ? absl::UnknownError("pending") : result->status();
  }
  std::vector<int32_t> values() const {
    if (!status().ok()) return {-1};
    const auto flat = (**result)[0].flat<int32_t>();
    return {flat.begin(), flat.end()};
  }
};

TEST(QueueTest, ElementsComeOutInTheOrderInWhichTheyWentIn) {
  auto queue = Scalars(-1);
  Put put[3];
  for (int i = 0; i < 3; ++i) queue->Enqueue({}, One(i), put[i].done());
  Get get[3];
  for (Get& g : get) queue->Dequeue({}, g.taken());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(put[i].status().ok());
    EXPECT_THAT(get[i].values(), ElementsAre(i));
  }
}

// A dequeue once took an element that must stay, or divided by zero if there were no other
// elements.
TEST(QueueTest, WhatMustStayInAQueueThatShufflesIsNotTakenAtOnce) {
  auto queue = std::make_shared<RandomShuffleQueue>(QueueSpec{.kind = "RandomShuffleQueue",
                                                              .name = "q",
                                                              .types = {DT_INT32},
                                                              .shapes = {PartialShape::Scalar()},
                                                              .min_after_dequeue = 2});
  Get get;
  queue->Dequeue({}, get.taken());
  Put put[3];
  for (int i = 0; i < 2; ++i) queue->Enqueue({}, One(7), put[i].done());
  EXPECT_TRUE(get.pending());
  queue->Enqueue({}, One(7), put[2].done());
  EXPECT_THAT(get.values(), ElementsAre(7));
}

TEST(QueueTest, DequeueWaitsForAnElementAndEnqueueForRoom) {
  auto queue = Scalars(1);
  Get get;
  queue->Dequeue({}, get.taken());
  EXPECT_TRUE(get.pending());
  Put first, second, third;
  queue->Enqueue({}, One(1), first.done());
  EXPECT_THAT(get.values(), ElementsAre(1));
  queue->Enqueue({}, One(2), second.done());
  queue->Enqueue({}, One(3), third.done());
  EXPECT_TRUE(third.pending());
  Get again;
  queue->Dequeue({}, again.taken());
  EXPECT_THAT(again.values(), ElementsAre(2));
  EXPECT_TRUE(third.status().ok());
  EXPECT_EQ(queue->size(), 1);
}

TEST(QueueTest, EnqueueManyPutsRowsInAsThereIsRoom) {
  auto queue = Scalars(2);
  Put put;
  queue->EnqueueMany({}, Many({1, 2, 3, 4}), put.done());
  EXPECT_TRUE(put.pending());
  EXPECT_EQ(queue->size(), 2);
  Get get;
  queue->DequeueMany({}, 3, get.taken());
  EXPECT_THAT(get.values(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(put.status().ok());
  EXPECT_EQ(queue->size(), 1);
}

TEST(QueueTest, AnEmptyBatchGoesInAndComesOutAtOnce) {
  auto queue = Scalars(0);
  Put put;
  queue->EnqueueMany({}, {Tensor(DT_INT32, {0})}, put.done());
  EXPECT_TRUE(put.status().ok());
  Get get;
  queue->DequeueMany({}, 0, get.taken());
  EXPECT_TRUE(get.values().empty());
}

TEST(QueueTest, ABatchMayTakeThePlaceOfWhatIsThere) {
  auto queue = Scalars(2);
  Put first, batch, none, last;
  queue->EnqueueMany({}, Many({1, 2}), first.done());
  queue->EnqueueMany({}, Many({3, 4, 5}), batch.done(), /*replaces=*/true);
  EXPECT_EQ(queue->size(), 2);
  EXPECT_TRUE(batch.pending()) << "there is room for two";
  Get get[3];
  queue->Dequeue({}, get[0].taken());
  EXPECT_THAT(get[0].values(), ElementsAre(3));
  EXPECT_TRUE(batch.status().ok());
  queue->Dequeue({}, get[1].taken());
  EXPECT_THAT(get[1].values(), ElementsAre(4)) << "those of the batch stay";
  queue->EnqueueMany({}, Many({}), none.done(), /*replaces=*/true);
  EXPECT_TRUE(none.status().ok());
  EXPECT_EQ(queue->size(), 0);
  queue->Dequeue({}, get[2].taken());
  EXPECT_TRUE(get[2].pending());
  queue->Enqueue({}, One(6), last.done());
  EXPECT_THAT(get[2].values(), ElementsAre(6));
}

TEST(QueueTest, TheHeadOfTheLineHoldsWhatItCollected) {
  auto queue = Scalars(-1);
  Get many, one;
  queue->DequeueMany({}, 3, many.taken());
  Put put;
  queue->EnqueueMany({}, Many({1, 2}), put.done());
  queue->Dequeue({}, one.taken());
  EXPECT_TRUE(many.pending());
  EXPECT_TRUE(one.pending()) << "must not overtake";
  EXPECT_EQ(queue->size(), 0);
  Put rest;
  queue->EnqueueMany({}, Many({3, 4}), rest.done());
  EXPECT_THAT(many.values(), ElementsAre(1, 2, 3));
  EXPECT_THAT(one.values(), ElementsAre(4));
}

TEST(QueueTest, ClosingPutsAHalfFilledBatchBack) {
  auto queue = Scalars(-1);
  Put put, close;
  queue->EnqueueMany({}, Many({1, 2}), put.done());
  Get get;
  queue->DequeueMany({}, 3, get.taken());
  queue->Close({}, false, close.done());
  EXPECT_TRUE(close.status().ok());
  EXPECT_EQ(get.status(),
            absl::OutOfRangeError("FIFOQueue 'q' is closed and has insufficient elements "
                                  "(requested 1, current size 0)"));
  EXPECT_EQ(queue->size(), 2);
  Get one;
  queue->Dequeue({}, one.taken());
  EXPECT_THAT(one.values(), ElementsAre(1));
}

TEST(QueueTest, DequeueUpToTakesWhatIsLeftOnceClosed) {
  auto queue = Scalars(-1);
  Put put, close;
  queue->EnqueueMany({}, Many({1, 2}), put.done());
  Get get;
  queue->DequeueUpTo({}, 3, get.taken());
  EXPECT_TRUE(get.pending());
  queue->Close({}, false, close.done());
  EXPECT_THAT(get.values(), ElementsAre(1, 2));
  Get none;
  queue->DequeueUpTo({}, 3, none.taken());
  EXPECT_EQ(none.status(),
            absl::OutOfRangeError("FIFOQueue 'q' is closed and has insufficient elements "
                                  "(requested 3, current size 0)"));
}

TEST(QueueTest, CloseTakesItsTurnBehindPendingEnqueues) {
  auto queue = Scalars(1);
  Put first, waiting, close, late;
  queue->Enqueue({}, One(1), first.done());
  queue->Enqueue({}, One(2), waiting.done());
  queue->Close({}, false, close.done());
  EXPECT_TRUE(close.pending());
  EXPECT_FALSE(queue->is_closed());
  queue->Enqueue({}, One(3), late.done());
  Get get;
  queue->Dequeue({}, get.taken());
  EXPECT_TRUE(waiting.status().ok());
  EXPECT_TRUE(close.status().ok());
  EXPECT_TRUE(queue->is_closed());
  EXPECT_EQ(late.status(), absl::CancelledError("FIFOQueue 'q' is closed."));
  Put again;
  queue->Close({}, false, again.done());
  EXPECT_EQ(again.status(), absl::CancelledError("Queue 'q' is already closed."));
}

TEST(QueueTest, CloseCanCancelPendingEnqueues) {
  auto queue = Scalars(1);
  Put first, waiting, close, again;
  queue->Enqueue({}, One(1), first.done());
  queue->Enqueue({}, One(2), waiting.done());
  queue->Close({}, true, close.done());
  EXPECT_EQ(waiting.status(), absl::CancelledError("Enqueue operation was cancelled"));
  EXPECT_TRUE(close.status().ok());
  queue->Close({}, true, again.done());
  EXPECT_TRUE(again.status().ok());
  EXPECT_EQ(queue->size(), 1);
}

TEST(QueueTest, TheFirstReasonOfAClosingIsTold) {
  auto queue = Scalars(1);
  Put close, again;
  Get none;
  queue->Close({}, true, close.done(), "replica 1 has ended");
  queue->Close({}, true, again.done(), "later");
  queue->Dequeue({}, none.taken());
  EXPECT_EQ(none.status().message(),
            "FIFOQueue 'q' is closed and has insufficient elements (requested 1, current size 0): "
            "replica 1 has ended");
}

TEST(QueueTest, ABatchHalfPutInStaysWhenTheQueueCloses) {
  auto queue = Scalars(2);
  Put put, close;
  queue->EnqueueMany({}, Many({1, 2, 3}), put.done());
  queue->Close({}, true, close.done());
  EXPECT_TRUE(absl::IsCancelled(put.status()));
  Get get;
  queue->DequeueMany({}, 2, get.taken());
  EXPECT_THAT(get.values(), ElementsAre(1, 2));
}

TEST(QueueTest, ChecksNameWhatIsWrong) {
  auto queue = Scalars(-1);
  Put count, type, shape, batch;
  queue->Enqueue({}, {Tensor::Scalar(1), Tensor::Scalar(2)}, count.done());
  EXPECT_EQ(count.status().message(), "Wrong number of components in tuple. Expected 1, got 2");
  queue->Enqueue({}, {Tensor::Scalar(1.0f)}, type.done());
  EXPECT_EQ(type.status().message(),
            "Type mismatch in tuple component 0. Expected int32, got float");
  queue->Enqueue({}, Many({1}), shape.done());
  EXPECT_EQ(shape.status().message(), "Shape mismatch in tuple component 0. Expected [], got [1]");
  queue->EnqueueMany({}, {Tensor(DT_INT32, {2, 1})}, batch.done());
  EXPECT_EQ(batch.status().message(),
            "Shape mismatch in tuple component 0. Expected [2], got [2,1]");
}

TEST(QueueTest, BatchesNeedShapes) {
  auto queue = std::make_shared<FifoQueue>(
      QueueSpec{.kind = "FIFOQueue", .name = "q", .types = {DT_INT32, DT_INT32}});
  Get get;
  queue->DequeueMany({}, 1, get.taken());
  EXPECT_EQ(get.status().message(),
            "FIFOQueue's DequeueMany and DequeueUpTo require the components to have specified "
            "shapes.");
  Put put;
  queue->EnqueueMany({}, {Tensor(DT_INT32, {2}), Tensor(DT_INT32, {1})}, put.done());
  EXPECT_EQ(put.status().message(),
            "All input tensors must have the same size in the 0th dimension. Component 1 has 1, "
            "and should have 2");
}

// --- cancellation: every waiting call ends, and puts the elements that it holds back

TEST(QueueTest, CancellingADequeueEndsItAndLetsTheNextOneOn) {
  auto queue = Scalars(-1);
  CancellationManager step;
  Get cancelled, next;
  queue->Dequeue({.cancellation = &step}, cancelled.taken());
  queue->Dequeue({}, next.taken());
  step.StartCancel();
  EXPECT_EQ(cancelled.status(), absl::CancelledError("Dequeue operation was cancelled"));
  Put put;
  queue->Enqueue({}, One(7), put.done());
  EXPECT_THAT(next.values(), ElementsAre(7));
}

TEST(QueueTest, CancellingAHalfFilledBatchPutsItBack) {
  auto queue = Scalars(-1);
  CancellationManager step;
  Get many, one;
  queue->DequeueMany({.cancellation = &step}, 3, many.taken());
  queue->Dequeue({}, one.taken());
  Put put;
  queue->EnqueueMany({}, Many({1, 2}), put.done());
  step.StartCancel();
  EXPECT_TRUE(absl::IsCancelled(many.status()));
  EXPECT_THAT(one.values(), ElementsAre(1));
  EXPECT_EQ(queue->size(), 1);
}

TEST(QueueTest, CancellingAnEnqueueKeepsItsPlaceForNobody) {
  auto queue = Scalars(1);
  CancellationManager step;
  Put first, cancelled, next, close;
  queue->Enqueue({}, One(1), first.done());
  queue->Enqueue({.cancellation = &step}, One(2), cancelled.done());
  queue->Enqueue({}, One(3), next.done());
  step.StartCancel();
  EXPECT_EQ(cancelled.status(), absl::CancelledError("Enqueue operation was cancelled"));
  Get a, b;
  queue->Dequeue({}, a.taken());
  queue->Dequeue({}, b.taken());
  EXPECT_THAT(a.values(), ElementsAre(1));
  EXPECT_THAT(b.values(), ElementsAre(3));
}

TEST(QueueTest, AWaitingCloseCanBeCancelled) {
  auto queue = Scalars(0);
  CancellationManager step;
  Put blocked, close;
  queue->Enqueue({}, One(1), blocked.done());
  queue->Close({.cancellation = &step}, false, close.done());
  step.StartCancel();
  EXPECT_TRUE(absl::IsCancelled(close.status()));
  EXPECT_FALSE(queue->is_closed());
  Put end;
  queue->Close({}, true, end.done());
}

TEST(QueueTest, ACancelledStepStartsNothing) {
  auto queue = Scalars(-1);
  CancellationManager step;
  step.StartCancel();
  Put put;
  queue->Enqueue({.cancellation = &step}, One(1), put.done());
  EXPECT_TRUE(absl::IsCancelled(put.status()));
  Get get;
  queue->Dequeue({.cancellation = &step}, get.taken());
  EXPECT_TRUE(absl::IsCancelled(get.status()));
  EXPECT_EQ(queue->size(), 0);
}

TEST(QueueTest, WhoWaitsIsSeenWhileItWaits) {
  auto queue = Scalars(-1);
  Stalls stalls;
  Put put;
  queue->EnqueueMany({}, Many({1}), put.done());
  Get get;
  queue->DequeueMany({.stalls = &stalls, .step_id = 5, .node = "take", .op = "QueueDequeueManyV2"},
                     3, get.taken());
  ASSERT_EQ(stalls.Describe().size(), 1u);
  const Stalls::Report report = stalls.Describe()[0];
  EXPECT_EQ(report.node, "take");
  EXPECT_EQ(report.resource, "queue 'q'");
  EXPECT_THAT(report.state, HasSubstr("has 1 of 3"));
  Put rest;
  queue->EnqueueMany({}, Many({2, 3}), rest.done());
  EXPECT_TRUE(stalls.Describe().empty());
}

// --- the other kinds

TEST(PaddingFifoQueueTest, ABatchHasTheLargestSizes) {
  auto queue = std::make_shared<PaddingFifoQueue>(
      QueueSpec{.kind = "PaddingFIFOQueue",
                .name = "q",
                .types = {DT_INT32, DT_STRING},
                .shapes = {PartialShape({-1, 2}), PartialShape({-1})}});
  Put a, b, wrong;
  queue->Enqueue({}, {Tensor::Of<int32_t>({1, 2}, {1, 2}), Tensor::Vector<std::string>({"x", "y"})},
                 a.done());
  queue->Enqueue({}, {Tensor::Of<int32_t>({2, 2}, {3, 4, 5, 6}), Tensor(DT_STRING, {0})}, b.done());
  queue->Enqueue({}, {Tensor(DT_INT32, {1, 3}), Tensor(DT_STRING, {0})}, wrong.done());
  EXPECT_EQ(wrong.status().message(),
            "Shape mismatch in tuple component 0. Expected [?,2], got [1,3]");
  Get get;
  queue->DequeueMany({}, 2, get.taken());
  EXPECT_THAT(get.values(), ElementsAre(1, 2, 0, 0, 3, 4, 5, 6));
  const Tensor& text = (**get.result)[1];
  EXPECT_EQ(text.shape(), TensorShape({2, 2}));
  EXPECT_THAT(text.flat<std::string>(), ElementsAre("x", "y", "", ""));
}

TEST(PriorityQueueTest, TheSmallestComesFirstAndEqualOnesInOrder) {
  auto queue = std::make_shared<PriorityQueue>(
      QueueSpec{.kind = "PriorityQueue",
                .name = "q",
                .types = {DT_INT64, DT_INT32},
                .shapes = {PartialShape::Scalar(), PartialShape::Scalar()}});
  Put put;
  queue->EnqueueMany(
      {}, {Tensor::Vector<int64_t>({3, 1, 3, 2}), Tensor::Vector<int32_t>({30, 10, 31, 20})},
      put.done());
  CancellationManager step;
  Get cancelled;
  queue->DequeueMany({.cancellation = &step}, 5, cancelled.taken());
  step.StartCancel();
  Get get;
  queue->DequeueMany({}, 4, get.taken());
  ASSERT_TRUE(get.status().ok());
  EXPECT_THAT((**get.result)[1].flat<int32_t>(), ElementsAre(10, 20, 30, 31));
}

// An empty tensor has no first element that could be read as the priority.
TEST(PriorityQueueTest, APriorityMustBeAScalarEvenIfTheQueueHasNoShapes) {
  auto queue = std::make_shared<PriorityQueue>(
      QueueSpec{.kind = "PriorityQueue", .name = "q", .types = {DT_INT64, DT_INT32}});
  for (const Tensor& priority : {Tensor(DT_INT64, {0}), Tensor::Vector<int64_t>({1, 2})}) {
    Put one;
    queue->Enqueue({}, {priority, Tensor::Scalar<int32_t>(1)}, one.done());
    EXPECT_THAT(one.status().message(), HasSubstr("priority element to be a scalar"));
  }
  Put many;
  queue->EnqueueMany({}, {Tensor(DT_INT64, {2, 0}), Tensor::Vector<int32_t>({1, 2})}, many.done());
  EXPECT_EQ(many.status().code(), absl::StatusCode::kInvalidArgument) << many.status();
  EXPECT_EQ(queue->size(), 0);
}

// Threads of producers and consumers run steps that are cancelled at random. No element may be lost
// or duplicated.
TEST(QueueTest, NothingIsLostBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  auto queue = Scalars(3);
  std::atomic<int64_t> sum{0};
  std::atomic<int64_t> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        std::promise<void> done;
        queue->Enqueue({}, One(t * kEach + i), [&](absl::Status s) {
          ASSERT_TRUE(s.ok());
          done.set_value();
        });
        done.get_future().wait();
      }
    });
    threads.emplace_back([&] {
      while (taken.load() < kThreads * kEach) {
        CancellationManager step;
        std::promise<void> done;
        std::thread canceller([&step] { step.StartCancel(); });
        queue->DequeueMany({.cancellation = &step, .stalls = &Stalls::Global()}, 2,
                           [&](absl::StatusOr<Tensors> element) {
                             if (element.ok()) {
                               for (int32_t v : (*element)[0].flat<int32_t>()) sum += v;
                               taken += 2;
                             }
                             done.set_value();
                           });
        done.get_future().wait();
        canceller.join();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  const int64_t n = kThreads * kEach;
  EXPECT_EQ(sum.load(), n * (n - 1) / 2);
  EXPECT_EQ(queue->size(), 0);
}

}  // namespace
}  // namespace sluice
