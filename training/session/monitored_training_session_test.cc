#include "training/session/monitored_training_session.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "gtest/gtest.h"
#include "ops/builders/constant.h"
#include "ops/builders/operand.h"
#include "ops/state/variable.h"
#include "ops/summary/events_of.h"
#include "training/session/basic_hooks.h"
#include "training/session/checkpoint_saver_hook.h"
#include "training/session/summary_hooks.h"
#include "training/summary/summary.h"
#include "training/testing/session.h"

namespace sluice {
namespace {

using ::sluice::testing::CapturedLog;
using ::sluice::testing::MemorySaver;
using ::sluice::testing::RecordingHook;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Records events as lines of text.
class RecordedEvents : public TrainingEvents {
 public:
  absl::Status AddScalar(std::string_view tag, float value, int64_t step) override {
    lines.push_back(StrCat("scalar ", tag, " ", value, " @", step));
    return absl::OkStatus();
  }
  absl::Status AddSummary(const Tensor& summary, int64_t step) override {
    lines.push_back(StrCat("summary ", summary.scalar<std::string>(), " @", step));
    return absl::OkStatus();
  }
  absl::Status AddSessionLog(const pb::SessionLog& log, int64_t step) override {
    lines.push_back(
        StrCat(log.status() == pb::SessionLog::START ? "start" : "checkpoint", " @", step));
    return absl::OkStatus();
  }
  absl::Status AddGraph(const Graph&) override {
    lines.push_back("graph");
    return absl::OkStatus();
  }
  absl::Status AddMetaGraph(const pb::MetaGraphDef&) override {
    lines.push_back("meta graph");
    return absl::OkStatus();
  }
  absl::Status AddRunMetadata(const RunMetadata& metadata, std::string_view tag) override {
    lines.push_back(StrCat("run ", tag, metadata.step_stats ? "" : " without statistics"));
    return absl::OkStatus();
  }
  absl::Status Flush() override {
    lines.push_back("flush");
    return absl::OkStatus();
  }
  std::vector<std::string> lines;
};

struct Training {
  Training() {
    folder = (std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name())
                 .string();
    Variable step = GlobalStep(g);
    train = step.AssignAdd(int64_t{1});
    text = Constant(g, Tensor::Scalar("s"), "text");
  }
  OpenEvents Open() {
    return [this](const std::string&) -> absl::StatusOr<std::shared_ptr<TrainingEvents>> {
      return events;
    };
  }
  void Loop(MonitoredSession& session) {
    while (!session.ShouldStop()) {
      const absl::Status status = session.Run({train});
      ASSERT_TRUE(status.ok()) << status;
    }
    const absl::Status status = session.Close();
    EXPECT_TRUE(status.ok()) << status;
  }

  CapturedLog log;
  std::string folder;
  Graph g;
  Operation train;
  Output text;
  std::shared_ptr<MemorySaver> saver = std::make_shared<MemorySaver>();
  std::shared_ptr<RecordedEvents> events = std::make_shared<RecordedEvents>();
};

// A listener that records its notifications.
class Listener : public CheckpointSaverListener {
 public:
  Listener(std::vector<std::string>& calls, int64_t stop_at) : calls_(calls), stop_at_(stop_at) {}
  absl::Status Begin(Graph&) override { return Say("begin", -1); }
  absl::Status BeforeSave(Session&, int64_t step) override { return Say("before", step); }
  absl::StatusOr<bool> AfterSave(Session&, int64_t step) override {
    Say("after", step).IgnoreError();
    return step == stop_at_;
  }
  absl::Status End(Session&, int64_t step) override { return Say("end", step); }

