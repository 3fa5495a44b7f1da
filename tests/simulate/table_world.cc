#include "tests/simulate/table_world.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/status.h"
#include "graph/strings.h"
#include "ops/embedding/record_tensors.h"
#include "ops/embedding/row_store.h"
#include "tests/simulate/simulation.h"
#include "tests/simulate/table_model.h"

namespace sluice {
namespace {

constexpr int64_t kKeys = 30;
constexpr int64_t kBatchMax = 8;
constexpr int64_t kDelayMax = 20'000;  // microseconds
constexpr int64_t kServersMax = 4;

// Excludes updates while a part is saved, and all calls while it is restored.
class Gate {
 public:
  explicit Gate(Simulation* world) : world_(world) {}
  void Enter() {
    while (is_closed_) {
      const char me = 0;
      waiting_.push_back(&me);
      world_->Wait(&me);
    }
    ++inside_;
  }
  void Leave() {
    if (--inside_ == 0 && is_closed_) world_->Wake(this);
  }
  void Close() {
    is_closed_ = true;
    if (inside_ > 0) world_->Wait(this);
  }
  void Open() {
    is_closed_ = false;
    for (const char* one : std::exchange(waiting_, {})) world_->Wake(one);
  }

 private:
  Simulation* const world_;
  bool is_closed_ = false;
  int inside_ = 0;
  std::vector<const char*> waiting_;
};

// Lets other calls run, also those that arrive a little later.
void Pause(Simulation* world) {
  if (world->Once(6)) return world->Sleep(world->Draw(kDelayMax / 8));
  Simulation::Pause();
}

struct Server {
  Server(Simulation* simulation, const TableJob& job, ChosenKeys* chosen, TablePart of)
      : world(simulation),
        part(std::move(of)),
        model(job.admission, job.eviction, chosen),
        updates(world),
        lookups(world),
        store(RowStoreOptions{
            .name = part.table,
            .dim = kModelDim,
            .initial_rows = InitialRows::Constant(kModelInitial),
            .slot_values = {kModelSlot},
            .admission = job.admission,
            .eviction = job.eviction,
            .shard = part.shard,
            .num_shards = part.num_shards,
            .clock = [this] { return world->now() / 1000; },
            .observer = [this](TableEvent event, int64_t key) { Observe(event, key); }}) {}

  void Observe(TableEvent event, int64_t key) {
    if (event == TableEvent::kPause) Pause(world);
    // A restore replaces all records of the store and of the model.
    if (is_restoring) return;
    if (event == TableEvent::kAdmitted) model.Admitted(key);
    if (event == TableEvent::kFiltered) model.Filtered(key);
    if (event == TableEvent::kRemoved) model.Removed(key);
  }

  Simulation* const world;
  const TablePart part;
  TableModel model;
  Gate updates, lookups;
  bool is_restoring = false;
  RowStore store;
};

using TensorsByName = std::map<std::string, Tensor>;

class SavedTensors : public TensorSource {
 public:
  explicit SavedTensors(const TensorsByName* tensors) : tensors_(tensors) {}
  std::string Describe() const override { return "of the simulation"; }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& [name, tensor] : *tensors_) all.push_back(name);
    return all;
  }
  absl::StatusOr<std::pair<DataType, TensorShape>> TypeOf(const std::string& name) const override {
    SLUICE_ASSIGN_OR_RETURN(const Tensor tensor, Read(name));
    return std::pair(tensor.dtype(), tensor.shape());
  }
  absl::StatusOr<Tensor> Read(const std::string& name) const override {
    const auto found = tensors_->find(name);
    if (found == tensors_->end()) return absl::NotFoundError(name);
    return found->second;
  }

 private:
  const TensorsByName* const tensors_;
};

struct Checkpoint {
  int64_t global_step = 0;
  TensorsByName tensors;
  std::vector<TableModel::Saved> models;  // by part
};

// One training.
class Run {
 public:
  Run(const TableJob& job, uint64_t seed) : job_(job), world_(seed) {}
  TableVerdict Train();

 private:
  using Servers = std::vector<std::shared_ptr<Server>>;
  using Keys = std::vector<int64_t>;

  void MakeServers(int64_t count);
  void Work();
  Keys DrawKeys();
  // Calls `call` for each server that has some of the keys, and for the others if `all`. Waits.
  void Send(const Keys& keys, bool all, const std::function<void(Server&, const Keys&)>& call);
  void LookUp(Server& server, const Keys& keys);
  void Update(Server& server, const Keys& keys, int64_t step, float delta);
  void Remove(Server& server, const Keys& keys);
  void Manage();
  void Save();
  void Restart();
  void Restore(Server& server);
  void CheckAll();
  void Fail(const std::string& what);
  bool IsOver() const { return !verdict_.failure.empty(); }
  void CountEvents(const Server& server);

