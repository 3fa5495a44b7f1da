#include "tests/simulate/sync_world.h"

#include <algorithm>
#include <random>

#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "graph/status.h"
#include "tests/simulate/simulation.h"
#include "tests/simulate/yields.h"

namespace sluice {
namespace {

constexpr int kMaxPauses = 40;

std::vector<float> Floats(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.num_elements()};
}

}  // namespace

SyncWorld::SyncWorld(const WorldOptions& options) : options_(options) {
  for (int i = 0; i < options.replicas; ++i) {
    const std::string own = StrCat("/device:CPU:", i + 1);
    replicas_.push_back(std::make_unique<Replica>(ReplicaGraphOptions{
        .form = options.form,
        .aggregate = options.aggregate,
        .replicas = options.replicas,
        .index = i,
        .attempts = kAttempts,
        .deterministic = options.deterministic,
        .updates = options.updates,
        .devices = [own](const NodeSpec& spec) -> std::string {
          if (!spec.device.empty()) return spec.device;
          const bool is_variable = spec.op == "VariableV2" || spec.op == "VarHandleOp";
          return is_variable ? "/device:CPU:0" : own;
        }}));
    if (replicas_.back()->graph.status().ok()) InsertYields(replicas_.back()->graph);
  }
}

SyncWorld::~SyncWorld() = default;

absl::Status SyncWorld::status() const {
  for (const auto& replica : replicas_) SLUICE_RETURN_IF_ERROR(replica->graph.status());
  return absl::OkStatus();
}

// One training.
struct SyncWorld::Run {
  Run(SyncWorld& world, uint64_t seed)
      : world(world),
        seed(seed),
        options(world.options_),
        simulation(seed),
        devices(DeviceSet::Cpus(options.replicas + 1)) {
    for (const auto& replica : world.replicas_) {
      sessions.push_back(std::make_unique<Session>(
          replica->graph, SessionOptions{.devices = devices,
                                         .intra_op_threads = 1,
                                         .inter_op_threads = 1,
                                         .stall_warning_ms = 0,
                                         .scheduler = simulation.SchedulerOf("")}));
    }
    history.ends.resize(options.replicas + 1);
  }

  absl::Status Prepare() {
    Replica& chief = *world.replicas_[0];
    SLUICE_RETURN_IF_ERROR(sessions[0]->Run({chief.init}));
    SLUICE_RETURN_IF_ERROR(sessions[0]->Run({chief.optimizer->LocalInitOp(/*is_chief=*/true)}));
    SLUICE_RETURN_IF_ERROR(sessions[0]->Run({chief.init_tokens}));
    SLUICE_ASSIGN_OR_RETURN(Tensors tokens, sessions[0]->Run({}, {chief.tokens_left}, {}));
    history.initial_tokens = tokens[0].scalar<int32_t>();
    return RecordUpdate();
  }

  absl::Status RecordUpdate() {
    Replica& chief = *world.replicas_[0];
    SLUICE_ASSIGN_OR_RETURN(Tensors now,
                            sessions[0]->Run({}, {chief.dense, chief.sparse, chief.step}, {}));
    history.dense.push_back(Floats(now[0]));
    history.sparse.push_back(Floats(now[1]));
    history.global_steps.push_back(now[2].scalar<int64_t>());
    return absl::OkStatus();
  }

  absl::Status Chief() {
    Replica& chief = *world.replicas_[0];
    for (int u = 0; u < options.updates; ++u) {
      SLUICE_RETURN_IF_ERROR(
          sessions[0]
              ->Run({}, {}, {chief.optimizer->sync_op()}, {.cancellation = &cancellation})
              .status());
      SLUICE_RETURN_IF_ERROR(RecordUpdate());
      ++updates;
      Simulation::Pause();
    }
    return sessions[0]->Run({chief.close});
  }

