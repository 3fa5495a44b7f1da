// The processes of a simulated cluster.
#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "distributed/client/grpc_master.h"
#include "graph/status.h"
#include "tests/simulate/cluster_run.h"

namespace sluice {
namespace {

// The text of an error, without handles, which are new in every run.
std::string Shortly(const absl::Status& status) {
  if (absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsCancelled(status)) {
    return "connection lost";
  }
  return status.ToString();
}

// The number of tokens of an update: the dims of the Fill that EnqueueMany enqueues.
absl::StatusOr<Output> TokensOfUpdate(const Operation& sync_op) {
  if (!sync_op.node->op().starts_with("QueueEnqueueMany")) {
    return absl::InternalError("the update does not end with its tokens");
  }
  return sync_op.node->inputs()[1].node->inputs()[0];
}

// Labels stale gradients with the present step.
void AddLies(ReplicaGraph& r, int index, int64_t step, std::vector<Feed>* feeds) {
  std::set<std::string> fed;
  const auto feed = [&](const Output& output, Tensor value) {
    if (fed.insert(output.name()).second) feeds->push_back({output, std::move(value)});
  };
  for (Node* node : r.graph.nodes()) {
    if (node->op().find("AccumulatorApplyGradient") != std::string::npos) {
      feed(node->inputs()[1], Tensor::Scalar(step));
    } else if (node->op() == "QueueEnqueueV2" && node->FindAttr<int64_t>("_replica") != nullptr) {
      feed(node->inputs()[node->inputs().size() - 1],
           Tensor::Vector<int64_t>({int64_t{index}, step}));
    } else if (node->op() == "Less") {
      feed(Output(node), Tensor::Scalar(false));  // whether it is stale
    }
  }
}

}  // namespace

absl::Status ClusterRun::Connect(const TaskRef& task, ReplicaGraph& graph,
                                 const std::function<absl::Status(Session&)>& use) {
  SessionOptions options = OptionsOf(task->name.ToString());
  SLUICE_RETURN_IF_ERROR(AddSession(task, &options));
  Session session(graph.graph, options);
  options = {};  // releases its reference to the master, so that only the session has one
  task->sessions.push_back(&session);
  const absl::Status status = task->is_dead ? absl::CancelledError("crashed") : use(session);
  std::erase(task->sessions, &session);
  return status;
}

// Like Server::NewSession, or RemoteSession::Connect to the process's own server.
absl::Status ClusterRun::AddSession(const TaskRef& task, SessionOptions* options) {
  const std::vector<std::string> filters = {"/job:ps", task->name.ToString()};
  if (uses_masters_) {
    RemoteSessionOptions remote;
    remote.session = *options;
    remote.device_filters = filters;
    remote.connect_timeout_ms = kConnectMs;
    SLUICE_ASSIGN_OR_RETURN(options->master,
                            GrpcMaster::Connect(StrCat("grpc://", task->address),
                                                wire_.ClientOf(task->address), remote));
    return absl::OkStatus();
  }
  ClusterTasks::Options tasks;
  tasks.session = StrCat("session ", ++sessions_);
  tasks.filters = filters;
  options->devices = task->devices;
  options->remote_tasks = ClusterTasks::Connect(task->connection, tasks);
  return absl::OkStatus();
}

void ClusterRun::Replica(const TaskRef& task, int index) {
  while (!task->is_dead && !is_over()) {
    const absl::Status status =
        index > 0 ? ComputeAs(task, index, nullptr)
                  : Connect(task, *owner_.graphs_.back(),
                            [&](Session& session) { return LeadAndCompute(task, session); });
    if (absl::IsOutOfRange(status) || absl::IsResourceExhausted(status)) return;  // the end
    if (!task->is_dead && !status.ok()) {
      world_.Tell(StrCat(index == 0 ? "the chief" : StrCat("replica ", index),
                         " begins anew: ", Shortly(status)));
    }
    world_.Sleep(5'000 + world_.Draw(10'000));
  }
}

