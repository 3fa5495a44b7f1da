// A session runs steps of a graph. A step computes some tensors (its fetches) and runs some
// operations for their effects (its targets). Steps run in this process, on the tasks of a cluster,
// or at a master in another process (SessionOptions::master).
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
// error of a kernel, with the node and the line of the program that built the node. After Close it
// returns CANCELLED. At a timeout it returns DEADLINE_EXCEEDED, with a list of the operations that
// the step was waiting for.
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
  // The devices to run on. If null, the session makes `cpu_devices` CPU devices of its own, whose
  // variables no other session sees.
  std::shared_ptr<DeviceSet> devices;
  int cpu_devices = 1;
  // The other tasks of the cluster to which `devices` belong. Null: all nodes run in this process.
  std::shared_ptr<RemoteTasks> remote_tasks;
  // Runs the session's steps in another process. Null: the steps run in this process.
  std::shared_ptr<RemoteMaster> master;
  // The numbers of threads that work at the same time on one op (intra), and on different ops of a
  // step (inter). The caller's thread counts. 0 stands for one thread per core. Sessions of the
  // process with the same number share a pool. If intra_op_threads is 0, steps measure whether
  // they are faster without the intra-op pool, and those that are do not use it.
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
  // The limit for the memory of a step's tensors, without feeds and variables. 0: no limit. The
  // session estimates the memory when it compiles the step. If the step would need more than the
  // limit, the session recomputes results that are read late instead of keeping them. The values
  // stay the same, bit for bit. If that is not enough, the session warns once and runs the step
  // nevertheless. The estimate uses the shapes of the first step's feeds, or for a Callable the
  // shapes of the placeholders. It does not include tensors whose sizes are only known during the
  // step, results of loops, and scratch memory of kernels. The limit does not apply to partial
  // runs, to steps with nodes on other tasks, and to steps at a remote master.
  int64_t memory_limit_bytes = 0;
  // Runs all loops with TensorFlow's frames and iterations, even loops that could run as one node.
  // For tests.
  bool dynamic_loops = false;
  // Timeout of Runs that set none. 0: no limit.
  int64_t operation_timeout_ms = 0;
  // Receives the session's warnings. If it is not set, they go to stderr.
  std::function<void(const std::string&)> warn;
  // A step that waits longer than this, for example for a queue, warns once and lists the
  // operations that it waits for. 0: no warning.
  int64_t stall_warning_ms = 60'000;
  // Names this session in errors of other sessions on the same devices, for example if both declare
  // a variable with different shapes. If it is empty, the name is "session <number>".
  std::string job;
  // Controls the interleaving of steps, for tests. Null: nothing does. Outlives the session.
  StepScheduler* scheduler = nullptr;
};

// The names that SessionOptions::disabled_passes may contain, including "all". The passes are
// described in executor/compiler/pass_table.h.
const std::set<std::string>& PassNames();

// Options of one step. With the defaults, only the options of the session apply.
struct RunOptions {
  // The step is cancelled after this time. 0: the timeout is that of the session.
  int64_t timeout_ms = 0;
  // Can cancel the step from another thread. May be null. Outlives the Run.
  CancellationManager* cancellation = nullptr;
  // Fills RunMetadata::step_stats. Slows the step down.
  bool trace = false;
  // Ends the step with INVALID_ARGUMENT at the first node that produces a NaN or an infinity. The
  // error has the name of the node and the ranges of its inputs. Slows the step down.
  bool check_numerics = false;
  // Fills RunMetadata::partition_graphs.
  bool output_partition_graphs = false;
};

// Reports of one step, in addition to its fetches. RunOptions choose which of them are filled. They
// are filled even if the step fails while it runs, except for steps at a remote master.
struct RunMetadata {
  // The times of the step's nodes. Null unless RunOptions::trace is set.
  std::shared_ptr<const StepStats> step_stats;
  int64_t step_id = 0;
  // The graphs that ran, one per task, after pruning, passes and placement. Empty unless
  // RunOptions::output_partition_graphs is set.
  std::vector<std::shared_ptr<const Graph>> partition_graphs;
};

