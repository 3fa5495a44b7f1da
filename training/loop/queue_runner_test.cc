#include "training/loop/queue_runner.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "graph/build/scopes.h"
#include "graph/format/meta_graph.h"
#include "graph/format/proto/queue_runner.pb.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/ops.h"
#include "ops/state/variable.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A queue of numbers, which count up to `limit`. Then the enqueue op returns OUT_OF_RANGE.
struct Counting {
  explicit Counting(int64_t limit, int threads = 1) {
    queue = Queue::Fifo(g, 3, {DT_INT64}, {.shapes = {PartialShape::Scalar()}});
    Variable counter(g, "counter", int64_t{0}, {.trainable = false, .use_resource = false});
    enqueue = queue.Enqueue({CountUpTo(counter.Ref(), limit)});
    dequeue = queue.Dequeue()[0];
    runner = QueueRunner::Of(queue, std::vector<Operation>(threads, enqueue)).value();
    init = InitializeVariables(g);
    session = std::make_unique<Session>(g);
    EXPECT_TRUE(session->Run({init}).ok());
  }
  // Dequeues until the queue is closed and empty.
  std::vector<int64_t> TakeAll() {
    std::vector<int64_t> all;
    while (true) {
      const absl::StatusOr<Tensors> out = session->Run({}, {dequeue});
      if (!out.ok()) {
        EXPECT_EQ(out.status().code(), absl::StatusCode::kOutOfRange) << out.status();
        return all;
      }
      all.push_back((*out)[0].scalar<int64_t>());
    }
  }

  Graph g;
  Queue queue;
  Operation enqueue, init;
  Output dequeue;
  QueueRunner runner;
  std::unique_ptr<Session> session;
};

