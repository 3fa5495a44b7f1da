// Steps that read a FIFO end when they are cancelled. A step that read a FIFO without a writer
// could not be ended, and its session could not be closed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

class FifoTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0); }
  void TearDown() override { unlink(path_.c_str()); }

  // Not a constant, because files with constant names are read when the step is compiled.
  Output Text(const std::string& text) {
    return PlaceholderWithDefault(Constant(g_, Tensor::Scalar(text)), PartialShape::Scalar());
  }
  // A descriptor for writing. Returns when a reader has opened the FIFO.
  int AwaitReader() { return open(path_.c_str(), O_WRONLY | O_CLOEXEC); }

  const std::string path_ = ::testing::TempDir() + "/fifo_" + std::to_string(getpid());
  Graph g_;
};

TEST_F(FifoTest, IsReadUntilItsWriterLeaves) {
  const Output contents = ReadFile(Text(path_));
  Session session(g_);
  std::thread writer([this] {
    const int fd = AwaitReader();
    for (const std::string part : {"one\n", "two\n"}) {
      EXPECT_EQ(write(fd, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    }
    close(fd);
  });
  const absl::StatusOr<Tensors> read = session.Run({}, {contents});
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)[0].scalar<std::string>(), "one\ntwo\n");
}

TEST_F(FifoTest, AReadWithoutBytesEndsWithItsStep) {
  const Output contents = ReadFile(Text(path_));
  Session session(g_);
  CancellationManager cancellation;
  int writer = -1;
  std::thread canceller([&] {
    writer = AwaitReader();
    cancellation.StartCancel();
  });
  const absl::Status status =
      session.Run({}, {contents}, {}, {.cancellation = &cancellation}).status();
  canceller.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  close(writer);
}

TEST_F(FifoTest, AReadWithoutAWriterEndsAtTheTimeout) {
  const Output contents = ReadFile(Text(path_));
  Session session(g_);
  const absl::Status status = session.Run({}, {contents}, {}, {.timeout_ms = 20}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

TEST_F(FifoTest, ADatasetOfLinesEndsWithItsSession) {
  const Output lines =
      TextLineDataset(Text(path_), Text(""), Constant(g_, Tensor::Scalar<int64_t>(0)));
  const Output iterator = IteratorV2(g_, "", "", {DT_STRING}, {PartialShape::Scalar()});
  const Operation make = MakeIterator(lines, iterator);
  const Output line = IteratorGetNext(iterator, {DT_STRING}, {PartialShape::Scalar()})[0];
  int writer = -1;
  {
    Session session(g_);
    ASSERT_TRUE(session.Run({}, {}, {make}).ok());
    std::thread closer([&] {
      writer = AwaitReader();
      EXPECT_TRUE(session.Close().ok());
    });
    const absl::Status status = session.Run({}, {line}).status();
    closer.join();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  }  // joins the thread that reads
  close(writer);
}

}  // namespace
}  // namespace sluice
