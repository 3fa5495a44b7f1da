// Steps that read or write a FIFO end when they are cancelled, even if the FIFO has no writer or no
// reader. Otherwise their session could not be closed.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>

#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

using ::testing::AllOf;
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

  // Appends the text to the FIFO.
  Operation Print(Output text) {
    return PrintV2(text, {.name = "print", .output_stream = "file://" + path_, .end = ""});
  }
  // Runs a step that writes more than a FIFO holds. Calls `then` with the only reader's descriptor
  // when the first bytes have arrived.
  absl::Status WriteTooMuch(CancellationManager& cancellation,
                            const std::function<void(int reader)>& then) {
    const Operation print = Print(Text(std::string(size_t{1} << 20, 'x')));
    const int reader = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    std::thread waiter([&] {
      pollfd bytes = {reader, POLLIN, 0};
      EXPECT_EQ(poll(&bytes, 1, -1), 1);
      then(reader);
    });
    Session session(g_);
    const absl::Status status =
        session.Run({}, {}, {print}, {.cancellation = &cancellation}).status();
    waiter.join();
    return status;
  }

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

// Constants are folded before a step runs.
TEST_F(FifoTest, AReadWhileAStepIsCompiledIsCancelled) {
  const Output contents = ReadFile(Constant(g_, Tensor::Scalar(path_)));
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

TEST_F(FifoTest, AReadWhileAStepIsCompiledEndsAtTheTimeout) {
  const Output contents = ReadFile(Constant(g_, Tensor::Scalar(path_)));
  const auto run = [&](SessionOptions session, RunOptions options) {
    return Session(g_, std::move(session)).Run({}, {contents}, {}, options).status().code();
  };
  EXPECT_EQ(run({}, {.timeout_ms = 50}), absl::StatusCode::kDeadlineExceeded);
  CancellationManager cancellation;
  EXPECT_EQ(run({}, {.timeout_ms = 50, .cancellation = &cancellation}),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(run({.operation_timeout_ms = 50}, {}), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(FifoTest, AWriteReachesTheReader) {
  const Operation print = Print(Text("one\n"));
  const int reader = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const absl::Status status = Session(g_).Run({}, {}, {print}).status();
  EXPECT_TRUE(status.ok()) << status;
  char read_bytes[8] = {};
  EXPECT_EQ(read(reader, read_bytes, sizeof(read_bytes)), 4);
  EXPECT_STREQ(read_bytes, "one\n");
  close(reader);
}

TEST_F(FifoTest, AWriteThatNobodyReadsIsAnError) {
  const Operation print = Print(Text("one\n"));
  const absl::Status status = Session(g_).Run({}, {}, {print}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path_ + "; no process reads this FIFO"), HasSubstr("print")));
}

TEST_F(FifoTest, AWriteToAFullFifoEndsWithItsStep) {
  CancellationManager cancellation;
  int open_reader = -1;
  const absl::Status status = WriteTooMuch(cancellation, [&](int reader) {
    open_reader = reader;
    cancellation.StartCancel();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  close(open_reader);
}

// The signal SIGPIPE ended the process.
TEST_F(FifoTest, AReaderThatLeavesIsAnError) {
  CancellationManager cancellation;
  const absl::Status status = WriteTooMuch(cancellation, [](int reader) { close(reader); });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + "; Broken pipe"));
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

// Lines of the FIFO that each thread of a ParallelMapDataset reads.
TEST_F(FifoTest, AParallelMapEndsWithItsSession) {
  const std::string graph = R"(
      node { name: 'path' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } }
             attr { key: 'shape' value { shape { dim { size: 2 } } } } }
      node { name: 'calls' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
             attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 2 } } } }
      node { name: 'paths' op: 'TensorSliceDataset' input: 'path'
             attr { key: 'Toutput_types' value { list { type: DT_STRING } } }
             attr { key: 'output_shapes' value { list { shape {} } } } }
      node { name: 'contents' op: 'ParallelMapDataset' input: 'paths' input: 'calls'
             attr { key: 'f' value { func { name: 'read' } } }
             attr { key: 'Targuments' value { list {} } }
             attr { key: 'output_types' value { list { type: DT_STRING } } }
             attr { key: 'output_shapes' value { list { shape {} } } } }
      node { name: 'iterator' op: 'IteratorV2'
             attr { key: 'shared_name' value { s: '' } } attr { key: 'container' value { s: '' } }
             attr { key: 'output_types' value { list { type: DT_STRING } } }
             attr { key: 'output_shapes' value { list { shape {} } } } }
      node { name: 'make' op: 'MakeIterator' input: 'contents' input: 'iterator' }
      node { name: 'next' op: 'IteratorGetNext' input: 'iterator'
             attr { key: 'output_types' value { list { type: DT_STRING } } }
             attr { key: 'output_shapes' value { list { shape {} } } } }
      library { function {
        signature { name: 'read' input_arg { name: 'x' type: DT_STRING }
                    output_arg { name: 'y' type: DT_STRING } }
        node_def { name: 'r' op: 'ReadFile' input: 'x' }
        ret { key: 'y' value: 'r:contents:0' } } })";
  const auto imported = ImportGraphDef(graph, g_);
  ASSERT_TRUE(imported.ok()) << imported.status();
  Tensor paths(DT_STRING, {2});
  std::fill_n(paths.data<std::string>(), 2, path_);
  int writer = -1;
  {
    Session session(g_);
    const absl::Status made =
        session.Run({{Output(g_.Find("path"), 0), paths}}, {}, {Operation(g_.Find("make"))})
            .status();
    ASSERT_TRUE(made.ok()) << made;
    std::thread closer([&] {
      writer = AwaitReader();
      EXPECT_TRUE(session.Close().ok());
    });
    const absl::Status status = session.Run({}, {Output(g_.Find("next"), 0)}).status();
    closer.join();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  }  // joins the threads that read
  close(writer);
}

}  // namespace
}  // namespace sluice
