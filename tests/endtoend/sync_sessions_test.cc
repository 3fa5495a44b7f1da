// Synchronous replicas in MonitoredTrainingSessions, each in a thread: their end, their counts, and
// their checkpoints. The numbers in tests' names are rows of docs/demands.md.
#include <atomic>
#include <filesystem>
#include <thread>

#include "executor/device/device_set.h"
#include "gmock/gmock.h"
#include "graph/build/container.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "training/loop/log.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr int kVariables = 12;

std::string NewFolder() {
  std::string folder = ::testing::TempDir() + "/sync_XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

enum class Form { kAccumulators, kQueues };

std::unique_ptr<ReplicaSynchronizer> MakeOptimizer(Form form, std::unique_ptr<Optimizer> inner,
                                                   SyncReplicasOptions options) {
  if (form == Form::kAccumulators) {
    return std::make_unique<SyncReplicasOptimizer>(std::move(inner), std::move(options));
  }
  return std::make_unique<LegacySyncReplicasOptimizer>(std::move(inner), std::move(options));
}

// A replica. The gradient of all variables is the number that is fed.
struct Replica {
  Replica(Form form, int index, SyncReplicasOptions options, std::shared_ptr<DeviceSet> devices,
          const std::string& container = "")
      : index(index), devices(std::move(devices)), average(0.5f) {
    options.replica_id = index;
    options.variable_averages = &average;
    // Each step adds the sum of all gradients so far, so the slot shows the step, too.
    optimizer = MakeOptimizer(
        form, std::make_unique<Momentum>(MomentumOptions{.learning_rate = 1.0f, .momentum = 1.0f}),
        options);
    const std::string own = StrCat("/device:CPU:", index + 1);
    const ContainerScope of_job(graph, container);
    DeviceScope place(graph, [own](const NodeSpec& spec) -> std::string {
      if (!spec.device.empty()) return spec.device;
      return spec.op == "VariableV2" || spec.op == "VarHandleOp" ? "/device:CPU:0" : own;
    });
    step = GlobalStep(graph);
    gradient = Placeholder(graph, DT_FLOAT, {}, "gradient");
    GradientsAndVariables pairs;
    for (int i = 0; i < kVariables; ++i) {
      const Variable v(graph, StrCat("v", i), {1000}, Zeros());
      pairs.push_back({Fill(Constant(graph, {1000}), gradient), v});
      if (i == 0) first = v.Read();
    }
    train = optimizer->ApplyGradients(pairs, {.global_step = &step}).value_or(Operation());
    local_step = optimizer->LocalStep();
    global_step = step.Read();
  }

  bool is_chief() const { return index == 0; }

  absl::Status Start(MonitoredTrainingSessionOptions options = {}) {
    options.is_chief = is_chief();
    options.target.config.devices = devices;
    options.hooks.push_back(optimizer->MakeSessionRunHook(
        is_chief(), -1, [this](auto& line) { reports.push_back(line); }));
    session = std::make_unique<MonitoredTrainingSession>(graph, std::move(options));
    return session->status();
  }

  // Runs at most `most` steps, until the loop ends. The gradient of a step is `value(step)`.
  absl::Status Train(int64_t most, const std::function<float(int64_t)>& value) {
    while (steps < most && !(is_over && is_over()) && !session->ShouldStop()) {
      const auto out = session->Run({{gradient, Tensor::Scalar(value(steps))}}, {}, {train});
      if (!out.ok()) {
        end = out.status();
        break;
      }
      ++steps;
      if (on_step) on_step();
    }
    const absl::Status closed = session->Close();
    has_ended = true;
    return closed;
  }

  // The local and the global step.
  std::pair<int64_t, int64_t> Steps() {
    const Tensors out = session->session()->Run({}, {local_step, global_step}).value();
    return {out[0].scalar<int64_t>(), out[1].scalar<int64_t>()};
  }

  const int index;
  const std::shared_ptr<DeviceSet> devices;
  ExponentialMovingAverage average;
  std::unique_ptr<ReplicaSynchronizer> optimizer;
  Graph graph;
  Variable step;
  Output gradient, local_step, global_step, first;
  Operation train;
  std::vector<std::string> reports;
  std::function<void()> on_step;
  std::function<bool()> is_over;
  std::atomic<bool> has_ended{false};
  int64_t steps = 0;  // that this replica computed
  absl::Status end;   // of the replica's last step
  std::unique_ptr<MonitoredTrainingSession> session;
};

// The parameters of all replicas.
struct Plan {
  SyncReplicasOptions sync;
  Form form = Form::kAccumulators;
  int64_t last_step = 1'000'000;      // of the chief
  std::vector<int64_t> batches = {};  // of each replica; empty: without end
  MonitoredTrainingSessionOptions chief = {};
  std::function<float(int replica, int64_t batch)> gradient = [](int, int64_t) { return 1.0f; };
};

class Team {
 public:
  explicit Team(Plan plan) : plan_(std::move(plan)) {
    const int replicas = *plan_.sync.total_num_replicas;
    devices_ = DeviceSet::Cpus(replicas + 1);
    for (int i = 0; i < replicas; ++i) {
      members.push_back(std::make_unique<Replica>(plan_.form, i, plan_.sync, devices_));
    }
  }

  // Trains until all replicas have ended without an error.
  void Train() {
    const LogSink before = SetLogSink([](LogSeverity, const std::string&) {});
    MonitoredTrainingSessionOptions chief = plan_.chief;
    chief.hooks.push_back(StopAtStep(plan_.last_step));
    for (auto& m : members) {
      const absl::Status started = m->Start(m->is_chief() ? chief : decltype(chief)());
      ASSERT_TRUE(started.ok()) << started;
    }
    std::vector<std::thread> threads;
    std::vector<absl::Status> ends(members.size());
    for (auto& m : members) {
      threads.emplace_back([this, &ends, r = m.get()] {
        const int64_t most = plan_.batches.empty() ? 1'000'000 : plan_.batches[r->index];
        ends[r->index] =
            r->Train(most, [this, r](int64_t batch) { return plan_.gradient(r->index, batch); });
      });
    }
    for (std::thread& t : threads) t.join();
    for (const absl::Status& end : ends) EXPECT_TRUE(end.ok()) << end;
    SetLogSink(before);
  }

  int64_t GlobalStepNow() { return Fetch(members[0]->global_step).scalar<int64_t>(); }
  Tensor Fetch(Output output) {
    Session session(members[0]->graph, {.devices = devices_});
    return session.Run({}, {output}, {}).value()[0];
  }

  std::vector<std::unique_ptr<Replica>> members;

 private:
  Plan plan_;
  std::shared_ptr<DeviceSet> devices_;
};

class SyncSessions : public ::testing::TestWithParam<Form> {
 protected:
  Plan PlanOf(SyncReplicasOptions sync) const {
    return {.sync = std::move(sync), .form = GetParam()};
  }
};

// #20342: updates needed 60 gradients of 64 replicas. When 27 had no more data, training stopped.
TEST_P(SyncSessions, Row9TheOthersGoOnWhereReplicasEnd) {
  Plan plan = PlanOf({.replicas_to_aggregate = 3, .total_num_replicas = 4});
  plan.batches = {1'000'000, 1'000'000, 4, 2};
  Team team(plan);
  int64_t two_left = 0, end = 0;
  team.members[0]->is_over = [&] {
    const int64_t step = team.members[0]->Steps().second;
    if (!team.members[2]->has_ended || !team.members[3]->has_ended) two_left = step;
    end = two_left + 40;
    return step >= end;
  };
  team.Train();
  EXPECT_GE(team.GlobalStepNow(), end) << "two replicas went on with updates of three gradients";
  EXPECT_EQ(team.members[2]->steps, 4);
  EXPECT_EQ(team.members[3]->steps, 2);
}

TEST_P(SyncSessions, Row9WhereNobodyCanTakeItsPlaceAllEndAndAreToldWhoIsLeft) {
  Plan plan = PlanOf({.replicas_to_aggregate = 3, .total_num_replicas = 3, .deterministic = true});
  plan.batches = {1000, 1000, 5};
  Team team(plan);
  team.Train();
  EXPECT_LE(team.GlobalStepNow(), 5);
  int told = 0;
  for (const int i : {0, 1}) {
    const absl::Status& end = team.members[i]->end;
    EXPECT_TRUE(absl::IsOutOfRange(end)) << end;
    told +=
        end.message().find(
            "sync_replicas needs 3 gradients an update, and 2 of 3 replicas are left: replica 2 "
            "has ended") != absl::string_view::npos;
  }
  EXPECT_GE(told, 1);
}

// #7970: the chief ended normally, the others hung, and the program never exited.
TEST_P(SyncSessions, Row13WhenTheChiefEndsAllEndWell) {
  Plan plan = PlanOf({.replicas_to_aggregate = 2, .total_num_replicas = 4});
  plan.last_step = 10;
  Team team(plan);
  team.Train();
  EXPECT_GE(team.GlobalStepNow(), 10);
  for (const int i : {1, 2, 3}) EXPECT_TRUE(absl::IsOutOfRange(team.members[i]->end));
}

// #7898: is it right that worker 1 is at step 150 and worker 0 at 120?
TEST_P(SyncSessions, Row15LocalAndGlobalStepAreReportedAndBounded) {
  for (const bool deterministic : {false, true}) {
    Plan plan = PlanOf({.replicas_to_aggregate = 3,
                        .total_num_replicas = deterministic ? 3 : 4,
                        .deterministic = deterministic});
    plan.last_step = 30;
    Team team(plan);
    std::atomic<int64_t> ahead{-1000}, behind{0};
    for (auto& m : team.members) {
      m->on_step = [&, r = m.get()] {
        const auto [local, global] = r->Steps();
        if (local - global > ahead) ahead = local - global;
        if (global - local > behind) behind = global - local;
      };
    }
    team.Train();
    EXPECT_LE(ahead, 0) << "a replica was ahead of the global step";
    if (deterministic) {
      EXPECT_LE(behind, 1);
    }
    for (const auto& m : team.members) {
      ASSERT_FALSE(m->reports.empty());
      EXPECT_THAT(m->reports[0], ::testing::MatchesRegex("local step [0-9]+, global step [0-9]+"));
    }
    EXPECT_THAT(team.members[0]->reports.back(), HasSubstr("gradients applied"));
  }
}

// EasyRec#542: the number of steps had another meaning in sync mode.
TEST_P(SyncSessions, Row18StepsCountGlobalUpdates) {
  for (const int aggregate : {3, 6}) {
    Plan plan = PlanOf(
        {.replicas_to_aggregate = aggregate, .total_num_replicas = 3, .deterministic = true});
    plan.last_step = 12;
    plan.chief.checkpoint_dir = NewFolder();
    Team team(plan);
    team.Train();
    EXPECT_EQ(team.GlobalStepNow(), 12);
    // Batches are counted separately: those of the updates, and the one without a token.
    for (const auto& m : team.members) {
      EXPECT_GE(m->steps, 12 * aggregate / 3 - 1);
      EXPECT_LE(m->steps, 12 * aggregate / 3 + 1);
    }
    EXPECT_THAT(LatestCheckpoint(plan.chief.checkpoint_dir).value_or("none"),
                HasSubstr("model.ckpt-12"));
  }
}

// horovod#708, #26222: with shards of unequal size, all replicas hung at the end. The next tests
// show the three ways to avoid this.
TEST_P(SyncSessions, Row20UnevenShardsFinish) {
  Plan plan = PlanOf(
      {.replicas_to_aggregate = 2, .total_num_replicas = 3, .when_one_ends = WhenOneEnds::kAllEnd});
  plan.batches = {1000, 1000, 6};
  Team team(plan);
  team.Train();
  EXPECT_EQ(team.members[2]->steps, 6);
  EXPECT_LT(team.members[1]->steps, 1000);
}

TEST_P(SyncSessions, Row20UnevenShardsDrop) {
  Plan plan = PlanOf({.replicas_to_aggregate = 2, .total_num_replicas = 3});
  plan.batches = {1'000'000, 20, 6};
  Team team(plan);
  // The chief's shard is the longest.
  team.members[0]->is_over = [&] {
    return team.members[1]->has_ended && team.members[2]->has_ended;
  };
  team.Train();
  EXPECT_EQ(team.members[1]->steps, 20);
  EXPECT_EQ(team.members[2]->steps, 6);
}

TEST_P(SyncSessions, Row20UnevenShardsPad) {
  // Replicas without data push gradients of zero, so the sum of an update is that of the others.
  Plan plan = PlanOf({.replicas_to_aggregate = 2, .total_num_replicas = 2, .deterministic = true});
  plan.last_step = 10;
  plan.gradient = [](int replica, int64_t batch) { return replica == 1 && batch >= 4 ? 0 : 2.0f; };
  Team team(plan);
  team.Train();
  EXPECT_EQ(team.GlobalStepNow(), 10);
  // Velocity and position after 4 updates with the whole gradient and 6 with half of it.
  float velocity = 0, place = 0;
  const float whole = GetParam() == Form::kAccumulators ? 2 : 4;  // the mean, the sum
  for (int step = 0; step < 10; ++step) place -= velocity += step < 4 ? whole : whole / 2;
  EXPECT_EQ(team.Fetch(team.members[0]->first).flat<float>()[0], place);
}

// DeepRec#1023: a checkpoint had weights of one step and moments of another.
TEST_P(SyncSessions, Row31ACheckpointIsOfOneGlobalStep) {
  Plan plan =
      PlanOf({.replicas_to_aggregate = 2, .total_num_replicas = 4, .whole_checkpoints = true});
  // The others continue with updates while the chief saves.
  plan.batches = {40, 1'000'000, 1'000'000, 1'000'000};
  plan.chief.checkpoint_dir = NewFolder();
  plan.chief.save_checkpoint_steps = 1;
  plan.chief.open_events = nullptr;
  plan.chief.scaffold = std::make_shared<Scaffold>(ScaffoldOptions{
      .saver = std::make_shared<Saver>(SaverOptions{.max_to_keep = 0, .verify = false})});
  Team team(plan);
  team.Train();
  const float gradient = GetParam() == Form::kAccumulators ? 1 : 2;
  int checkpoints = 0;
  for (const auto& file : std::filesystem::directory_iterator(plan.chief.checkpoint_dir)) {
    if (file.path().extension() != ".index") continue;
    const std::string path = std::filesystem::path(file.path()).replace_extension().string();
    const auto reader = CheckpointReader::Open(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto first = [&](const std::string& name) {
      const Tensor t = (*reader)->Read(name).value();
      EXPECT_EQ(t.flat<float>()[0], t.flat<float>()[999]) << path << " " << name;
      return t.flat<float>()[0];
    };
    const auto step = (*reader)->Read("global_step").value().scalar<int64_t>();
    float velocity = 0, place = 0, average = 0;
    for (int64_t s = 0; s < step; ++s) {
      place -= velocity += gradient;
      average -= (average - place) * 0.5f;
    }
    for (int i = 0; i < kVariables; ++i) {
      const std::string v = StrCat("v", i);
      EXPECT_EQ(first(v), place) << path << " " << v;
      EXPECT_EQ(first(v + "/Momentum"), velocity) << path << " " << v;
      EXPECT_EQ(first(v + "/ExponentialMovingAverage"), average) << path << " " << v;
    }
    ++checkpoints;
  }
  EXPECT_GE(checkpoints, 10);
}

// A program that continues from a checkpoint ends with the bits of an uninterrupted one.
TEST_P(SyncSessions, GoOnFromACheckpointToTheSameBits) {
  std::vector<std::string> bytes;
  for (const bool interrupted : {false, true}) {
    Plan plan = PlanOf({.replicas_to_aggregate = 4,
                        .total_num_replicas = 2,
                        .deterministic = true,
                        .whole_checkpoints = true});
    plan.chief.checkpoint_dir = NewFolder();
    plan.chief.open_events = nullptr;
    int64_t begin = 0;
    for (const int64_t last : {7, 15}) {
      if (!interrupted && last == 7) continue;
      plan.last_step = last;
      plan.gradient = [begin](int replica, int64_t batch) {
        return 0.1f * static_cast<float>(1 + (2 * begin + batch) * 3 + replica);
      };
      Team team(plan);
      team.Train();
      EXPECT_EQ(team.GlobalStepNow(), last);
      begin = last;
    }
    const auto reader = CheckpointReader::Open(plan.chief.checkpoint_dir).value();
    std::string all;
    for (const SavedTensor& t : reader->tensors()) {
      if (t.name == "local_steps") continue;  // tokens in flight
      const Tensor value = reader->Read(t.name).value();
      all.append(static_cast<const char*>(value.raw()), value.bytes());
    }
    bytes.push_back(std::move(all));
  }
  EXPECT_TRUE(bytes[0] == bytes[1]);
}

// #16315, #2456, #11877: variables and closed queues of one job broke the next.
TEST_P(SyncSessions, Row28WhatAJobLeavesBehindTheNextDoesNotMeet) {
  auto devices = DeviceSet::Cpus(2);
  const auto run = [&](const std::string& job, int64_t last) {
    Replica replica(GetParam(), 0, {.replicas_to_aggregate = 1, .total_num_replicas = 1}, devices,
                    job);
    SLUICE_RETURN_IF_ERROR(replica.Start({.hooks = {StopAtStep(last)}}));
    // The token queue is closed at its end.
    return replica.Train(1000, [](int64_t) { return 1.0f; });
  };
  const auto step_of = [&](const std::string& job) -> int64_t {
    Graph g;
    Output step;
    {
      ContainerScope of_job(g, job);
      DeviceScope on(g, "/device:CPU:0");
      step = GlobalStep(g).Read();
    }
    const auto out = Session(g, {.devices = devices}).Run({}, {step});
    return out.ok() ? (*out)[0].scalar<int64_t>() : -1;
  };
  EXPECT_TRUE(run("a", 5).ok());
  EXPECT_TRUE(run("b", 7).ok()) << "the queue of tokens that the first closed is not its own";
  EXPECT_EQ(step_of("a"), 5);
  EXPECT_EQ(step_of("b"), 7);
  ResetContainers(*devices, {"a"});
  EXPECT_EQ(step_of("a"), -1) << "no value";
  EXPECT_EQ(step_of("b"), 7);
  EXPECT_TRUE(run("a", 3).ok()) << "the same job, anew";
  EXPECT_EQ(step_of("a"), 3);
}

// Invariant S7 (docs/internals.md): if no update could ever happen, this is reported before the
// first step.
TEST_P(SyncSessions, AChiefWithoutTheQueueRunnerIsRefused) {
  Replica chief(GetParam(), 0, {.replicas_to_aggregate = 1, .total_num_replicas = 1},
                DeviceSet::Cpus(2));
  const MonitoredTrainingSession session(chief.graph,
                                         {.target = {.config = {.devices = chief.devices}}});
  EXPECT_EQ(
      session.status(),
      absl::InvalidArgumentError(StrCat(
          "sync_replicas can never make an update (ChiefQueueRunner, or the hook of the "
          "chief): the queue runner of '",
          GetParam() == Form::kAccumulators ? "sync_token_q" : "dummy_queue", "' is not started")));

  Replica other(GetParam(), 0, {.replicas_to_aggregate = 1, .total_num_replicas = 1},
                DeviceSet::Cpus(2));
  AddQueueRunner(other.graph, other.optimizer->ChiefQueueRunner().value());
  const MonitoredTrainingSession started(other.graph,
                                         {.target = {.config = {.devices = other.devices}}});
  EXPECT_TRUE(started.status().ok()) << started.status();
}

INSTANTIATE_TEST_SUITE_P(Forms, SyncSessions, ::testing::Values(Form::kAccumulators, Form::kQueues),
                         [](const auto& info) {
                           return info.param == Form::kQueues ? "Queues" : "Accumulators";
                         });

}  // namespace
}  // namespace sluice