 private:
  absl::Status Say(const char* call, int64_t step) {
    calls_.push_back(step < 0 ? call : StrCat(call, " ", step));
    return absl::OkStatus();
  }
  std::vector<std::string>& calls_;
  const int64_t stop_at_;
};

TEST(CheckpointSaverHookTest, SavesBeforeTheFirstStepAsOftenAsAskedAndAtTheEnd) {
  Training t;
  std::vector<std::string> calls;
  auto hook = std::make_shared<CheckpointSaverHook>(
      CheckpointSaverOptions{.checkpoint_dir = t.folder,
                             .every = {.steps = 2},
                             .saver = t.saver,
                             .listeners = {std::make_shared<Listener>(calls, -1)},
                             .open_events = t.Open()});
  MonitoredSession session(t.g, nullptr, {hook, StopAtStep(5)});
  t.Loop(session);
  const std::string prefix = t.folder + "/model.ckpt-";
  EXPECT_THAT(t.saver->paths(),
              ElementsAre(prefix + "0", prefix + "2", prefix + "4", prefix + "5"));
  EXPECT_THAT(calls, ElementsAre("begin", "before 0", "after 0", "before 2", "after 2", "before 4",
                                 "after 4", "before 5", "after 5", "end 5"));
  EXPECT_THAT(t.events->lines, ElementsAre("graph", "meta graph", "checkpoint @0", "checkpoint @2",
                                           "checkpoint @4", "checkpoint @5", "flush"));
  std::ifstream file(t.folder + "/graph.pbtxt");
  std::stringstream graph;
  graph << file.rdbuf();
  EXPECT_THAT(graph.str(), HasSubstr("name: \"global_step\""));
}

TEST(CheckpointSaverHookTest, AListenerCanEndTheLoop) {
  Training t;
  std::vector<std::string> calls;
  auto hook = std::make_shared<CheckpointSaverHook>(
      CheckpointSaverOptions{.checkpoint_dir = t.folder,
                             .every = {.steps = 2},
                             .saver = t.saver,
                             .listeners = {std::make_shared<Listener>(calls, 4)}});
  MonitoredSession session(t.g, nullptr, {hook});
  t.Loop(session);
  EXPECT_EQ(calls.back(), "end 4");
  EXPECT_EQ(t.saver->paths().size(), 3u);
}

TEST(CheckpointSaverHookTest, RefusesOptionsThatMakeNoSense) {
  Training t;
  const auto begin = [&](CheckpointSaverOptions options) {
    return std::string(CheckpointSaverHook(std::move(options)).Begin(t.g).message());
  };
  EXPECT_EQ(
      begin({.every = {.steps = 1}, .saver = t.saver, .scaffold = std::make_shared<Scaffold>()}),
      "You cannot provide both saver and scaffold.");
  EXPECT_EQ(begin({.saver = t.saver}), "Either every_secs or every_steps should be provided.");
  Graph empty;
  EXPECT_EQ(
      CheckpointSaverHook({.checkpoint_dir = t.folder, .every = {.steps = 1}, .saver = t.saver})
          .Begin(empty)
          .message(),
      "Global step should be created to use CheckpointSaverHook.");
}

TEST(SummarySaverHookTest, WritesTheFirstStepAndThenAsOftenAsAsked) {
  Training t;
  auto hook = std::make_shared<SummarySaverHook>(
      SummarySaverOptions{.every = {.steps = 3}, .events = t.events, .summary_ops = {t.text}});
  MonitoredSession session(t.g, nullptr, {hook, StopAtStep(7)});
  t.Loop(session);
  EXPECT_THAT(t.events->lines,
              ElementsAre("start @1", "summary s @1", "summary s @4", "summary s @7", "flush"));
}

TEST(StepCounterHookTest, TellsStepsPerSecond) {
  Training t;
  ManualClock clock;
  auto counter = std::make_shared<StepCounterHook>(
      StepCounterOptions{.every = {.steps = 2}, .events = t.events, .clock = &clock});
  auto tick = std::make_shared<FeedFnHook>([&]() -> absl::StatusOr<std::vector<Feed>> {
    clock.Advance(Clock::Duration(0.5));
    return std::vector<Feed>();
  });
  MonitoredSession session(t.g, nullptr, {tick, counter, StopAtStep(5)});
  t.Loop(session);
  EXPECT_THAT(t.events->lines,
              ElementsAre("scalar global_step/sec 2 @3", "scalar global_step/sec 2 @5"));
  EXPECT_THAT(t.log.text(), HasSubstr("global_step/sec: 2\n"));
}

TEST(ProfilerHookTest, WritesATimelineOfAStepNowAndThen) {
  Training t;
  std::filesystem::create_directories(t.folder);
  auto hook = std::make_shared<ProfilerHook>(
      ProfilerOptions{.every = {.steps = 2}, .output_dir = t.folder, .events = t.events});
  MonitoredSession session(t.g, nullptr, {hook, StopAtStep(5)});
  t.Loop(session);
  ASSERT_FALSE(t.events->lines.empty());
  EXPECT_THAT(t.events->lines[0], ::testing::AnyOf("run step_2", "run step_3"));
  const std::string step = t.events->lines[0].substr(9);
  std::ifstream file(t.folder + "/timeline-" + step + ".json");
  std::stringstream json;
  json << file.rdbuf();
  EXPECT_THAT(json.str(), HasSubstr("\"op\": \"AssignAddVariableOp\""));
}

TEST(MonitoredTrainingSessionTest, GoesOnFromTheLastCheckpoint) {
  Training t;
  for (const int64_t last : {3, 5}) {
    MonitoredTrainingSession session(
        t.g, {.checkpoint_dir = t.folder,
              .scaffold = std::make_shared<Scaffold>(ScaffoldOptions{.saver = t.saver}),
              .open_events = t.Open(),
              .hooks = {StopAtStep(last)},
              .save_checkpoint_steps = 100});
    t.Loop(session);
  }
  const std::string prefix = t.folder + "/model.ckpt-";
  EXPECT_THAT(t.saver->paths(),
              ElementsAre(prefix + "0", prefix + "3", prefix + "3", prefix + "5"));
  EXPECT_THAT(t.saver->recovered(), ElementsAre(prefix + "0", prefix + "3"));
}

// Each run stands for a separate program. The runs share only the folder.
TEST(MonitoredTrainingSessionTest, AnotherProgramGoesOnFromTheFilesOfTheFirst) {
  Training first;
  std::filesystem::remove_all(first.folder);
  for (const int64_t last : {3, 5, 8}) {
    Training t;
    auto hook = std::make_shared<StopAtStepHook>(StopAtStepOptions{.last_step = last});
    std::vector<std::string> calls;
    auto counts = std::make_shared<RecordingHook>("h", calls);
    {
      CapturedLog log;
      MonitoredTrainingSession session(
          t.g, {.checkpoint_dir = t.folder, .hooks = {hook, counts}, .save_checkpoint_steps = 2});
      t.Loop(session);
    }
    const int64_t steps = last == 3 ? 3 : last == 5 ? 2 : 3;
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "h.after_run"), steps);
    EXPECT_TRUE(
        std::filesystem::exists(t.folder + "/model.ckpt-" + std::to_string(last) + ".meta"));
  }
  EXPECT_TRUE(std::filesystem::exists(first.folder + "/checkpoint"));
  // Five checkpoints are kept over all runs: 3, which the second run saves at its start, 5, 7, 8
  // and an earlier one.
  EXPECT_FALSE(std::filesystem::exists(first.folder + "/model.ckpt-0.index"));
  EXPECT_TRUE(std::filesystem::exists(first.folder + "/model.ckpt-8.index"));
}

