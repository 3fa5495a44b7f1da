#include "training/summary/file_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "graph/format/proto/config.pb.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/graph.pb.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"
#include "ops/summary/events_of.h"
#include "training/summary/summary.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

std::string NewFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/file_writer_" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(FileWriterTest, EventsComeInTheOrderInWhichTheyWereAdded) {
  auto writer = SummaryFileWriter::Open(NewFolder("order"));
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (int step = 0; step < 100; ++step) {
    ASSERT_TRUE((*writer)->AddScalar("loss", static_cast<float>(step), step).ok());
  }
  ASSERT_TRUE((*writer)->Flush().ok());
  const std::vector<pb::Event> events = EventsOf((*writer)->path());  // the writer is still open
  ASSERT_EQ(events.size(), 101u);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_GT(events[0].wall_time(), 1e9);
  for (int step = 0; step < 100; ++step) {
    EXPECT_EQ(events[step + 1].step(), step);
    EXPECT_EQ(events[step + 1].summary().value(0).tag(), "loss");
    EXPECT_EQ(events[step + 1].summary().value(0).simple_value(), static_cast<float>(step));
  }
}

TEST(FileWriterTest, GraphAndSummariesOfAStep) {
  Graph g;
  const Output x = Constant(g, {1.0f, 2.0f}, "x");
  summary::Scalar("sum", ReduceSum(x));
  summary::Histogram("x", x);
  const Output all = summary::MergeAll(g);
  auto writer = SummaryFileWriter::Open(NewFolder("graph"), &g);
  ASSERT_TRUE(writer.ok()) << writer.status();
  Session session(g);
  RunMetadata metadata;
  const RunOptions traced = {.trace = true};
  const absl::StatusOr<Tensors> out =
      session.Run(absl::Span<const Feed>(), {all}, {}, traced, &metadata);
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_TRUE((*writer)->AddSummary((*out)[0], 7).ok());
  ASSERT_TRUE((*writer)->AddRunMetadata(metadata, "step 7", 7).ok());
  EXPECT_THAT(std::string((*writer)->AddRunMetadata(metadata, "step 7", 7).message()),
              HasSubstr("The provided tag was already used for this event type"));
  pb::SessionLog log;
  log.set_status(pb::SessionLog::START);
  ASSERT_TRUE((*writer)->AddSessionLog(log, 7).ok());
  ASSERT_TRUE((*writer)->Close().ok());

  const std::vector<pb::Event> events = EventsOf((*writer)->path());
  ASSERT_EQ(events.size(), 6u);
  pb::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(events[1].graph_def()));
  EXPECT_EQ(graph.node(0).name(), "x");
  const pb::AttrValue& shapes = graph.node(0).attr().at("_output_shapes");
  EXPECT_EQ(shapes.list().shape(0).dim(0).size(), 2);
  pb::MetaGraphDef meta_graph;
  ASSERT_TRUE(meta_graph.ParseFromString(events[2].meta_graph_def()));
  EXPECT_EQ(meta_graph.graph_def().node_size(), graph.node_size());
  const pb::Summary& summary = events[3].summary();
  ASSERT_EQ(summary.value_size(), 2);
  EXPECT_EQ(summary.value(0).simple_value(), 3.0f);
  EXPECT_EQ(summary.value(1).histo().num(), 2);
  EXPECT_EQ(summary.value(1).histo().sum(), 3);
  pb::RunMetadata run;
  ASSERT_TRUE(run.ParseFromString(events[4].tagged_run_metadata().run_metadata()));
  EXPECT_EQ(events[4].tagged_run_metadata().tag(), "step 7");
  EXPECT_GT(run.step_stats().dev_stats(0).node_stats_size(), 0);
  EXPECT_EQ(events[5].session_log().status(), pb::SessionLog::START);
}