absl::Status ClusterRun::ComputeAs(const TaskRef& task, int index, CancellationManager* stopping) {
  return Connect(task, *owner_.graphs_[index],
                 [&](Session& session) { return Compute(task, index, session, stopping); });
}

absl::Status ClusterRun::Compute(const TaskRef& task, int index, Session& session,
                                 CancellationManager* stopping) {
  const RunOptions options = {.cancellation = stopping};
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
      is_out_of_attempts_ = true;
      return absl::ResourceExhaustedError("no more attempts");
    }
    const int restores = restores_;
    SLUICE_ASSIGN_OR_RETURN(const Tensors step, session.Run({}, {r.local_step}, {}));
    const int attempt = attempts_[index]++;
    pushes_[{index, attempt}] = {step[0].scalar<int64_t>(), life_, restores};
    world_.Tell(StrCat("replica ", index, " pushes gradient ", attempt, " of step ",
                       step[0].scalar<int64_t>()));
    SLUICE_RETURN_IF_ERROR(session.Run(FeedOf(r, index, attempt), {}, {r.train}, options).status());
    ++tokens_taken_;
  }
  return absl::OkStatus();
}

std::vector<Feed> ClusterRun::FeedOf(ReplicaGraph& r, int index, int attempt) const {
  const int64_t code = int64_t{index} * options_.attempts + attempt;
  std::mt19937 random(static_cast<uint32_t>(code));
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor dense(DT_FLOAT, {codes() + kNoise});
  std::fill_n(dense.data<float>(), codes(), 0.0f);
  dense.data<float>()[code] = 1;
  std::vector<float> values = {1};
  std::vector<int64_t> rows = {code};
  for (int64_t row = codes(); row < codes() + kNoise; ++row) {
    dense.data<float>()[row] = uniform(random);
    values.push_back(uniform(random));
    rows.push_back(row);
  }
  std::vector<Feed> feeds = {
      {r.dense_grad, dense},
      {r.row_values, Tensor::Of<float>({1 + kNoise, 1}, absl::MakeConstSpan(values))},
      {r.row_indices, Tensor::Vector<int64_t>(absl::MakeConstSpan(rows))}};
  if (options_.bug == Bug::kStaleGradient) AddLies(r, index, last_.step, &feeds);
  return feeds;
}

// The chief is a thread of the replica's process (a QueueRunner). If one of them fails, both
// restart. (In a program they share a session. Here each has its own: a step waits while the
// session compiles another step, and would keep its turn.)
absl::Status ClusterRun::LeadAndCompute(const TaskRef& task, Session& session) {
  SLUICE_RETURN_IF_ERROR(Prepare(session, *owner_.graphs_.back()));
  CancellationManager stopping;
  absl::Status led;
  world_.Spawn([&] {
    led = Lead(task, session, &stopping);
    stopping.StartCancel();
    world_.Wake(&led);
  });
  const absl::Status computed = ComputeAs(task, 0, &stopping);
  // The others may be able to continue without this replica.
  if (!absl::IsResourceExhausted(computed)) stopping.StartCancel();
  world_.Wait(&led);
  return led.ok() ? computed : led;
}

// Like MonitoredSession and the hook: restores or initializes the model, then notifies queues and
// accumulators, then puts out tokens.
absl::Status ClusterRun::Prepare(Session& session, ReplicaGraph& r) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors missing,
                          session.Run({}, {r.optimizer->ready_for_local_init_op()}, {}));
  SLUICE_RETURN_IF_ERROR(MakeVariables(session, r, missing[0].num_elements() == 0));
  SLUICE_RETURN_IF_ERROR(session.Run({r.chief_init}));
  SLUICE_RETURN_IF_ERROR(session.Run({r.forget_undone_tokens}));
  const bool goes_on = last_.step > 0 && r.give_tokens;
  return session.Run({goes_on ? r.give_tokens : r.init_tokens});
}