  const TableJob& job_;
  Simulation world_;
  TableVerdict verdict_;
  ChosenKeys chosen_;
  Servers servers_;
  Servers former_;  // alive until the end, because calls may be running
  int64_t global_step_ = 0;
  int working_ = 0;
  std::shared_ptr<const Checkpoint> checkpoint_;
};

void Run::Fail(const std::string& what) {
  if (verdict_.failure.empty()) verdict_.failure = what;
}

void Run::MakeServers(int64_t count) {
  for (const auto& server : servers_) former_.push_back(server);
  servers_.clear();
  for (int64_t i = 0; i < count; ++i) {
    servers_.push_back(
        std::make_shared<Server>(&world_, job_, &chosen_, TablePart{"table", i, count}));
  }
}

Run::Keys Run::DrawKeys() {
  Keys keys(static_cast<size_t>(1 + world_.Draw(kBatchMax)));
  // Half of the keys are a few that stay in use.
  for (int64_t& key : keys) key = world_.Draw(world_.Once(2) ? kKeys : kKeys / 6) * 7919 - 5;
  return keys;
}

void Run::Send(const Keys& keys, bool all, const std::function<void(Server&, const Keys&)>& call) {
  const Servers servers = servers_;
  int running = 0;
  for (const auto& server : servers) {
    Keys own;
    for (const int64_t key : keys) {
      const auto parts = static_cast<uint64_t>(server->part.num_shards);
      if (RowStore::ShardOf(key, parts) == server->part.shard) own.push_back(key);
    }
    if (own.empty() && !all) continue;
    ++running;
    world_.Spawn([this, server, own = std::move(own), &running, &call] {
      world_.Sleep(world_.Draw(kDelayMax));
      call(*server, own);
      if (--running == 0) world_.Wake(&running);
    });
  }
  if (running > 0) world_.Wait(&running);
}

void Run::LookUp(Server& server, const Keys& keys) {
  server.lookups.Enter();
  // A server that was replaced is not reached anymore.
  const bool is_former = !std::count_if(servers_.begin(), servers_.end(),
                                        [&](const auto& s) { return s.get() == &server; });
  Server* answers = &server;
  if (job_.bug == TableBug::kFormerServer && !former_.empty() && !is_former) {
    const Server& old = *former_.back();
    if (old.part.num_shards == server.part.num_shards) {
      answers =
          former_[former_.size() - static_cast<size_t>(old.part.num_shards - server.part.shard)]
              .get();
    }
  }
  ++verdict_.lookups;
  TableModel::Lookup lookup(&server.model, keys);
  std::vector<float> rows(keys.size() * kModelDim);
  answers->store.Gather(keys, rows.data());
  if (!is_former) lookup.Check(rows);
  server.lookups.Leave();
}

void Run::Update(Server& server, const Keys& keys, int64_t step, float delta) {
  server.updates.Enter();
  ++verdict_.updates;
  std::vector<int64_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), int64_t{0});
  step = server.store.BeginUpdate(step);
  server.model.Begin(step, world_.now() / 1000);
  const absl::Status status =
      server.store.Update(keys, positions, step, [&](int64_t position, void* row, char* slots) {
        const int64_t key = keys[static_cast<size_t>(position)];
        server.model.Updated(key, *static_cast<ModelRow*>(row), *reinterpret_cast<ModelRow*>(slots),
                             {delta, static_cast<float>(position) - 1});
      });
  if (!status.ok()) Fail(status.ToString());
  server.updates.Leave();
}

void Run::Remove(Server& server, const Keys& keys) {
  server.updates.Enter();
  for (const int64_t key : keys) server.model.BeginRemoval(key);
  server.store.Remove(keys);
  for (const int64_t key : keys) server.model.EndRemoval(key);
  server.updates.Leave();
}

// A worker. Steps are drawn before their updates are sent, so updates arrive in another order.
void Run::Work() {
  for (int round = 0; round < job_.rounds && !IsOver(); ++round) {
    const Keys keys = DrawKeys();
    Send(keys, false, [this](Server& server, const Keys& own) { LookUp(server, own); });
    world_.Sleep(world_.Draw(kDelayMax));
    if (world_.Once(16)) {
      Send({keys[0]}, false, [this](Server& server, const Keys& own) { Remove(server, own); });
    }
    const int64_t step = job_.has_global_step ? global_step_++ : -1;
    const auto delta = static_cast<float>(world_.Draw(5) - 2);
    Send(keys, true, [this, step, delta](Server& server, const Keys& own) {
      Update(server, own, step, delta);
    });
  }
  --working_;
}