TEST(FileWriterTest, MetadataOfATagIsWrittenOnce) {
  pb::Summary summary;
  summary.add_value()->set_tag("t");
  summary.mutable_value(0)->mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  auto writer = SummaryFileWriter::Open(NewFolder("metadata"));
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->AddSummary(summary, 1).ok());
  ASSERT_TRUE((*writer)->AddSummary(summary, 2).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  const std::vector<pb::Event> events = EventsOf((*writer)->path());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(events[1].summary().value(0).has_metadata());
  EXPECT_FALSE(events[2].summary().value(0).has_metadata());
}

TEST(FileWriterTest, ReopenGoesOnInAnotherFileAndOverwritesNothing) {
  auto writer = SummaryFileWriter::Open(NewFolder("reopen"));
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->AddScalar("a", 1, 1).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  const std::string first = (*writer)->path();
  ASSERT_TRUE((*writer)->AddScalar("dropped", 1, 1).ok());
  ASSERT_TRUE((*writer)->Reopen().ok());
  ASSERT_TRUE((*writer)->AddScalar("b", 2, 2).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  EXPECT_NE((*writer)->path(), first);
  EXPECT_EQ(EventsOf(first).size(), 2u);
  EXPECT_EQ(EventsOf((*writer)->path())[1].summary().value(0).tag(), "b");
}

TEST(FileWriterTest, FlushWaitsForItsEventsAlsoDuringClose) {
  for (int turn = 0; turn < 20; ++turn) {
    auto writer = SummaryFileWriter::Open(NewFolder("flush_and_close"), nullptr, {.max_queue = 0});
    ASSERT_TRUE(writer.ok());
    for (int step = 0; step < 100; ++step) ASSERT_TRUE((*writer)->AddScalar("a", 1, step).ok());
    std::thread closer([&] { EXPECT_TRUE((*writer)->Close().ok()); });
    EXPECT_TRUE((*writer)->Flush().ok());
    EXPECT_EQ(EventsOf((*writer)->path()).size(), 101u);
    closer.join();
    EXPECT_TRUE((*writer)->Flush().ok());  // returns at once
  }
}

TEST(FileWriterTest, SharedWritersAreOneAFolder) {
  const std::string folder = NewFolder("shared");
  const auto a = SummaryFileWriter::Shared(folder);
  const auto b = SummaryFileWriter::Shared(folder);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(*a, *b);
  SummaryFileWriter::ClearShared();
  EXPECT_NE(*SummaryFileWriter::Shared(folder), *a);
  SummaryFileWriter::ClearShared();
}

TEST(FileWriterTest, AFolderThatCannotBeMadeIsNamed) {
  const std::string file = NewFolder("taken");
  std::ofstream(file) << "x";
  const auto writer = SummaryFileWriter::Open(file + "/logs");
  EXPECT_FALSE(writer.ok());
  EXPECT_THAT(std::string(writer.status().message()), HasSubstr(file + "/logs"));
}

// If the disk is full, the error of the writer's thread must be reported, and no caller may block
// forever.
TEST(FileWriterTest, AFullDiskIsReportedByEveryLaterCall) {
  auto writer = SummaryFileWriter::Open(NewFolder("full"), nullptr, {.max_queue = 2});
  ASSERT_TRUE(writer.ok());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string tag(2000, 't');
  absl::Status added;
  for (int i = 0; i < 100 && added.ok(); ++i) added = (*writer)->AddScalar(tag, 1, i);
  const absl::Status flushed = (*writer)->Flush();
  const absl::Status closed = (*writer)->Close();
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(std::string(flushed.message()), HasSubstr((*writer)->path()));
  EXPECT_EQ(closed, flushed);
  EXPECT_EQ((*writer)->AddScalar(tag, 1, 1), flushed);
}

TEST(FileWriterTest, WhatIsNoSummaryIsRefused) {
  auto writer = SummaryFileWriter::Open(NewFolder("bad"));
  ASSERT_TRUE(writer.ok());
  EXPECT_THAT(std::string((*writer)->AddSummary(std::string_view("zzz"), 1).message()),
              HasSubstr("expected a serialised Summary, got 3 bytes"));
  EXPECT_THAT(std::string((*writer)->AddSummary(Tensor::Scalar(1.0f), 1).message()),
              HasSubstr("expected the value of a summary op"));
}

}  // namespace
}  // namespace sluice