absl::Status ClusterRun::MakeVariables(Session& session, ReplicaGraph& r, bool are_there) {
  const int life = life_;
  is_restored_ = false;
  if (saved_.step == 0 || !are_there) SLUICE_RETURN_IF_ERROR(session.Run({r.init}));
  if (saved_.step > 0) SLUICE_RETURN_IF_ERROR(Restore(session, r));
  if (life != life_) return absl::UnavailableError("the parameter server was started again");
  State now;
  if (!Observe(&now)) return absl::UnavailableError("the parameter server is gone");
  if (now.step != saved_.step ||
      (saved_.step > 0 && (now.dense != saved_.dense || now.sparse != saved_.sparse))) {
    Fail(StrCat("S5: restored step ", now.step, ", saved was step ", saved_.step));
  }
  world_.Tell(StrCat("the chief has made the variables, of step ", now.step));
  is_restored_ = true;
  ++restores_;
  now.used = saved_.used;
  now.lineage = saved_.lineage;
  now.life = life_;
  if (saved_.life == life_) now.applied = saved_.applied;  // otherwise the ledger is new
  history_ = {{now.step, now}};
  last_ = std::move(now);
  tokens_made_ = tokens_taken_ = 0;
  return absl::OkStatus();
}

absl::Status ClusterRun::Restore(Session& session, ReplicaGraph& r) const {
  const auto size = static_cast<int64_t>(saved_.dense.size());
  return session
      .Run({{r.dense_value, Tensor::Of<float>({size}, absl::MakeConstSpan(saved_.dense))},
            {r.sparse_value, Tensor::Of<float>({size, 1}, absl::MakeConstSpan(saved_.sparse))},
            {r.step_value, Tensor::Scalar(saved_.step)}},
           {}, {r.restore})
      .status();
}

absl::Status ClusterRun::Lead(const TaskRef& task, Session& session,
                              CancellationManager* stopping) {
  ReplicaGraph& r = *owner_.graphs_.back();
  while (!task->is_dead && last_.step < options_.updates) {
    SLUICE_RETURN_IF_ERROR(Update(session, r, stopping));
    if (options_.saves && last_.step < options_.updates && last_.step % 2 == 0) {
      SLUICE_RETURN_IF_ERROR(Save(task, session, r));
    }
  }
  if (task->is_dead) return absl::OkStatus();
  CheckEnd(session);
  is_trained_ = true;
  world_.Tell("the chief ends the training");
  // Notifies replicas that wait for a token. The chief waits for no other replica.
  session.Run({r.close}).IgnoreError();
  return absl::OkStatus();
}

absl::Status ClusterRun::Update(Session& session, ReplicaGraph& r,
                                CancellationManager* stopping) const {
  std::vector<Feed> feeds;
  if (options_.bug == Bug::kLostToken) {
    SLUICE_ASSIGN_OR_RETURN(const Output count, TokensOfUpdate(r.optimizer->sync_op()));
    const int tokens = std::max(options_.aggregate, options_.replicas);
    feeds.push_back({count, Tensor::Vector<int32_t>({tokens - 1})});
  }
  return session.Run(feeds, {}, {r.optimizer->sync_op()}, {.cancellation = stopping}).status();
}

absl::Status ClusterRun::Save(const TaskRef& task, Session& session, ReplicaGraph& r) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors now, session.Run({}, {r.dense, r.sparse, r.step}, {}));
  const auto seen = history_.find(now[2].scalar<int64_t>());
  // Without a lock, a checkpoint may mix two steps; it is not kept then.
  if (seen == history_.end() || seen->second.dense != Floats(now[0]) ||
      seen->second.sparse != Floats(now[1])) {
    return absl::OkStatus();
  }
  State state = seen->second;
  const int life = life_;
  world_.Sleep(disk_us_);
  if (task->is_dead || life != life_ || state.step < saved_.step) return absl::OkStatus();
  world_.Tell(StrCat("step ", state.step, " is saved"));
  saved_ = std::move(state);
  return absl::OkStatus();
}

}  // namespace sluice
