#include "tests/simulate/cluster_world.h"

#include <utility>

#include "graph/status.h"
#include "tests/simulate/cluster_run.h"

namespace sluice {
namespace {

std::string WorkerTask(int i) { return StrCat("/job:worker/replica:0/task:", i); }

}  // namespace

ClusterWorld::ClusterWorld(const ClusterOptions& options) : options_(options) {
  for (int i = 0; i <= options.replicas; ++i) {
    const int index = i % options.replicas;  // the chief belongs to worker 0
    const std::string own = WorkerTask(index) + "/device:CPU:0";
    graphs_.push_back(std::make_unique<ReplicaGraph>(ReplicaGraphOptions{
        .form = options.form,
        .aggregate = options.aggregate,
        .replicas = options.replicas,
        .index = index,
        .attempts = options.attempts,
        .noise = kNoise,
        .deterministic = options.deterministic,
        .updates = options.updates,
        .devices = [own](const NodeSpec& spec) -> std::string {
          if (!spec.device.empty()) return spec.device;
          const bool is_variable = spec.op == "VariableV2" || spec.op == "VarHandleOp";
          return is_variable ? StrCat(kServer, "/device:CPU:0") : own;
        }}));
  }
}

ClusterWorld::~ClusterWorld() = default;

absl::Status ClusterWorld::status() const {
  for (const auto& graph : graphs_) SLUICE_RETURN_IF_ERROR(graph->graph.status());
  return absl::OkStatus();
}

FakeWire::Options ClusterRun::WireOptions() {
  FakeWire::Options wire;
  // Mostly fast, sometimes slow, so that messages overtake each other.
  wire.delay = [this]() -> int64_t {
    return world_.Once(10) ? 1000 + world_.Draw(20'000) : 50 + world_.Draw(200);
  };
  wire.is_lost = [this] {
    return loss_ > 0 && world_.now() < loses_until_us_ && world_.Once(loss_);
  };
  wire.blocking = {"/tensorflow.WorkerService/RunGraph", "/tensorflow.MasterService/CreateSession",
                   "/tensorflow.MasterService/ExtendSession", "/tensorflow.MasterService/RunStep",
                   "/tensorflow.MasterService/CloseSession"};
  return wire;
}

SessionOptions ClusterRun::OptionsOf(const std::string& task) {
  return {.intra_op_threads = 1,
          .inter_op_threads = 1,
          .warn = [](const std::string&) {},
          .stall_warning_ms = 0,
          .scheduler = world_.SchedulerOf(task)};
}

TaskRef ClusterRun::StartTask(const TaskName& name) {
  auto task = std::make_shared<SimulatedTask>();
  const std::string full = name.ToString();
  task->name = name;
  task->address = *spec_.Address(name);
  task->devices = DeviceSet::Cpus(1, full);
  task->client = wire_.ClientOf(task->address);
  task->addresses = std::make_shared<AddressBook>(spec_);
  const auto receive_from = [client = task->client.get()](std::shared_ptr<const AddressBook> book) {
    return ReceiveOver(std::move(book), client);
  };
  task->rendezvous = std::make_unique<StepRendezvousTable>(full, receive_from(task->addresses));
  task->connection = {name,
                      task->address,
                      task->addresses,
                      task->client.get(),
                      task->rendezvous.get(),
                      &task->stopping,
                      kConnectMs,
                      task->devices->device(0).incarnation};
  task->worker = std::make_unique<Worker>(full, task->devices, task->rendezvous.get(),
                                          task->addresses.get(), receive_from, OptionsOf(full));
  task->master = std::make_unique<Master>(
      MasterOptions{full, task->devices, OptionsOf(full), &task->connection});
  std::vector<RpcMethod> methods = task->worker->Methods();
  for (RpcMethod& method : task->master->Methods()) methods.push_back(std::move(method));
  for (RpcMethod& method : methods) {
    // The task lives as long as its methods may be called.
    method.handle = [task, handle = std::move(method.handle)](RpcCall& call) { handle(call); };
  }
  wire_.Open(task->address, std::move(methods));
  tasks_[full] = task;
  world_.Tell(StrCat(full, " starts at ", task->address));
  return task;
}

void ClusterRun::StartWorker(int index) {
  const TaskRef task = StartTask({"worker", index});
  world_.Spawn([this, task, index] { Replica(task, index); });
}

// Ends a task like a killed process: only its connections notify others. Its threads then end.
void ClusterRun::End(const TaskRef& task) {
  task->is_dead = true;
  if (task->name.job == "ps") is_restored_ = false;
  wire_.Close(task->address);
  task->stopping.StartCancel();
  task->worker->CancelSteps();
  tasks_.erase(task->name.ToString());
}

// The last number is the parameter server.
TaskName ClusterRun::Victim(int number) const {
  return number == options_.replicas ? TaskName{"ps", 0} : TaskName{"worker", number};
}

void ClusterRun::PlanFaults() {
  if (!options_.has_faults || world_.Once(4)) return;
  if (world_.Once(2)) {
    loss_ = world_.Once(2) ? 50 : 300;
    loses_until_us_ = 200'000 + world_.Draw(1'500'000);
  }
  disk_us_ = world_.Once(2) ? 200'000 : 2'000;
  for (int64_t i = world_.Draw(3); i > 0; --i) {
    PlanCrash(static_cast<int>(world_.Draw(options_.replicas + 1)));
  }
  for (int64_t i = world_.Draw(3); i > 0; --i) {
    PlanOutage(static_cast<int>(world_.Draw(options_.replicas + 1)));
  }
}

void ClusterRun::PlanCrash(int victim) {
  world_.At(20'000 + world_.Draw(400'000), [this, victim] {
    const TaskName name = Victim(victim);
    const auto found = tasks_.find(name.ToString());
    if (is_over() || found == tasks_.end()) return;
    world_.Tell(StrCat(name.ToString(), " crashes"));
    ++verdict_.crashes;
    End(TaskRef(found->second));
    world_.At(60'000 + world_.Draw(300'000), [this, name, victim] {
      if (is_over()) return;
      if (name.job == "ps") {
        ++life_;
        StartTask(name);
        return;
      }
      // A restart at another address, which the others learn from the task itself.
      if (world_.Once(2)) spec_.SetAddress(name, StrCat("w", ++moves_, ":", victim));
      StartWorker(victim);
    });
  });
}

