#include "tests/simulate/cluster_world.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "distributed/cluster/cluster_spec.h"
#include "distributed/master/cluster_tasks.h"
#include "distributed/rendezvous/step_rendezvous.h"
#include "distributed/worker/worker.h"
#include "executor/device/device_set.h"
#include "executor/session/session.h"
#include "executor/step/cancellation.h"
#include "graph/status.h"
#include "ops/state/variable_resource.h"
#include "tests/simulate/fake_wire.h"
#include "tests/simulate/simulation.h"

namespace sluice {
namespace {

const char* const kServer = "/job:ps/replica:0/task:0";

std::string WorkerTask(int i) { return StrCat("/job:worker/replica:0/task:", i); }

std::vector<float> Floats(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.num_elements()};
}

// Which of several errors that follow from one loss comes first is left to the machine.
std::string Shortly(const absl::Status& status) {
  if (absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsCancelled(status)) {
    return "connection lost";
  }
  return status.ToString();
}

// What an update puts as many tokens as: the dims of the Fill that EnqueueMany puts.
absl::StatusOr<Output> TokensOfUpdate(const Operation& sync_op) {
  if (!sync_op.node->op().starts_with("QueueEnqueueMany")) {
    return absl::InternalError("the update does not end with its tokens");
  }
  return sync_op.node->inputs()[1].node->inputs()[0];
}

}  // namespace