TEST(MonitoredTrainingSessionTest, HooksStandInTensorFlowsOrder) {
  Training t;
  std::vector<std::string> calls;
  auto mine = std::make_shared<RecordingHook>("mine", calls);
  auto chiefs = std::make_shared<RecordingHook>("chiefs", calls);
  MonitoredTrainingSessionOptions options = {
      .checkpoint_dir = t.folder,
      .scaffold = std::make_shared<Scaffold>(ScaffoldOptions{.saver = t.saver}),
      .hooks = {mine},
      .chief_only_hooks = {chiefs}};
  const auto hooks = TrainingHooks(options);
  ASSERT_TRUE(hooks.ok()) << hooks.status();
  ASSERT_EQ(hooks->size(), 5u);
  EXPECT_EQ((*hooks)[0], chiefs);
  EXPECT_NE(dynamic_cast<StepCounterHook*>((*hooks)[1].get()), nullptr);
  EXPECT_NE(dynamic_cast<SummarySaverHook*>((*hooks)[2].get()), nullptr);
  EXPECT_NE(dynamic_cast<CheckpointSaverHook*>((*hooks)[3].get()), nullptr);
  EXPECT_EQ((*hooks)[4], mine);
  options.save_checkpoint_secs = 0;
  options.save_summaries_steps = 0;
  options.log_step_count_steps = 0;
  EXPECT_EQ(TrainingHooks(options)->size(), 2u);
  options.is_chief = false;
  EXPECT_THAT(*TrainingHooks(options), ElementsAre(mine));
}

