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
// Thread safety: any number of threads may call Run, Callables and Close at the same time. No
// thread may change the graph meanwhile, except by Extend.
// Lifetime: the graph outlives the session, and the session outlives its Callables. The destructor
// does not wait: no Run may be in progress.
// Errors: Run returns the graph's first error if building it failed. Otherwise it returns the first
// error of a kernel, with the node and the line of the program that built the node. CANCELLED after
// Close. DEADLINE_EXCEEDED at a timeout, with the operations that the step was waiting for.
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

// A tensor of the graph, and the value to use for it in one step. Any tensor can be fed, not only
// placeholders: nodes that are needed only to compute a fed tensor do not run. The value must have
// the tensor's type and a shape that fits the tensor's static shape. Otherwise Run returns
// INVALID_ARGUMENT.
struct Feed {
  Output tensor;
  Tensor value;
};
struct NamedFeed {
  // Name of the tensor: "x:0" or "x".
  std::string tensor;
  Tensor value;
};

// Options of a session. The session copies them. The defaults fit a training program in one
// process.
struct SessionOptions {
  // The devices to run on. Null: `cpu_devices` new devices, with separate variables.
  std::shared_ptr<DeviceSet> devices;
  int cpu_devices = 1;
  // The other tasks of the cluster to which `devices` belong. Null: none.
  std::shared_ptr<RemoteTasks> remote_tasks;
  // Runs the session's steps in another process. Null: the steps run in this process.
  std::shared_ptr<RemoteMaster> master;
  // The numbers of threads that work at the same time on one op (intra), and on different ops of a
  // step (inter). The caller's thread counts. 0 stands for a thread per core, in a pool that all
  // sessions of the process share. With intra_op_threads = 0, a step that is faster on the caller's
  // thread alone does not use the pool for its ops.
  int intra_op_threads = 0;
  int inter_op_threads = 0;

  // Places a node on an available device if the requested one does not exist. If false, steps with
  // such a node fail with INVALID_ARGUMENT.
  bool allow_soft_placement = false;
  // Logs the device of every node when a step is compiled.
  bool log_device_placement = false;
  // Names of passes that do not run (PassNames). "all" stands for all passes that can be disabled.
  // If a name is unknown, all steps of the session fail with INVALID_ARGUMENT.
  std::set<std::string> disabled_passes;
  // The limit for the memory of a step's tensors, without feeds and variables. 0: no limit. If the
  // plan of a step needs more memory, the session recomputes results that are read late instead of
  // keeping them, with the same bits. If that is not enough, it warns once and runs the step
  // nevertheless. A plan uses the shapes of the first step's feeds, or of the placeholders if it is
  // made for a Callable. The limit does not include tensors whose sizes are only known during the
  // step. It does not apply to partial runs and to steps with nodes on other tasks.
  int64_t memory_limit_bytes = 0;
  // Runs all loops with TensorFlow's frames and iterations, even loops that could run as one node.
  // For tests.
  bool dynamic_loops = false;
  // Timeout of Runs that set none. 0: no limit.
  int64_t operation_timeout_ms = 0;
  // Receives warnings. Not set: they go to stderr.
  std::function<void(const std::string&)> warn;
  // A step that waits longer than this for a queue, an accumulator, … warns once with the
  // operations that it waits for. 0: never.
  int64_t stall_warning_ms = 60'000;
  // The name of this session in errors of other sessions on the same devices. "": "session
  // <number>".
  std::string job;
  // Controls the interleaving of steps, for tests. Outlives the session.
  StepScheduler* scheduler = nullptr;
};

// The names that SessionOptions::disabled_passes may have (executor/compiler/pass_table.h).
const std::set<std::string>& PassNames();

// Options of one step. The defaults change nothing.
struct RunOptions {
  // The step is cancelled after this time. 0: the session's timeout.
  int64_t timeout_ms = 0;
  // Cancels the step. Outlives the Run.
  CancellationManager* cancellation = nullptr;
  // Fills RunMetadata::step_stats. Slows the step down.
  bool trace = false;
  // Ends the step with an error at the first node that produces a NaN or an infinity. The error has
  // the name of the node and the ranges of its inputs. Slows the step down.
  bool check_numerics = false;
  // Fills RunMetadata::partition_graphs.
  bool output_partition_graphs = false;
};

// Reports of one step, in addition to its fetches. RunOptions choose which of them are filled. They
// are filled even if the step fails while it runs.
struct RunMetadata {
  // Null unless RunOptions::trace.
  std::shared_ptr<const StepStats> step_stats;
  int64_t step_id = 0;
  // The graphs that ran, after pruning, passes and placement. One per task.
  std::vector<std::shared_ptr<const Graph>> partition_graphs;
};