ClusterWorld::ClusterWorld(const ClusterOptions& options) : options_(options) {
  for (int i = 0; i <= options.replicas; ++i) {
    const int index = i % options.replicas;  // the chief is worker 0's
    const std::string own = WorkerTask(index) + "/device:CPU:0";
    graphs_.push_back(std::make_unique<ReplicaGraph>(ReplicaGraphOptions{
        .form = options.form,
        .aggregate = options.aggregate,
        .replicas = options.replicas,
        .index = index,
        .attempts = options.attempts,
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

// A process of the cluster, from its start to its end.
struct SimulatedTask {
  TaskName name;
  std::string address;
  std::shared_ptr<DeviceSet> devices;
  std::unique_ptr<RpcClient> client;
  std::unique_ptr<StepRendezvousTable> rendezvous;
  ClusterConnection connection;
  std::unique_ptr<Worker> worker;
  CancellationManager closing;
  std::set<Session*> sessions;
  bool is_dead = false;
};
using TaskRef = std::shared_ptr<SimulatedTask>;

// What happens with one seed.
class ClusterRun {
 public:
  ClusterRun(ClusterWorld& owner, uint64_t seed)
      : owner_(owner), options_(owner.options_), world_(seed), wire_(&world_, WireOptions()) {}
  Verdict Run();

 private:
  struct State {
    int64_t step = 0;
    std::vector<float> dense, sparse;
  };
  struct Push {
    int64_t local_step;
    int life;  // of the parameter server
  };

  FakeWire::Options WireOptions();
  SessionOptions OptionsOf(const std::string& task);
  TaskRef StartTask(const TaskName& name);
  void StartWorker(int index);
  void End(TaskRef task);
  void PlanFaults();

  absl::Status Connect(const TaskRef& task, ReplicaGraph& graph,
                       const std::function<absl::Status(Session&)>& use);
  void Replica(const TaskRef& task, int index);
  absl::Status Compute(const TaskRef& task, int index, Session& session);
  void Chief(const TaskRef& task);
  absl::Status Lead(const TaskRef& task, Session& session);
  absl::Status Prepare(Session& session, ReplicaGraph& graph);
  absl::Status Update(Session& session, ReplicaGraph& graph) const;
  absl::Status Save(const TaskRef& task, Session& session, ReplicaGraph& graph);
  std::vector<Feed> FeedOf(ReplicaGraph& graph, int index, int attempt) const;

  bool Observe(State* state) const;
  void Look();
  void CheckUpdate(const State& from, const State& to);
  void CheckEnd(Session& session);
  void Fail(const std::string& what);
  bool is_over() const { return !verdict_.failure.empty() || is_trained_; }

  ClusterWorld& owner_;
  const ClusterOptions& options_;
  Simulation world_;
  FakeWire wire_;
  ClusterSpec spec_;
  int loss_ = 0;  // a message in so many; 0: none
  int64_t disk_us_ = 0;
  std::map<std::string, TaskRef> tasks_;  // by name; those that are up
  int sessions_ = 0;
  bool is_trained_ = false;

  std::map<int, int> attempts_;                 // so far, by replica
  std::map<std::pair<int, int>, Push> pushes_;  // by replica and attempt
  std::set<std::pair<int, int>> used_;          // by updates of this lineage
  std::map<int, int64_t> applied_;              // gradients that were seen, by replica
  int life_ = 0;                                // of the parameter server
  bool is_restored_ = false;                    // in this life
  State last_;                                  // that was looked at
  std::map<int64_t, State> history_;            // of this lineage, by step
  State saved_;                                 // step 0: none
  std::set<std::pair<int, int>> used_when_saved_;
  int64_t tokens_made_ = 0, tokens_taken_ = 0;
  Verdict verdict_;
};

FakeWire::Options ClusterRun::WireOptions() {
  FakeWire::Options wire;
  // Mostly quick, sometimes slow: messages overtake each other.
  wire.delay = [this]() -> int64_t {
    return world_.Once(10) ? 1000 + world_.Draw(20'000) : 50 + world_.Draw(200);
  };
  wire.is_lost = [this] { return loss_ > 0 && world_.Once(loss_); };
  wire.blocking = {"/tensorflow.WorkerService/RunGraph"};
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
  task->rendezvous =
      std::make_unique<StepRendezvousTable>(full, ReceiveOver(spec_, task->client.get()));
  task->connection = {{spec_, name}, task->client.get(), task->rendezvous.get()};
  task->worker =
      std::make_unique<Worker>(full, task->devices, task->rendezvous.get(), OptionsOf(full));
  std::vector<RpcMethod> methods;
  for (RpcMethod& method : task->worker->Methods()) {
    methods.push_back(
        {method.path, [task, handle = std::move(method.handle)](RpcCall& call) { handle(call); }});
  }
  wire_.Open(task->address, std::move(methods));
  tasks_[full] = task;
  world_.Tell(StrCat(full, " starts"));
  return task;
}

void ClusterRun::StartWorker(int index) {
  const TaskRef task = StartTask({"worker", index});
  world_.Spawn(StrCat("replica ", index), [this, task, index] { Replica(task, index); });
  if (index == 0) world_.Spawn("chief", [this, task] { Chief(task); });
}

// Nothing in it is told but by its connections; its threads then end.
void ClusterRun::End(TaskRef task) {
  const std::string full = task->name.ToString();
  task->is_dead = true;
  tasks_.erase(full);
  wire_.Close(task->address);
  task->closing.StartCancel();
  task->worker->CancelSteps();
  if (task->name.job == "ps") is_restored_ = false;
}

void ClusterRun::PlanFaults() {
  if (!options_.has_faults || world_.Once(4)) return;
  if (world_.Once(2)) loss_ = world_.Once(2) ? 50 : 300;
  disk_us_ = world_.Once(2) ? 200'000 : 2'000;
  const int crashes = static_cast<int>(world_.Draw(3));
  for (int i = 0; i < crashes; ++i) {
    const int victim =
        static_cast<int>(world_.Draw(options_.replicas + 1));  // the last: the server
    world_.At(20'000 + world_.Draw(400'000), [this, victim] {
      const TaskName name =
          victim == options_.replicas ? TaskName{"ps", 0} : TaskName{"worker", victim};
      const auto found = tasks_.find(name.ToString());
      if (is_over() || found == tasks_.end()) return;
      world_.Tell(StrCat(name.ToString(), " crashes"));
      ++verdict_.crashes;
      End(found->second);
      world_.At(60'000 + world_.Draw(300'000), [this, name, victim] {
        if (name.job == "ps") {
          ++life_;
          StartTask(name);
        } else {
          StartWorker(victim);
        }
      });
    });
  }
}

// --- what the processes run

absl::Status ClusterRun::Connect(const TaskRef& task, ReplicaGraph& graph,
                                 const std::function<absl::Status(Session&)>& use) {
  ClusterTasks::Options options;
  options.session = StrCat("session ", ++sessions_);
  options.filters = {"/job:ps", task->name.ToString()};
  options.cancellation = &task->closing;
  SLUICE_ASSIGN_OR_RETURN(auto others, ClusterTasks::Connect(task->connection, options));
  SessionOptions session_options = OptionsOf(task->name.ToString());
  session_options.devices = task->devices;
  session_options.remote_tasks = others;
  Session session(graph.graph, session_options);
  task->sessions.insert(&session);
  const absl::Status status = task->is_dead ? absl::CancelledError("crashed") : use(session);
  task->sessions.erase(&session);
  return status;
}

void ClusterRun::Replica(const TaskRef& task, int index) {
  while (!task->is_dead && !is_over()) {
    const absl::Status status = Connect(task, *owner_.graphs_[index], [&](Session& session) {
      return Compute(task, index, session);
    });
    if (absl::IsOutOfRange(status) || absl::IsResourceExhausted(status)) return;  // the end
    if (!task->is_dead && !status.ok()) {
      world_.Tell(StrCat("replica ", index, " begins anew: ", Shortly(status)));
    }
    world_.Sleep(5'000 + world_.Draw(10'000));
  }
}

absl::Status ClusterRun::Compute(const TaskRef& task, int index, Session& session) {
  ReplicaGraph& r = *owner_.graphs_[index];
  SLUICE_ASSIGN_OR_RETURN(const Tensors missing,
                          session.Run({}, {r.optimizer->ready_for_local_init_op()}, {}));
  if (missing[0].num_elements() > 0 || !is_restored_) {
    return absl::UnavailableError("the chief has not made the variables yet");
  }
  SLUICE_RETURN_IF_ERROR(session.Run({r.local_init}));
  while (!task->is_dead && !is_over()) {
    world_.Sleep(options_.compute_us ? options_.compute_us(world_)
                                     : 1'000 + world_.Draw(world_.Once(5) ? 100'000 : 10'000));
    if (task->is_dead || is_over()) break;
    if (attempts_[index] == options_.attempts) {
      return absl::ResourceExhaustedError("no more attempts");
    }
    SLUICE_ASSIGN_OR_RETURN(const Tensors step, session.Run({}, {r.local_step}, {}));
    const int attempt = attempts_[index]++;
    pushes_[{index, attempt}] = {step[0].scalar<int64_t>(), life_};
    world_.Tell(StrCat("replica ", index, " pushes gradient ", attempt, " of step ",
                       step[0].scalar<int64_t>()));
    SLUICE_RETURN_IF_ERROR(session.Run(FeedOf(r, index, attempt), {}, {r.train}).status());
    ++tokens_taken_;
  }
  return absl::OkStatus();
}

std::vector<Feed> ClusterRun::FeedOf(ReplicaGraph& r, int index, int attempt) const {
  const int64_t size = int64_t{options_.replicas} * options_.attempts;
  const int64_t code = int64_t{index} * options_.attempts + attempt;
  Tensor dense(DT_FLOAT, {size});
  std::fill_n(dense.data<float>(), size, 0.0f);
  dense.data<float>()[code] = 1;
  std::vector<Feed> feeds = {{r.dense_grad, dense},
                             {r.row_values, Tensor::Of<float>({1, 1}, {1})},
                             {r.row_indices, Tensor::Vector<int64_t>({code})}};
  if (options_.bug == Bug::kStaleGradient) {
    // The gradient says that it is newer than all steps.
    std::set<std::string> fed;
    for (Node* node : r.graph.nodes()) {
      if (node->op().find("AccumulatorApplyGradient") == std::string::npos) continue;
      const Output local_step = node->inputs()[1];
      if (!fed.insert(local_step.name()).second) continue;
      feeds.push_back({local_step, Tensor::Scalar<int64_t>(int64_t{1} << 40)});
    }
  }
  return feeds;
}

void ClusterRun::Chief(const TaskRef& task) {
  while (!task->is_dead && !is_over()) {
    const absl::Status status = Connect(task, *owner_.graphs_.back(),
                                        [&](Session& session) { return Lead(task, session); });
    if (!task->is_dead && !status.ok()) {
      world_.Tell(StrCat("the chief begins anew: ", Shortly(status)));
    }
    world_.Sleep(5'000 + world_.Draw(10'000));
  }
}

// As MonitoredSession and the hook: initialise or restore what is not there, then the tokens.
absl::Status ClusterRun::Prepare(Session& session, ReplicaGraph& r) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors missing,
                          session.Run({}, {r.optimizer->ready_for_local_init_op()}, {}));
  if (missing[0].num_elements() > 0 || !is_restored_) {
    const int life = life_;
    is_restored_ = false;
    SLUICE_RETURN_IF_ERROR(session.Run({r.init}));
    if (saved_.step > 0) {
      const int64_t size = static_cast<int64_t>(saved_.dense.size());
      SLUICE_RETURN_IF_ERROR(
          session
              .Run({{r.dense_value, Tensor::Of<float>({size}, absl::MakeConstSpan(saved_.dense))},
                    {r.sparse_value,
                     Tensor::Of<float>({size, 1}, absl::MakeConstSpan(saved_.sparse))},
                    {r.step_value, Tensor::Scalar(saved_.step)}},
                   {}, {r.restore})
              .status());
    }
    if (life != life_) return absl::UnavailableError("the parameter server was started again");
    State now;
    if (!Observe(&now)) return absl::UnavailableError("the parameter server is gone");
    if (now.step != saved_.step || (saved_.step > 0 && now.dense != saved_.dense)) {
      Fail(StrCat("S5: restored step ", now.step, ", saved was step ", saved_.step));
    }
    world_.Tell(StrCat("the chief has made the variables, of step ", now.step));
    is_restored_ = true;
    last_ = now;
    used_ = used_when_saved_;
    history_ = {{now.step, now}};
    applied_.clear();
    tokens_made_ = tokens_taken_ = 0;
  }
  SLUICE_RETURN_IF_ERROR(session.Run({r.optimizer->LocalInitOp(/*is_chief=*/true)}));
  SLUICE_RETURN_IF_ERROR(session.Run({r.init_tokens}));
  return absl::OkStatus();
}

absl::Status ClusterRun::Lead(const TaskRef& task, Session& session) {
  ReplicaGraph& r = *owner_.graphs_.back();
  SLUICE_RETURN_IF_ERROR(Prepare(session, r));
  while (!task->is_dead && last_.step < options_.updates) {
    SLUICE_RETURN_IF_ERROR(Update(session, r));
    if (options_.saves && last_.step < options_.updates && last_.step % 2 == 0) {
      SLUICE_RETURN_IF_ERROR(Save(task, session, r));
    }
  }
  if (task->is_dead) return absl::OkStatus();
  CheckEnd(session);
  is_trained_ = true;
  world_.Tell("the chief ends the training");
  // Who waits for a token is told; nobody is there for the chief to wait for.
  session.Run({r.close}).IgnoreError();
  return absl::OkStatus();
}

absl::Status ClusterRun::Update(Session& session, ReplicaGraph& r) const {
  std::vector<Feed> feeds;
  if (options_.bug == Bug::kLostToken) {
    SLUICE_ASSIGN_OR_RETURN(const Output count, TokensOfUpdate(r.optimizer->sync_op()));
    const int tokens = std::max(options_.aggregate, options_.replicas);
    feeds.push_back({count, Tensor::Vector<int32_t>({tokens - 1})});
  }
  return session.Run(feeds, {}, {r.optimizer->sync_op()}).status();
}

absl::Status ClusterRun::Save(const TaskRef& task, Session& session, ReplicaGraph& r) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors now, session.Run({}, {r.dense, r.sparse, r.step}, {}));
  State state{now[2].scalar<int64_t>(), Floats(now[0]), Floats(now[1])};
  auto seen = history_.find(state.step);
  // Without a lock a checkpoint may be of two steps; such a one is not kept.
  if (seen == history_.end() || seen->second.dense != state.dense ||
      seen->second.sparse != state.sparse) {
    return absl::OkStatus();
  }
  const int life = life_;
  std::set<std::pair<int, int>> used = used_;
  world_.Sleep(disk_us_);
  if (task->is_dead || life != life_ || state.step < saved_.step) return absl::OkStatus();
  world_.Tell(StrCat("step ", state.step, " is saved"));
  // Of the gradients that were used since, the checkpoint knows nothing.
  used_when_saved_.clear();
  for (const auto& gradient : used) {
    const int64_t code = int64_t{gradient.first} * options_.attempts + gradient.second;
    if (state.dense[code] != 0) used_when_saved_.insert(gradient);
  }
  saved_ = std::move(state);
  return absl::OkStatus();
}

