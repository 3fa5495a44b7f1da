#include "training/loop/queue_runner.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "executor/wait/cancellation.h"
#include "graph/format/proto/error_codes.pb.h"
#include "graph/format/proto/queue_runner.pb.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

// These collections are not exported to files, because their names begin with "__".
constexpr char kNeeded[] = "__needed_queue_runners";
constexpr char kNeededFor[] = "__needed_queue_runners_for";
constexpr char kStarted[] = "__started_queue_runners";

bool Contains(const std::vector<absl::StatusCode>& codes, absl::StatusCode code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// Counts the running threads of each runner in each session of the process.
class RunningThreads {
 public:
  using Key = std::pair<const Session*, std::string>;
  static RunningThreads& Global() {
    static auto* threads = new RunningThreads;
    return *threads;
  }
  // Returns false if the runner already has threads in the session.
  bool Add(const Key& key, int threads) {
    ScopedLock lock(&mutex_);
    return running_.emplace(key, threads).second;
  }
  // Returns whether the thread was the last one of its runner.
  bool Remove(const Key& key) {
    ScopedLock lock(&mutex_);
    const auto it = running_.find(key);
    if (--it->second > 0) return false;
    running_.erase(it);
    return true;
  }

 private:
  Mutex mutex_;
  std::map<Key, int> running_ ABSL_GUARDED_BY(mutex_);
};

// A thread in RunningThreads. The destructor removes it, unless Remove was called before: then the
// thread could not be started.
class RunningThread {
 public:
  explicit RunningThread(RunningThreads::Key key) : key_(std::move(key)) {}
  ~RunningThread() {
    if (!is_removed_) Remove();
  }
  RunningThread(const RunningThread&) = delete;
  RunningThread& operator=(const RunningThread&) = delete;

  // Returns whether the thread was the last one of its runner.
  bool Remove() {
    is_removed_ = true;
    return RunningThreads::Global().Remove(key_);
  }

 private:
  const RunningThreads::Key key_;
  bool is_removed_ = false;
};

std::string Identity(const QueueRunner& runner) {
  std::string identity = runner.queue_name;
  for (const Operation& enqueue : runner.enqueue_ops) StrAppend(&identity, "\n", enqueue.name());
  return identity;
}

// Removes the prefix "scope/" from the name.
std::string WithoutScope(const std::string& name, std::string_view scope) {
  if (scope.empty() || !name.starts_with(StrCat(scope, "/"))) return name;
  return name.substr(scope.size() + 1);
}

absl::StatusOr<Operation> FindOp(const Graph& graph, const std::string& name,
                                 std::string_view scope) {
  const std::string full = scope.empty() ? name : StrCat(scope, "/", name);
  Node* node = graph.Find(full);
  if (node == nullptr) {
    return absl::NotFoundError(
        StrCat("The name '", full, "' refers to an Operation not in the graph."));
  }
  return Operation(node);
}

}  // namespace

absl::StatusOr<QueueRunner> QueueRunner::Of(const Queue& queue, std::vector<Operation> enqueue_ops,
                                            std::vector<absl::StatusCode> closed_codes) {
  SLUICE_INVALID_IF(!queue.handle() || enqueue_ops.empty() ||
                        !std::all_of(enqueue_ops.begin(), enqueue_ops.end(),
                                     [](const Operation& op) { return static_cast<bool>(op); }),
                    "Must provide queue and enqueue_ops.");
  SLUICE_INVALID_IF(
      closed_codes.empty() || Contains(closed_codes, absl::StatusCode::kOk),
      "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: ",
      closed_codes.empty() ? "()" : "OK");
  QueueRunner runner;
  runner.queue_name = queue.name();
  runner.enqueue_ops = std::move(enqueue_ops);
  runner.close_op = queue.Close();
  runner.cancel_op = queue.Close(/*cancel_pending_enqueues=*/true);
  runner.closed_codes = std::move(closed_codes);
  return runner;
}

absl::StatusOr<pb::QueueRunnerDef> QueueRunner::ToProto(std::string_view export_scope) const {
  if (!export_scope.empty() && !queue_name.starts_with(export_scope)) {
    return absl::NotFoundError(
        StrCat("queue '", queue_name, "' is not in the scope '", export_scope, "'"));
  }
  pb::QueueRunnerDef def;
  def.set_queue_name(WithoutScope(queue_name, export_scope));
  for (const Operation& op : enqueue_ops) {
    def.add_enqueue_op_name(WithoutScope(op.name(), export_scope));
  }
  def.set_close_op_name(WithoutScope(close_op.name(), export_scope));
  def.set_cancel_op_name(WithoutScope(cancel_op.name(), export_scope));
  for (const absl::StatusCode code : closed_codes) {
    def.add_queue_closed_exception_types(static_cast<pb::error::Code>(code));
  }
  return def;
}