void ClusterRun::PlanOutage(int victim) {
  world_.At(world_.Draw(400'000), [this, victim] {
    const auto found = tasks_.find(Victim(victim).ToString());
    if (is_over() || found == tasks_.end()) return;
    const int64_t microseconds = 1'000 + world_.Draw(80'000);
    world_.Tell(StrCat(found->first, " is cut off for ", microseconds / 1000, " ms"));
    wire_.Cut(found->second->address, microseconds);
  });
}

void ClusterRun::CloseAll() {
  const auto tasks = tasks_;
  for (const auto& [name, task] : tasks) End(task);
}

Verdict ClusterRun::Run() {
  spec_.SetAddress({"ps", 0}, "ps:0");
  for (int i = 0; i < options_.replicas; ++i) spec_.SetAddress({"worker", i}, StrCat("w:", i));
  uses_masters_ = options_.uses_masters && world_.Once(2);
  PlanFaults();
  StartTask({"ps", 0});
  for (int i = 0; i < options_.replicas; ++i) StartWorker(i);
  bool has_closed = false;
  const auto after_each = [&] {
    if (!is_over()) Look();
    if (!is_over() || std::exchange(has_closed, true)) return;
    world_.At(is_trained_ ? 300'000 : 0, [this] { CloseAll(); });
  };
  const auto on_stuck = [&] {
    if (is_out_of_attempts_) {  // too many faults for so few attempts
      is_given_up_ = true;
      return CloseAll();
    }
    std::string waits;
    for (const auto& [name, task] : tasks_) {
      for (const Session* session : task->sessions) StrAppend(&waits, session->StallReport());
    }
    Fail(StrCat("S3: nobody can go on\n", waits));
    CloseAll();
  };
  // All workers may have crashed and not have returned yet.
  const auto goes_on = [this] { return !is_over(); };
  world_.Run({after_each, on_stuck, options_.time_limit_us, goes_on});
  verdict_.is_trained = is_trained_;
  verdict_.time_us = world_.now();
  verdict_.calls = wire_.calls();
  verdict_.fingerprint = wire_.fingerprint();
  CloseAll();
  world_.Settle();
  verdict_.story = world_.story();
  return std::move(verdict_);
}

Verdict ClusterWorld::Train(uint64_t seed) {
  ClusterRun run(*this, seed);
  return run.Run();
}

}  // namespace sluice