// --- what is looked at

template <typename V>
bool ReadVariable(ResourceManager& resources, const char* name, Tensor* value) {
  auto found = resources.Lookup<V>(ResourceManager::kDefaultContainer, name);
  if (!found.ok()) return false;
  *value = (*found)->tensor;  // nobody else runs
  return value->IsInitialized() && value->num_elements() > 0;
}

bool ClusterRun::Observe(State* state) const {
  const auto task = tasks_.find(kServer);
  if (task == tasks_.end()) return false;
  ResourceManager& resources = task->second->devices->device(0).resources;
  const auto read = [&](const char* name, Tensor* value) {
    return ReadVariable<RefVar>(resources, name, value) ||
           ReadVariable<Var>(resources, name, value);
  };
  Tensor step, dense, sparse;
  if (!read("global_step", &step) || !read("dense", &dense) || !read("sparse", &sparse)) {
    return false;
  }
  state->step = step.scalar<int64_t>();
  if (is_restored_ && state->step == last_.step) return true;  // the usual case
  state->dense = Floats(dense);
  state->sparse = Floats(sparse);
  return true;
}

void ClusterRun::Fail(const std::string& what) {
  if (!verdict_.failure.empty()) return;
  verdict_.failure = what;
  world_.Tell(StrCat("FAILED: ", what));
}