// Returns the contents of an event file, one entry per line, without times and sizes.
std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  for (const pb::Event& event : EventsOf(path)) {
    const std::string at = StrCat(" @", event.step());
    if (event.has_graph_def()) lines.push_back("graph" + at);
    if (event.has_meta_graph_def()) lines.push_back("meta graph" + at);
    if (event.has_session_log()) {
      lines.push_back(pb::SessionLog::SessionStatus_Name(event.session_log().status()) + at);
    }
    for (const auto& value : event.summary().value()) lines.push_back(value.tag() + at);
    if (event.has_tagged_run_metadata()) {
      lines.push_back("run " + event.tagged_run_metadata().tag());
    }
  }
  return lines;
}

TEST(MonitoredTrainingSessionTest, WritesEventFilesByItself) {
  Training t;
  std::filesystem::remove_all(t.folder);
  const Output x = Constant(t.g, {1.0f, 2.0f});
  summary::Scalar("loss", Constant(t.g, 0.5f));
  summary::Histogram("x", x);
  auto profiler = std::make_shared<ProfilerHook>(ProfilerOptions{
      .every = {.steps = 3}, .output_dir = t.folder, .events = OpenEventFile(t.folder).value()});
  MonitoredTrainingSession session(t.g, {.checkpoint_dir = t.folder,
                                         .hooks = {profiler, StopAtStep(5)},
                                         .save_checkpoint_steps = 4,
                                         .save_summaries_steps = 2,
                                         .log_step_count_steps = 3});
  t.Loop(session);
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(t.folder)) {
    const std::string name = file.path().filename();
    if (name.starts_with("events.out.tfevents.")) files.push_back(file.path());
  }
  ASSERT_EQ(files.size(), 1u) << "the hooks share a file";
  const std::vector<std::string> lines = LinesOf(files[0]);
  for (const char* line : {"graph @0", "meta graph @0", "START @1", "loss @1", "x @1", "loss @3",
                           "loss @5", "CHECKPOINT @0", "CHECKPOINT @4", "CHECKPOINT @5"}) {
    EXPECT_THAT(lines, ::testing::Contains(line));
  }
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("global_step/sec @")));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("run step_")));
  EXPECT_THAT(lines, ::testing::Not(::testing::Contains("loss @2")));
}

TEST(MonitoredTrainingSessionTest, AFolderThatCannotBeOpenedIsTold) {
  Training t;
  MonitoredTrainingSession session(
      t.g,
      {.checkpoint_dir = t.folder,
       .open_events = [](const std::string&) -> absl::StatusOr<std::shared_ptr<TrainingEvents>> {
         return absl::PermissionDeniedError("read-only");
       }});
  EXPECT_EQ(session.Run({t.train}), absl::PermissionDeniedError("read-only"));
}

}  // namespace
}  // namespace sluice
