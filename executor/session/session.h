// A session runs steps of a graph: in this process, on the tasks of a cluster, or at the master of
// another process (SessionOptions::master).
//
//   Session session(g);
//   SLUICE_RETURN_IF_ERROR(session.Run({init}));
//   absl::StatusOr<Tensors> out = session.Run({{x, xs}, {y, ys}}, {loss}, {train});
//
// Nodes that are added to the graph later can be run too. Each new combination of feeds, fetches
// and targets is compiled once, at its first Run.
//
// Thread safety: any number of threads may call Run, Callables and Close at once. No thread may
// change the graph meanwhile, except by Extend.
// Lifetime: the graph outlives the session, and the session outlives its Callables. The destructor
// does not wait: no Run may be in progress.
// Errors: the graph's first error if it has one. The first error of a kernel in a step, with the
// node and the line of the program that built it. CANCELLED after Close. DEADLINE_EXCEEDED at a
// timeout, with the operations that the step was waiting for.
#ifndef SLUICE_EXECUTOR_SESSION_SESSION_H_
#define SLUICE_EXECUTOR_SESSION_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/wait/stalls.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class CancellationManager;  // executor/wait/cancellation.h
class DeviceSet;            // executor/device/device_set.h
class PartialRun;           // executor/session/partial_run.h
class RemoteMaster;         // executor/session/remote_master.h
class RemoteTasks;          // executor/session/remote_tasks.h
class StepScheduler;        // executor/step/step.h
struct StepStats;           // executor/trace/step_stats.h

// A tensor of the graph, and the value to use for it.
struct Feed {
  Output tensor;
  Tensor value;
};
struct NamedFeed {
  std::string tensor;  // "x:0" or "x"
  Tensor value;
};

struct SessionOptions {
  // The devices to run on. Null: `cpu_devices` new devices, with separate variables.
  std::shared_ptr<DeviceSet> devices;
  int cpu_devices = 1;
  // The other tasks of the cluster that `devices` belong to. Null: none.
  std::shared_ptr<RemoteTasks> remote_tasks;
  // Runs the session's steps in another process. Null: they run in this one.
  std::shared_ptr<RemoteMaster> master;
  // Threads that work at once on one op, and on different ops of a step. The caller is one of them.
  // 0: a thread per core, shared by all sessions of the process. Steps that are faster without
  // sharing their ops' work do not share it.
  int intra_op_threads = 0;
  int inter_op_threads = 0;
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  // Names of passes that do not run (PassNames). "all" stands for all of them. If a name is
  // unknown, all steps of the session fail with INVALID_ARGUMENT.
  std::set<std::string> disabled_passes;
  // The memory that the tensors of a step may take, not counting feeds and variables. 0: no limit.
  // If the plan of a step needs more, results that are read late are recomputed, with the same
  // bits. If that is not enough, the session warns once and runs the step nevertheless. Plans use
  // the shapes of the first step's feeds, for a Callable those of the placeholders. Not limited:
  // sizes that are only known during the step, partial runs, and steps on several tasks or
  // elsewhere.
  int64_t memory_limit_bytes = 0;
  // Runs all loops by frames and iterations, even if they could be one node. For tests.
  bool dynamic_loops = false;
  // Timeout of Runs that set none. 0: no limit.
  int64_t operation_timeout_ms = 0;
  // Receives warnings. Not set: they go to stderr.
  std::function<void(const std::string&)> warn;
  // A step that waits longer for a queue, an accumulator, … warns once with the operations that it
  // waits for. 0: never.
  int64_t stall_warning_ms = 60'000;
  // The name of this session in errors of other sessions on the same devices. "": "session
  // <number>".
  std::string job;
  // Controls the interleaving of steps, for tests. Outlives the session.
  StepScheduler* scheduler = nullptr;
};

// The names that SessionOptions::disabled_passes may have (executor/compiler/pass_table.h).
const std::set<std::string>& PassNames();

struct RunOptions {
  // The step is cancelled after this time. 0: the session's timeout.
  int64_t timeout_ms = 0;
  // Cancels the step. Outlives the Run.
  CancellationManager* cancellation = nullptr;
  // Fills RunMetadata::step_stats. Slows the step down.
  bool trace = false;
  // Ends the step at the first node that produces a NaN or an infinity, with its name and the
  // ranges of its inputs. Slows the step down.
  bool check_numerics = false;
  // Fills RunMetadata::partition_graphs.
  bool output_partition_graphs = false;
};

struct RunMetadata {
  std::shared_ptr<const StepStats> step_stats;  // null unless traced
  int64_t step_id = 0;
  // The graphs that ran, after pruning, passes and placement. One per task.
  std::vector<std::shared_ptr<const Graph>> partition_graphs;
};

// A combination of feeds, fetches and targets that is ready to run. Cheap to copy. As thread-safe
// as the session.
class Callable {
 public:
  Callable() = default;
  // INVALID_ARGUMENT "Expected <n> feed tensors, but got <m>".
  absl::StatusOr<Tensors> Run(absl::Span<const Tensor> feeds, const RunOptions& options = {},
                              RunMetadata* metadata = nullptr) const;
  // The same into `*fetches`. The former values are dropped first, unless they are fed, so that the
  // step reuses their memory. After an error they are lost.
  absl::Status RunInto(absl::Span<const Tensor> feeds, Tensors* fetches,
                       const RunOptions& options = {}, RunMetadata* metadata = nullptr) const;

 private:
  friend class Session;
  std::shared_ptr<class SessionState> session_;
  class PreparedStep* step_ = nullptr;
};

class Session {
 public:
  explicit Session(Graph& graph, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The fetches' values, in their order. No later step changes them. They may share memory with
  // variables and constants: clone a value before writing to it.
  absl::StatusOr<Tensors> Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                              absl::Span<const Operation> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);
  absl::Status Run(absl::Span<const Operation> targets);
  // By name, for graphs from files. NOT_FOUND in TensorFlow's words.
  absl::StatusOr<Tensors> Run(absl::Span<const NamedFeed> feeds,
                              absl::Span<const std::string> fetches,
                              absl::Span<const std::string> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);

  absl::StatusOr<Callable> MakeCallable(absl::Span<const Output> feeds,
                                        absl::Span<const Output> fetches,
                                        absl::Span<const Operation> targets = {});
  // By name. NOT_FOUND in TensorFlow's words.
  absl::StatusOr<Callable> MakeCallable(absl::Span<const std::string> feeds,
                                        absl::Span<const std::string> fetches,
                                        absl::Span<const std::string> targets = {});

  // Starts a step that is fed and fetched piece by piece.
  absl::StatusOr<std::unique_ptr<PartialRun>> StartPartialRun(
      absl::Span<const std::string> feeds, absl::Span<const std::string> fetches,
      absl::Span<const std::string> targets = {});

  // Changes the graph while steps run. `change` is called while no step is compiled. Meanwhile
  // other threads may run steps by name, but not by handle.
  absl::Status Extend(absl::FunctionRef<absl::Status(Graph&)> change);
  // Assigns a device to every node of the graph. For use inside Extend.
  absl::Status PlaceAll();

  // The operations that the steps of this session wait for now, the longest wait first. May be
  // called from any thread at any time.
  std::vector<sluice::Stalls::Report> Stalls() const;
  // The same as text, one line per wait. "" if there are none.
  std::string StallReport() const;

  // Cancels the steps in progress and refuses later ones. The session keeps its memory until the
  // destructor.
  absl::Status Close();

  DeviceSet& devices() const;
  Graph& graph() const;
  const SessionOptions& options() const;

 private:
  std::shared_ptr<class SessionState> state_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_SESSION_H_