TEST(QueueRunnerTest, FillsTheQueueAndClosesItAtTheEndOfTheInput) {
  Counting c(10);
  Coordinator coordinator;
  c.runner.Start(*c.session, coordinator);
  EXPECT_THAT(c.TakeAll(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_TRUE(coordinator.Join().ok());
}

TEST(QueueRunnerTest, TheQueueIsClosedWhenTheLastOfManyThreadsEnds) {
  Counting c(100, 4);
  Coordinator coordinator;
  c.runner.Start(*c.session, coordinator);
  std::vector<int64_t> all = c.TakeAll();
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(all[i], i);
  EXPECT_TRUE(coordinator.Join().ok());
}

TEST(QueueRunnerTest, AStopEndsThreadsThatWaitForRoom) {
  Counting c(1'000'000, 2);
  Coordinator coordinator;
  c.runner.Start(*c.session, coordinator);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(c.session->Run({}, {c.dequeue}).ok());
  coordinator.RequestStop();
  EXPECT_TRUE(coordinator.Join().ok());
}

// The queue must stay open, because it may be on another machine, and others may wait for the
// elements that the next session puts into it.
TEST(QueueRunnerTest, TheQueueStaysOpenWhereTheWorkGoesOnInAnotherSession) {
  Counting c(1'000'000);
  const Output closed = c.queue.IsClosed("closed");
  const auto is_closed = [&] { return (*c.session->Run({}, {closed}))[0].scalar<bool>(); };
  {
    Coordinator coordinator;
    coordinator.set_goes_on_after({absl::StatusCode::kUnavailable});
    c.runner.Start(*c.session, coordinator);
    coordinator.RequestStop(absl::UnavailableError("gone"));
    EXPECT_TRUE(coordinator.GoesOn());
    EXPECT_EQ(coordinator.Join(), absl::UnavailableError("gone"));
    EXPECT_FALSE(is_closed());
  }
  Coordinator coordinator;
  coordinator.set_goes_on_after({absl::StatusCode::kUnavailable});
  c.runner.Start(*c.session, coordinator);
  coordinator.RequestStop(absl::DataLossError("disk"));
  EXPECT_FALSE(coordinator.GoesOn());
  EXPECT_EQ(coordinator.Join(), absl::DataLossError("disk"));
  EXPECT_TRUE(is_closed());
}

TEST(QueueRunnerTest, AnErrorIsReportedToTheJoiner) {
  Graph g;
  const Queue queue = Queue::Fifo(g, 3, {DT_FLOAT});
  const Output x = Placeholder(g, DT_FLOAT, {}, "never_fed");
  const QueueRunner runner = QueueRunner::Of(queue, {queue.Enqueue({x})}).value();
  Session session(g);
  Coordinator coordinator;
  runner.Start(session, coordinator);
  EXPECT_THAT(coordinator.Join().message(), HasSubstr("never_fed"));
}

TEST(QueueRunnerTest, RunningThreadsAreNotStartedTwice) {
  Counting c(1'000'000);
  Coordinator coordinator;
  c.runner.Start(*c.session, coordinator);
  c.runner.Start(*c.session, coordinator);
  EXPECT_THAT(coordinator.LiveThreads(),
              ElementsAre("QueueRunnerThread-fifo_queue-fifo_queue_enqueue"));
  coordinator.RequestStop();
  EXPECT_TRUE(coordinator.Join().ok());
  coordinator.ClearStop();
  // The queue is closed now. Its error, CANCELLED, is not among the codes that end the runner
  // quietly.
  c.runner.Start(*c.session, coordinator);
  EXPECT_EQ(coordinator.Join().code(), absl::StatusCode::kCancelled);
}

TEST(QueueRunnerTest, CodesOfOthersCanEndItQuietly) {
  Counting c(10);
  c.runner.closed_codes.push_back(absl::StatusCode::kCancelled);
  ASSERT_TRUE(c.session->Run({c.runner.cancel_op}).ok());
  Coordinator coordinator;
  c.runner.Start(*c.session, coordinator);
  EXPECT_TRUE(coordinator.Join().ok());
}

TEST(QueueRunnerTest, TheGraphKeepsItAndAMetaGraphCarriesIt) {
  Counting c(5);
  AddQueueRunner(c.g, c.runner);
  const auto meta = ExportMetaGraphDef(c.g);
  ASSERT_TRUE(meta.ok()) << meta.status();
  const auto& bytes = meta->collection_def().at("queue_runners").bytes_list();
  ASSERT_EQ(bytes.value_size(), 1);
  pb::QueueRunnerDef def;
  ASSERT_TRUE(def.ParseFromString(bytes.value(0)));
  EXPECT_EQ(def.queue_name(), "fifo_queue");
  EXPECT_THAT(def.enqueue_op_name(), ElementsAre("fifo_queue_enqueue"));
  EXPECT_EQ(def.close_op_name(), "fifo_queue_Close");
  EXPECT_EQ(def.cancel_op_name(), "fifo_queue_Close_1");
  EXPECT_THAT(def.queue_closed_exception_types(), ElementsAre(pb::error::OUT_OF_RANGE));

  Graph copy;
  ASSERT_TRUE(ImportMetaGraphDef(*meta, copy, {.prefix = "in"}).ok());
  Session session(copy);
  ASSERT_TRUE(session.Run({Operation(copy.Find("in/init"))}).ok());
  Coordinator coordinator;
  ASSERT_TRUE(StartQueueRunners(session, coordinator).ok());
  const Output dequeue(copy.Find("in/fifo_queue_Dequeue"));
  for (int i = 0; i < 5; ++i) {
    const auto out = session.Run({}, {dequeue});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ((*out)[0].scalar<int64_t>(), i);
  }
  EXPECT_TRUE(coordinator.Join().ok());
}

TEST(QueueRunnerTest, ScopesComeOffAndOn) {
  Graph g;
  NameScope scope(g, "a");
  const Queue queue = Queue::Fifo(g, 3, {DT_FLOAT});
  const QueueRunner runner = QueueRunner::Of(queue, {queue.Enqueue({Constant(g, 1.0f)})}).value();
  const auto def = runner.ToProto("a");
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(def->queue_name(), "fifo_queue");
  EXPECT_EQ(runner.ToProto("b").status().code(), absl::StatusCode::kNotFound);
  const auto back = QueueRunner::FromProto(*def, g, "a");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->enqueue_ops, runner.enqueue_ops);
  EXPECT_EQ(QueueRunner::FromProto(*def, g).status().message(),
            "The name 'fifo_queue' refers to an Operation not in the graph.");
}

TEST(QueueRunnerTest, AQueueAndAnOpMustBeGiven) {
  Graph g;
  const Queue queue = Queue::Fifo(g, 3, {DT_FLOAT});
  EXPECT_EQ(QueueRunner::Of(queue, {}).status().message(), "Must provide queue and enqueue_ops.");
  EXPECT_EQ(QueueRunner::Of(queue, {queue.Close()}, {}).status().message(),
            "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but "
            "saw: ()");
}

TEST(QueueRunnerTest, WhatIsNoRunnerInTheCollectionIsAnError) {
  Graph g;
  g.AddToCollection(kQueueRunners, "\x01\x02\x03");
  EXPECT_EQ(QueueRunners(g).status().message(),
            "collection 'queue_runners': an entry is no QueueRunnerDef");
}

}  // namespace
}  // namespace sluice