void ClusterRun::Look() {
  State now;
  if (!is_restored_ || !Observe(&now) || now.step == last_.step) return;
  world_.Tell(StrCat("update ", now.step));
  verdict_.updates_us.push_back(world_.now());
  if (now.step != last_.step + 1) {
    return Fail(StrCat("S2: the global step went from ", last_.step, " to ", now.step));
  }
  CheckUpdate(last_, now);
  history_[now.step] = now;
  last_ = std::move(now);
  tokens_made_ += std::max(options_.aggregate, options_.replicas);
}

void ClusterRun::CheckUpdate(const State& from, const State& to) {
  std::set<std::pair<int, int>> of_update;
  for (const auto values : {&State::dense, &State::sparse}) {
    std::set<std::pair<int, int>> used;
    for (size_t i = 0; i < (to.*values).size(); ++i) {
      if ((from.*values)[i] == (to.*values)[i]) continue;
      used.insert(
          {static_cast<int>(i) / options_.attempts, static_cast<int>(i) % options_.attempts});
    }
    if (static_cast<int>(used.size()) != options_.aggregate) {
      Fail(StrCat("S2: update ", to.step, " used ", used.size(), " gradients instead of ",
                  options_.aggregate));
    }
    for (const auto& gradient : used) {
      const auto push = pushes_.find(gradient);
      const std::string name = StrCat("gradient ", gradient.second, " of replica ", gradient.first);
      if (push == pushes_.end()) {
        Fail(StrCat("update ", to.step, " used ", name, ", which nobody has made"));
      } else if (push->second.life != life_) {
        Fail(StrCat("S5: update ", to.step, " used ", name,
                    ", which was made before the parameter server was started again"));
      } else if (push->second.local_step < from.step) {
        Fail(StrCat("S1: update ", to.step, " used ", name, ", which is of step ",
                    push->second.local_step));
      }
      ++applied_[gradient.first];
    }
    of_update.insert(used.begin(), used.end());
  }
  for (const auto& gradient : of_update) {
    if (used_.insert(gradient).second) continue;
    Fail(StrCat("S2: gradient ", gradient.second, " of replica ", gradient.first,
                " was used twice"));
  }
}