  // Returns the gradient of an attempt. In deterministic training it is the same in every training.
  std::vector<Feed> FeedOf(Replica& r, int index, int attempt) {
    const int64_t size = int64_t{options.replicas} * kAttempts;
    Tensor dense(DT_FLOAT, {size});
    if (options.deterministic) {
      std::mt19937 random(static_cast<uint32_t>(index * 1000 + attempt));
      std::uniform_real_distribution<float> uniform(-1, 1);
      for (float& v : dense.flat<float>()) v = uniform(random);
      Tensor values(DT_FLOAT, {3, 1});
      for (float& v : values.flat<float>()) v = uniform(random);
      const int64_t row = attempt % 4;
      return {{r.dense_grad, dense},
              {r.row_values, values},
              {r.row_indices, Tensor::Vector<int64_t>({row, row + 1, row + 3})}};
    }
    std::fill_n(dense.data<float>(), size, 0.0f);
    const int64_t code = int64_t{index} * kAttempts + attempt;
    dense.data<float>()[code] = 1;
    Tensor value(DT_FLOAT, {1, 1});
    value.data<float>()[0] = 1;
    return {{r.dense_grad, dense},
            {r.row_values, value},
            {r.row_indices, Tensor::Vector<int64_t>({code})}};
  }

  absl::Status TrainAs(int index) {
    Replica& r = *world.replicas_[index];
    Session& session = *sessions[index];
    std::mt19937_64 own(seed * 31 + static_cast<uint64_t>(index));
    const bool is_late = options.unruly && own() % 3 == 0;
    const int last = options.unruly && own() % 3 == 0 ? static_cast<int>(own() % 4) : kAttempts;
    if (is_late) {
      const int awaited = static_cast<int>(own() % 3);
      for (int i = 0; i < kMaxPauses && updates < awaited; ++i) Simulation::Pause();
    }
    SLUICE_RETURN_IF_ERROR(session.Run({r.local_init}));
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (attempt == last) {
        --history.replicas_left;
        const absl::Status left = session.Run({r.leave});
        if (absl::IsCancelled(left)) return absl::OkStatus();  // the chief has ended
        if (left.ok()) ++history.tokens_returned;
        return left;
      }
      if (options.unruly && own() % 8 == 0) {  // like a process that restarted
        SLUICE_RETURN_IF_ERROR(session.Run({r.local_init}));
      }
      SLUICE_ASSIGN_OR_RETURN(Tensors step, session.Run({}, {r.local_step}, {}));
      history.pushes.push_back({index, attempt, step[0].scalar<int64_t>()});
      absl::Status done =
          session.Run(FeedOf(r, index, attempt), {}, {r.train}, {.cancellation = &cancellation})
              .status();
      if (!done.ok()) return done;
      ++history.tokens_taken;
    }
    return absl::ResourceExhaustedError("out of attempts: raise kAttempts");
  }

  absl::Status Finish() {
    Replica& chief = *world.replicas_[0];
    OutputList fetches = chief.left;
    fetches.push_back(chief.tokens_left);
    fetches.push_back(chief.totals);
    fetches.push_back(chief.by_update);
    SLUICE_ASSIGN_OR_RETURN(Tensors got, sessions[0]->Run({}, fetches, {}));
    history.by_update = std::move(got.back());
    got.pop_back();
    history.totals = std::move(got.back());
    got.pop_back();
    history.tokens_left = got.back().scalar<int32_t>();
    got.pop_back();
    for (const Tensor& left : got) history.gradients_left += left.scalar<int32_t>();
    return absl::OkStatus();
  }

  SyncWorld& world;
  const uint64_t seed;
  const WorldOptions& options;
  Simulation simulation;
  std::shared_ptr<DeviceSet> devices;
  std::vector<std::unique_ptr<Session>> sessions;
  CancellationManager cancellation;
  History history;
  int updates = 0;
};

absl::StatusOr<History> SyncWorld::Train(uint64_t seed) {
  Run run(*this, seed);
  SLUICE_RETURN_IF_ERROR(run.Prepare());
  run.history.replicas_left = options_.replicas;
  for (int i = 0; i < options_.replicas; ++i) {
    run.simulation.Spawn([&run, i] { run.history.ends[i] = run.TrainAs(i); });
  }
  run.simulation.Spawn([&run] { run.history.ends.back() = run.Chief(); });
  run.history.times_stuck = run.simulation.Run({.on_stuck = [&run] {
    if (run.history.stalls.empty()) {
      for (const auto& session : run.sessions) run.history.stalls += session->StallReport();
    }
    run.cancellation.StartCancel();
  }});
  SLUICE_RETURN_IF_ERROR(run.Finish());
  return std::move(run.history);
}

}  // namespace sluice
