// The code in docs/input.md.

#include "training/input/input.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ops/io/builders.h"
#include "ops/io/record_file.h"
#include "sluice.h"
#include "training/input/idx.h"
#include "training/summary/file_writer.h"
#include "training/summary/summary.h"

namespace sluice {
namespace {

std::string WriteLines() {
  const std::string path = ::testing::TempDir() + "/samples.csv";
  std::ofstream(path) << "5.1,1\n4.9,0\n6.2,1\n";
  return path;
}

TEST(InputSamples, CsvInBatches) {
  const std::string path = WriteLines();
  // [csv]
  Graph g;
  Queue files = input::StringInputProducer(g, {path}, {.num_epochs = 2});
  Output reader = TextLineReaderV2(g);
  auto line = ReaderReadV2(reader, files.handle());
  OutputList columns = DecodeCSV(line.value, {Constant(g, {0.0f}), Constant(g, {0})});
  OutputList batch = input::Batch(columns, 2, {.allow_smaller_final_batch = true});

  Session session(g);
  ASSERT_TRUE(session.Run({InitializeLocalVariables(g)}).ok());  // counts the epochs
  Coordinator coordinator;
  ASSERT_TRUE(StartQueueRunners(session, coordinator).ok());
  int rows = 0;
  while (true) {
    absl::StatusOr<Tensors> out = session.Run(std::vector<Feed>(), batch);
    if (absl::IsOutOfRange(out.status())) break;  // the input is over
    ASSERT_TRUE(out.ok()) << out.status();
    rows += static_cast<int>((*out)[0].dim(0));
  }
  coordinator.RequestStop();
  ASSERT_TRUE(coordinator.Join().ok());
  // [/csv]
  EXPECT_EQ(rows, 6);
}

TEST(InputSamples, IdxImages) {
  const std::string path = ::testing::TempDir() + "/images.idx";
  std::ofstream(path, std::ios::binary)
      << std::string("\0\0\x08\x03\0\0\0\1\0\0\0\2\0\0\0\2\1\2\3\4", 20);
  // [idx]
  absl::StatusOr<input::IdxFile> images = input::IdxFile::Open(path);  // or .gz
  ASSERT_TRUE(images.ok()) << images.status();
  Graph g;
  Output image = images->Read(g);  // uint8, [28, 28] for MNIST
  // [/idx]
  EXPECT_EQ(image.shape(), PartialShape({2, 2}));
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(InputSamples, EventsOfATraining) {
  const std::string logdir = ::testing::TempDir() + "/input_samples_logs";
  // [events]
  Graph g;
  Variable w(g, "w", 5.0f);
  Output loss = Square(w - 2.0f);
  Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
  summary::Scalar("loss", loss);
  summary::Histogram("weights", w);
  Output summaries = summary::MergeAll(g);
  Operation init = InitializeVariables(g);

  absl::StatusOr<std::unique_ptr<SummaryFileWriter>> writer = SummaryFileWriter::Open(logdir, &g);
  ASSERT_TRUE(writer.ok()) << writer.status();
  Session session(g);
  ASSERT_TRUE(session.Run({init}).ok());
  for (int step = 0; step < 20; ++step) {
    absl::StatusOr<Tensors> out = session.Run(std::vector<Feed>(), {summaries}, {train});
    ASSERT_TRUE(out.ok()) << out.status();
    ASSERT_TRUE((*writer)->AddSummary((*out)[0], step).ok());
  }
  ASSERT_TRUE((*writer)->Close().ok());  // then: tensorboard --logdir=…
  // [/events]
  EXPECT_THAT((*writer)->path(), ::testing::HasSubstr("events.out.tfevents."));
}

}  // namespace
}  // namespace sluice
