#include "executor/wait/cancellable_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "executor/files/files.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

class CancellableFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0); }
  void TearDown() override { unlink(path_.c_str()); }
  absl::StatusOr<std::string> Read() {
    const CancellableFiles files(cancellation_);
    return ReadWholeFile(path_);
  }
  // A descriptor for writing. Returns when a reader has opened the FIFO.
  int AwaitReader() { return open(path_.c_str(), O_WRONLY | O_CLOEXEC); }

  const std::string path_ = ::testing::TempDir() + "/reads_" + std::to_string(getpid());
  CancellationManager cancellation_;
};

TEST_F(CancellableFilesTest, AFifoIsReadUntilItsWriterLeaves) {
  std::thread writer([this] {
    const int fd = AwaitReader();
    for (const std::string part : {"one\n", "two\n"}) {
      EXPECT_EQ(write(fd, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    }
    close(fd);
  });
  const absl::StatusOr<std::string> contents = Read();
  writer.join();
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_EQ(*contents, "one\ntwo\n");
}

// A step that read a FIFO could not be ended, and its session could not be closed.
TEST_F(CancellableFilesTest, AReadWithoutBytesIsCancelled) {
  int writer = -1;
  std::thread canceller([&] {
    writer = AwaitReader();
    cancellation_.StartCancel();
  });
  EXPECT_EQ(Read().status(), absl::CancelledError(path_ + "; the read of a file was cancelled"));
  canceller.join();
  close(writer);
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kCancelled);  // from the start
}

TEST_F(CancellableFilesTest, AReadWithoutAWriterEndsAtTheDeadline) {
  cancellation_.set_deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  EXPECT_EQ(Read().status(), absl::DeadlineExceededError(path_ + "; the read of a file timed out"));
}

}  // namespace
}  // namespace sluice