// A combination of feeds, fetches and targets that is compiled and ready to run. Session::Run looks
// its combination up at every call. A Callable does not. Callables are cheap to copy.
//
//   SLUICE_ASSIGN_OR_RETURN(Callable step, session.MakeCallable({x, y}, {loss}, {train}));
//   Tensors out;
//   for (const Batch& b : batches) {
//     SLUICE_RETURN_IF_ERROR(step.RunInto({b.images, b.labels}, &out));
//   }
//
// Thread safety: as the session; many threads may run one Callable. Each needs its own `fetches`.
// Lifetime: the session and the graph outlive it.
// Errors: those of Session::Run. FAILED_PRECONDITION for a default-constructed Callable.
// Reference: tf.Session.make_callable.
class Callable {
 public:
  Callable() = default;

  // Runs one step with the values of the feeds, in the order in which MakeCallable got them, and
  // returns the fetches. INVALID_ARGUMENT "Expected <n> feed tensors, but got <m>" if the number of
  // feeds is wrong.
  absl::StatusOr<Tensors> Run(absl::Span<const Tensor> feeds, const RunOptions& options = {},
                              RunMetadata* metadata = nullptr) const;
  // Like Run, but stores the fetches in `*fetches`. Before the step, it drops the previous values,
  // so that the step can reuse their memory. After an error the previous values may be lost.
  // `feeds` may be elements of `*fetches`. Then the previous values are kept until the step ends,
  // and after an error they remain.
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
  // belong to this session and are destroyed with it.
  explicit Session(Graph& graph, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs one step: computes the fetches, and runs the targets for their effects. Nodes that no
  // fetch or target needs do not run. Blocks until the step has ended, with all its side effects.
  //
  // Returns the values of the fetches, in their order. The list is empty if there are no fetches.
  // No later step changes the values. They may share memory with variables and constants, so a
  // caller must clone a value before writing to it.
  //
  // After an error no values are returned, and the effects of nodes that had run remain. Errors, in
  // addition to those at the top of this file:
  // - INVALID_ARGUMENT for invalid handles, handles of another graph, feeds that do not fit, and a
  //   fetch on a branch that was not taken.
  // - FAILED_PRECONDITION for a variable without a value.
  // - OUT_OF_RANGE at the end of the input, as when a dataset has no more elements.
  // - ABORTED and UNAVAILABLE if another task failed. The program should restore a checkpoint.
  absl::StatusOr<Tensors> Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                              absl::Span<const Operation> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);
  // Runs one step for its effects only: `session.Run({train})`.
  absl::Status Run(absl::Span<const Operation> targets);
  // Like the first Run, but for names of tensors ("x:0" or "x") and of operations, as in programs
  // that load a graph from a file. NOT_FOUND in TensorFlow's words if a name is unknown.
  absl::StatusOr<Tensors> Run(absl::Span<const NamedFeed> feeds,
                              absl::Span<const std::string> fetches,
                              absl::Span<const std::string> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);

  // Compiles a step without running it. INVALID_ARGUMENT if Run would return it for these handles.
  absl::StatusOr<Callable> MakeCallable(absl::Span<const Output> feeds,
                                        absl::Span<const Output> fetches,
                                        absl::Span<const Operation> targets = {});
  // Like the first MakeCallable, but for names. NOT_FOUND in TensorFlow's words if a name is
  // unknown. CANCELLED if `cancellation`, which may be null, is cancelled meanwhile.
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
  // returns its error. Meanwhile other threads may run steps by name, but not by handle (Output or
  // Operation).
  absl::Status Extend(absl::FunctionRef<absl::Status(Graph&)> change);
  // Assigns a device to every node of the graph, also to nodes that no step needs. Returns the
  // placer's error if a node cannot be placed. Call it only in the `change` of Extend.
  absl::Status PlaceAll();

  // Returns the blocked operations that the steps of this session wait for now, the longest wait
  // first. May be called from any thread at any time.
  std::vector<sluice::Stalls::Report> Stalls() const;
  // Returns the list of Stalls() as text, one line per operation. Empty if no step waits.
  std::string StallReport() const;

  // Cancels the steps in progress and refuses later ones. Always returns OK. The session keeps its
  // memory until it is destroyed.
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