// Of a training that nothing disturbed the books are complete. The chief calls it, whose step has
// just ended; replicas may be in theirs.
void ClusterRun::CheckEnd(Session& session) {
  ReplicaGraph& r = *owner_.graphs_.back();
  const bool is_disturbed = loss_ > 0 || verdict_.crashes > 0;
  const auto books = session.Run({}, {r.totals, r.tokens_left}, {});
  if (!books.ok()) {
    if (!is_disturbed) Fail(StrCat("the books cannot be read: ", books.status().ToString()));
    return;
  }
  const int64_t* totals = (*books)[0].data<int64_t>();
  for (int i = 0; i < options_.replicas; ++i) {
    if (totals[3 * i] == applied_[i]) continue;
    Fail(StrCat("S6: the ledger has ", totals[3 * i], " applied gradients of replica ", i, ", ",
                applied_[i], " were seen"));
  }
  // A replica that was given a token may not have said so yet.
  const int64_t left = (*books)[1].scalar<int32_t>();
  if (is_disturbed) return;
  const int64_t first = options_.aggregate;
  const int64_t known = left + tokens_taken_;
  const int64_t made = tokens_made_ + first;
  if (known > made || known + options_.replicas < made) {
    Fail(StrCat("S2: ", made, " tokens were made, ", left, " are left and ", tokens_taken_,
                " were taken"));
  }
}