// A combination of feeds, fetches and targets that is ready to run, without the lookup of
// Session::Run. Cheap to copy.
//
//   SLUICE_ASSIGN_OR_RETURN(Callable step, session.MakeCallable({x, y}, {loss}, {train}));
//   Tensors out;
//   for (const Batch& b : batches) {
//     SLUICE_RETURN_IF_ERROR(step.RunInto({b.images, b.labels}, &out));
//   }
//
// Thread safety: as the session; many threads may run one Callable. Each needs its own `fetches`.
// Lifetime: the session and the graph outlive it.
// Errors: those of Session::Run. FAILED_PRECONDITION for a default Callable.
// Reference: tf.Session.make_callable.
class Callable {
 public:
  Callable() = default;

  // Runs one step with the values of the feeds, in the order in which MakeCallable got them, and
  // returns the fetches. INVALID_ARGUMENT "Expected <n> feed tensors, but got <m>".
  absl::StatusOr<Tensors> Run(absl::Span<const Tensor> feeds, const RunOptions& options = {},
                              RunMetadata* metadata = nullptr) const;
  // Like Run, but stores the fetches in `*fetches`. Before the step, it drops the previous values,
  // so that the step can reuse their memory. After an error the previous values may be lost.
  // `feeds` may be values in `*fetches`.
  absl::Status RunInto(absl::Span<const Tensor> feeds, Tensors* fetches,
                       const RunOptions& options = {}, RunMetadata* metadata = nullptr) const;

 private:
  friend class Session;
  std::shared_ptr<class SessionState> session_;
  class PreparedStep* step_ = nullptr;
};

class Session {
 public:
  // Cheap: nothing is compiled before the first Run. If SessionOptions::devices is null, variables
  // belong to this session and disappear with it.
  explicit Session(Graph& graph, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs one step: computes the fetches, and runs the targets for their effects. Nodes that no
  // fetch or target needs do not run. Blocks until the step has ended, with all its side effects.
  //
  // Returns the fetches' values, in their order; empty without fetches. No later step changes them.
  // They may share memory with variables and constants: clone a value before writing to it.
  //
  // After an error there are no values, and effects of the nodes that had run remain. In addition
  // to the errors at the top of this file: INVALID_ARGUMENT for invalid handles, handles of another
  // graph, feeds that do not fit, and a fetch on a branch that was not taken; FAILED_PRECONDITION
  // for a variable without a value; OUT_OF_RANGE at the end of the input; ABORTED and UNAVAILABLE
  // if another task failed, after which a program restores a checkpoint.
  absl::StatusOr<Tensors> Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                              absl::Span<const Operation> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);
  // Runs one step for its effects only: `session.Run({train})`.
  absl::Status Run(absl::Span<const Operation> targets);
  // Like the first Run, but by name, for graphs from files. NOT_FOUND in TensorFlow's words if a
  // name is unknown.
  absl::StatusOr<Tensors> Run(absl::Span<const NamedFeed> feeds,
                              absl::Span<const std::string> fetches,
                              absl::Span<const std::string> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);

  // Compiles a step without running it. INVALID_ARGUMENT if Run would return it for these handles.
  absl::StatusOr<Callable> MakeCallable(absl::Span<const Output> feeds,
                                        absl::Span<const Output> fetches,
                                        absl::Span<const Operation> targets = {});
  // The same by name. NOT_FOUND in TensorFlow's words if a name is unknown. CANCELLED if
  // `cancellation`, which may be null, fires.
  absl::StatusOr<Callable> MakeCallable(absl::Span<const std::string> feeds,
                                        absl::Span<const std::string> fetches,
                                        absl::Span<const std::string> targets = {},
                                        CancellationManager* cancellation = nullptr);

  // Starts a step that is fed and fetched piece by piece (executor/session/partial_run.h). The
  // arguments list everything that the pieces will feed and fetch. NOT_FOUND if a name is unknown.
  // Reference: tf.Session.partial_run_setup.
  absl::StatusOr<std::unique_ptr<PartialRun>> StartPartialRun(
      absl::Span<const std::string> feeds, absl::Span<const std::string> fetches,
      absl::Span<const std::string> targets = {});

  // Changes the graph while steps run. Calls `change` once, while no step is being compiled, and
  // returns its error. Meanwhile other threads may run steps by name, but not by handle.
  absl::Status Extend(absl::FunctionRef<absl::Status(Graph&)> change);
  // Assigns a device to every node of the graph. For use inside Extend.
  absl::Status PlaceAll();

  // The operations that the steps of this session wait for now, the longest wait first. May be
  // called from any thread at any time.
  std::vector<sluice::Stalls::Report> Stalls() const;
  // The same as text, one line per wait. "" if no step waits.
  std::string StallReport() const;

  // Cancels the steps in progress and refuses later ones. The session keeps its memory until the
  // destructor.
  absl::Status Close();

  // The references are valid as long as the session.
  DeviceSet& devices() const;
  Graph& graph() const;
  const SessionOptions& options() const;

 private:
  std::shared_ptr<class SessionState> state_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_SESSION_H_
