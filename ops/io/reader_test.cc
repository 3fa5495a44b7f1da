#include "ops/io/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "executor/wait/cancellation.h"
#include "ops/dataflow/fifo_queue.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

// A reader for which file "name:n" has n records.
class CountingReader : public Reader {
 public:
  CountingReader() : Reader("CountingReader", "r") {}

 protected:
  absl::Status StartWork(const std::string& work) override {
    left_ = work.back() - '0';
    return work[0] == '!' ? absl::NotFoundError(work) : absl::OkStatus();
  }
  absl::StatusOr<bool> Next(const std::string& work, Record* record, bool*) override {
    if (left_ == 0) return false;
    record->key = work;
    record->value = std::to_string(left_--);
    return true;
  }

 private:
  int left_ = 0;
};

std::shared_ptr<FifoQueue> Names() {
  return std::make_shared<FifoQueue>(QueueSpec{
      .kind = "FIFOQueue", .name = "q", .types = {DT_STRING}, .shapes = {PartialShape::Scalar()}});
}

void Put(QueueResource& queue, const std::string& name) {
  queue.Enqueue(Caller(), {Tensor::Scalar(name)}, [](absl::Status s) { ASSERT_TRUE(s.ok()); });
}

struct Answer {
  std::optional<absl::StatusOr<Reader::Records>> value;
  Reader::Done done() {
    return [this](absl::StatusOr<Reader::Records> r) {
      ASSERT_FALSE(value.has_value()) << "called twice";
      value = std::move(r);
    };
  }
  std::string text() const {
    if (!value.has_value()) return "pending";
    if (!value->ok()) return std::string(value->status().message());
    std::string all;
    for (const Record& r : **value) all += r.key + "=" + r.value + " ";
    return all;
  }
};

TEST(ReaderTest, FilesFollowOneAnotherAndEmptyOnesAreSkipped) {
  const auto reader = std::make_shared<CountingReader>();
  const auto queue = Names();
  for (const char* name : {"a2", "b0", "c0", "d1"}) Put(*queue, name);
  Answer first, second, third;
  reader->Read(Caller(), queue, first.done());
  reader->Read(Caller(), queue, second.done());
  EXPECT_EQ(reader->num_work_units_completed(), 0);
  reader->Read(Caller(), queue, third.done());
  EXPECT_EQ(first.text() + second.text() + third.text(), "a2=2 a2=1 d1=1 ");
  EXPECT_EQ(reader->num_records_produced(), 3);
  EXPECT_EQ(reader->num_work_units_completed(), 3);
}

TEST(ReaderTest, ThousandsOfEmptyFilesNeedNoStack) {
  const auto reader = std::make_shared<CountingReader>();
  const auto queue = Names();
  for (int i = 0; i < 200000; ++i) Put(*queue, "e0");
  Put(*queue, "x1");
  Answer answer;
  reader->Read(Caller(), queue, answer.done());
  EXPECT_EQ(answer.text(), "x1=1 ");
}

TEST(ReaderTest, AReadWaitsForANameAndLaterOnesForIt) {
  const auto reader = std::make_shared<CountingReader>();
  const auto queue = Names();
  Answer first, second;
  reader->Read(Caller(), queue, first.done());
  reader->ReadUpTo(Caller(), queue, 5, second.done());
  EXPECT_EQ(first.text(), "pending");
  Put(*queue, "a3");
  EXPECT_EQ(first.text(), "a3=3 ");
  EXPECT_EQ(second.text(), "a3=2 a3=1 ");
}

TEST(ReaderTest, EveryWaitingReadCanBeCancelled) {
  const auto reader = std::make_shared<CountingReader>();
  const auto queue = Names();
  CancellationManager first_step, second_step;
  Answer first, second, third;
  reader->Read(Caller{.cancellation = &first_step}, queue, first.done());
  reader->Read(Caller{.cancellation = &second_step}, queue, second.done());
  reader->Read(Caller(), queue, third.done());
  second_step.StartCancel();
  EXPECT_EQ(second.text(), "Read operation was cancelled");
  EXPECT_EQ(first.text(), "pending");
  first_step.StartCancel();
  EXPECT_EQ(first.text(), "Dequeue operation was cancelled");
  EXPECT_EQ(third.text(), "pending");
  Put(*queue, "a1");
  EXPECT_EQ(third.text(), "a1=1 ");
  Answer late;
  reader->Read(Caller{.cancellation = &first_step}, queue, late.done());
  EXPECT_EQ(late.text(), "Dequeue operation was cancelled");
}

TEST(ReaderTest, AClosedQueueEndsAllReads) {
  const auto reader = std::make_shared<CountingReader>();
  const auto queue = Names();
  Answer first, second;
  reader->Read(Caller(), queue, first.done());
  reader->Read(Caller(), queue, second.done());
  queue->Close(Caller(), false, [](absl::Status) {});
  EXPECT_THAT(first.text(), HasSubstr("is closed and has insufficient elements"));
  EXPECT_THAT(second.text(), HasSubstr("is closed and has insufficient elements"));
}

TEST(ReaderTest, AFileThatCannotBeReadIsTheErrorAndTheNextOneIsTaken) {
  const auto reader = std::make_shared<CountingReader>();
  const auto queue = Names();
  Put(*queue, "!1");
  Put(*queue, "a1");
  Answer first, second;
  reader->Read(Caller(), queue, first.done());
  reader->Read(Caller(), queue, second.done());
  EXPECT_EQ(first.text(), "!1");
  EXPECT_EQ(second.text(), "a1=1 ");
}

TEST(ReaderTest, AQueueOfAnythingElseIsRefused) {
  const auto reader = std::make_shared<CountingReader>();
  const auto numbers =
      std::make_shared<FifoQueue>(QueueSpec{.kind = "FIFOQueue", .name = "q", .types = {DT_INT32}});
  numbers->Enqueue(Caller(), {Tensor::Scalar(1)}, [](absl::Status) {});
  Answer answer;
  reader->Read(Caller(), numbers, answer.done());
  EXPECT_EQ(answer.text(), "Expected queue with single string component");
}

TEST(ReaderTest, ResetForgetsTheFileAtHand) {
  const auto reader = std::make_shared<CountingReader>();
  const auto queue = Names();
  Put(*queue, "a2");
  Put(*queue, "b1");
  Answer first, second;
  reader->Read(Caller(), queue, first.done());
  ASSERT_TRUE(reader->Reset().ok());
  EXPECT_EQ(reader->num_records_produced(), 0);
  reader->Read(Caller(), queue, second.done());
  EXPECT_EQ(second.text(), "b1=1 ");
  EXPECT_TRUE(absl::IsUnimplemented(reader->SerializeState().status()));
}

}  // namespace
}  // namespace sluice