Verdict ClusterRun::Run() {
  spec_.SetAddress({"ps", 0}, "ps:0");
  for (int i = 0; i < options_.replicas; ++i) spec_.SetAddress({"worker", i}, StrCat("w:", i));
  PlanFaults();
  StartTask({"ps", 0});
  for (int i = 0; i < options_.replicas; ++i) StartWorker(i);
  const auto close_all = [this] {
    const auto tasks = tasks_;
    for (const auto& [name, task] : tasks) End(task);
  };
  bool has_closed = false;
  const int stuck = world_.Run({.after_each =
                                    [&] {
                                      if (!is_over()) Look();
                                      if (!is_over() || std::exchange(has_closed, true)) return;
                                      world_.At(is_trained_ ? 300'000 : 0, close_all);
                                    },
                                .on_stuck =
                                    [&] {
                                      std::string waits;
                                      for (const auto& [name, task] : tasks_) {
                                        for (Session* s : task->sessions) {
                                          StrAppend(&waits, s->StallReport());
                                        }
                                      }
                                      Fail(StrCat("S3: nobody can go on\n", waits));
                                      close_all();
                                    },
                                .time_limit = options_.time_limit_us});
  if (stuck > 0 && verdict_.failure.empty()) Fail("S3: stuck");
  if (!is_trained_ && verdict_.failure.empty() && last_.step < options_.updates) {
    // All replicas came to their last attempt: too many crashes for so few.
    world_.Tell("out of attempts");
  }
  verdict_.story = world_.story();
  verdict_.calls = wire_.calls();
  verdict_.time_us = world_.now();
  return std::move(verdict_);
}

Verdict ClusterWorld::Train(uint64_t seed) {
  ClusterRun run(*this, seed);
  return run.Run();
}

}  // namespace sluice