absl::StatusOr<QueueRunner> QueueRunner::FromProto(const pb::QueueRunnerDef& def,
                                                   const Graph& graph,
                                                   std::string_view import_scope) {
  QueueRunner runner;
  SLUICE_ASSIGN_OR_RETURN(const Operation queue, FindOp(graph, def.queue_name(), import_scope));
  runner.queue_name = queue.name();
  for (const std::string& name : def.enqueue_op_name()) {
    SLUICE_ASSIGN_OR_RETURN(const Operation enqueue, FindOp(graph, name, import_scope));
    runner.enqueue_ops.push_back(enqueue);
  }
  // Files of other programs may lack the close and cancel ops.
  if (!def.close_op_name().empty()) {
    SLUICE_ASSIGN_OR_RETURN(runner.close_op, FindOp(graph, def.close_op_name(), import_scope));
  }
  if (!def.cancel_op_name().empty()) {
    SLUICE_ASSIGN_OR_RETURN(runner.cancel_op, FindOp(graph, def.cancel_op_name(), import_scope));
  }
  if (def.queue_closed_exception_types_size() == 0) return runner;
  runner.closed_codes.clear();
  for (const int code : def.queue_closed_exception_types()) {
    runner.closed_codes.push_back(static_cast<absl::StatusCode>(code));
  }
  return runner;
}

void QueueRunner::Start(Session& session, Coordinator& coordinator) const {
  const RunningThreads::Key key = {&session, Identity(*this)};
  if (enqueue_ops.empty() ||
      !RunningThreads::Global().Add(key, static_cast<int>(enqueue_ops.size()))) {
    return;
  }
  // Closes the queue, which ends the ops that wait in it. Cancels the step, which ends an enqueue
  // that waits elsewhere, such as in an accumulator or another queue.
  auto cancellation = std::make_shared<CancellationManager>();
  coordinator.OnStop([&session, &coordinator, cancellation, cancel = cancel_op] {
    if (cancel && !coordinator.GoesOn()) session.Run({cancel}).IgnoreError();
    cancellation->StartCancel();
  });
  for (const Operation& enqueue : enqueue_ops) {
    auto thread = std::make_shared<RunningThread>(key);
    auto body = [&session, &coordinator, thread = std::move(thread), cancellation, enqueue,
                 close = close_op, codes = closed_codes]() -> absl::Status {
      const RunOptions options = {.cancellation = cancellation.get()};
      absl::Status status;
      while (status.ok() && !coordinator.ShouldStop()) {
        status = session.Run({}, {}, {enqueue}, options).status();
      }
      const bool closed = Contains(codes, status.code());
      const bool last = thread->Remove();
      // Ignores errors, because the queue may have been closed already.
      if (last && closed && close && !coordinator.GoesOn()) session.Run({close}).IgnoreError();
      return closed ? absl::OkStatus() : status;
    };
    coordinator.Start(StrCat("QueueRunnerThread-", queue_name, "-", enqueue.name()),
                      std::move(body));
  }
}

void NeedQueueRunner(Graph& graph, const std::string& queue_name, const std::string& what_for) {
  graph.AddToCollection(kNeeded, queue_name);
  graph.AddToCollection(kNeededFor, what_for);
}

void StartsQueueRunner(Graph& graph, const std::string& queue_name) {
  graph.AddToCollection(kStarted, queue_name);
}

absl::Status CheckQueueRunners(const Graph& graph) {
  const auto needed = graph.collections().find(kNeeded);
  if (needed == graph.collections().end()) return absl::OkStatus();
  std::vector<std::string> started = graph.Collection(kStarted);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<QueueRunner> runners, QueueRunners(graph));
  for (const QueueRunner& runner : runners) started.push_back(runner.queue_name);
  const std::vector<std::string>& what_for = graph.Collection(kNeededFor);
  for (size_t i = 0; i < needed->second.size(); ++i) {
    const std::string& queue = needed->second[i];
    if (std::find(started.begin(), started.end(), queue) != started.end()) continue;
    return InvalidArgument(what_for[i], ": the queue runner of '", queue, "' is not started");
  }
  return absl::OkStatus();
}

void AddQueueRunner(Graph& graph, const QueueRunner& runner, std::string_view collection) {
  absl::StatusOr<pb::QueueRunnerDef> def = runner.ToProto();
  if (!def.ok()) return graph.SetError(def.status());
  graph.AddToCollection(collection, def->SerializeAsString());
}

absl::StatusOr<std::vector<QueueRunner>> QueueRunners(const Graph& graph,
                                                      std::string_view collection) {
  std::vector<QueueRunner> runners;
  for (const std::string& bytes : graph.Collection(collection)) {
    pb::QueueRunnerDef def;
    SLUICE_INVALID_IF(!def.ParseFromString(bytes), "collection '", collection,
                      "': an entry is no QueueRunnerDef");
    SLUICE_ASSIGN_OR_RETURN(runners.emplace_back(), QueueRunner::FromProto(def, graph));
  }
  return runners;
}

absl::Status StartQueueRunners(Session& session, Coordinator& coordinator,
                               std::string_view collection) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<QueueRunner> runners,
                          QueueRunners(session.graph(), collection));
  for (const QueueRunner& runner : runners) runner.Start(session, coordinator);
  return absl::OkStatus();
}

}  // namespace sluice