void Run::Save() {
  auto made = std::make_shared<Checkpoint>();
  made->global_step = global_step_;
  const Servers servers = servers_;
  for (const auto& server : servers) {
    world_.Sleep(world_.Draw(kDelayMax));
    const bool waits = job_.bug != TableBug::kSaveDuringUpdates;
    if (waits) server->updates.Close();
    made->models.push_back(
        {std::make_shared<const TableModel>(server->model), world_.now() / 1000});
    const absl::Status status =
        SaveTable(server->store, server->part, [&](const std::string& name, const Tensor& tensor) {
          Pause(&world_);
          made->tensors[name] = tensor;
          return absl::OkStatus();
        });
    if (!status.ok()) Fail(status.ToString());
    if (waits) server->updates.Open();
  }
  ++verdict_.saves;
  world_.Tell(StrCat("saved ", servers.size(), " parts, ", made->tensors.size(), " tensors"));
  checkpoint_ = made;
}

void Run::Restore(Server& server) {
  server.is_restoring = true;
  TensorsByName tensors = checkpoint_->tensors;
  if (job_.bug == TableBug::kForgottenCounts) {
    std::erase_if(tensors, [](const auto& one) {
      return one.first.find("/rules/waiting") != one.first.npos;
    });
  }
  const absl::Status status = RestoreTable(SavedTensors(&tensors), server.part, server.store);
  if (!status.ok()) Fail(status.ToString());
  // Reads only the saved parts that may have keys of this part.
  const auto count = static_cast<int64_t>(checkpoint_->models.size());
  const int64_t shard = server.part.shard, shards = server.part.num_shards;
  std::vector<TableModel::Saved> models;
  for (int64_t i = 0; i < count; ++i) {
    if (i * shards < (shard + 1) * count && shard * count < (i + 1) * shards) {
      models.push_back(checkpoint_->models[static_cast<size_t>(i)]);
    }
  }
  server.model.Restore(models, world_.now() / 1000, [&](int64_t key) {
    return RowStore::ShardOf(key, static_cast<uint64_t>(shards)) == shard;
  });
  server.is_restoring = false;
}

// All servers are replaced by new ones, or go back to the checkpoint themselves.
void Run::Restart() {
  const auto count = static_cast<int64_t>(servers_.size());
  const int64_t next = world_.Once(3) ? count : 1 + world_.Draw(kServersMax);
  const bool is_in_place = next == count && world_.Once(2) && checkpoint_ != nullptr;
  world_.Tell(StrCat(is_in_place ? "rolls back " : "restarts ", count, " servers as ", next));
  if (!is_in_place) MakeServers(next);
  for (const auto& server : servers_) {
    server->updates.Close();
    server->lookups.Close();
  }
  if (checkpoint_ != nullptr) {
    for (const auto& server : servers_) Restore(*server);
    global_step_ = checkpoint_->global_step;
    ++verdict_.restores;
  }
  for (const auto& server : servers_) {
    server->model.CheckAll(server->store);
    server->updates.Open();
    server->lookups.Open();
  }
}

void Run::Manage() {
  while (working_ > 0 && !IsOver()) {
    world_.Sleep(world_.Draw(6 * kDelayMax));
    if (world_.Once(3)) {
      Restart();
    } else {
      Save();
    }
  }
}

void Run::CheckAll() {
  for (const auto& server : servers_) server->model.CheckAll(server->store);
}

void Run::CountEvents(const Server& server) {
  const RowStore::Counts counts = server.store.counts();
  verdict_.admitted += counts.admitted;
  verdict_.evicted += counts.evicted;
  if (verdict_.failure.empty()) verdict_.failure = server.model.failure();
}

TableVerdict Run::Train() {
  MakeServers(1 + world_.Draw(kServersMax));
  for (; working_ < job_.workers; ++working_) world_.Spawn([this] { Work(); });
  world_.Spawn([this] { Manage(); });
  const int times_stuck = world_.Run({.after_each =
                                          [this] {
                                            for (const auto& server : servers_) {
                                              if (!server->model.failure().empty()) {
                                                Fail(server->model.failure());
                                              }
                                            }
                                          },
                                      .on_stuck = [this] { Fail("E7: calls do not end"); },
                                      .time_limit = 60'000'000});
  if (times_stuck == 0) CheckAll();
  for (const auto& server : servers_) CountEvents(*server);
  for (const auto& server : former_) CountEvents(*server);
  verdict_.story = world_.story();
  verdict_.time_us = world_.now();
  return verdict_;
}

}  // namespace

TableVerdict TableWorld::Train(uint64_t seed) const {
  auto run = std::make_unique<Run>(job_, seed);
  return run->Train();
}

}  // namespace sluice
