// A session runs steps of a graph, in this process or where SessionOptions::master is.
//
//   Session session(g);
//   SLUICE_RETURN_IF_ERROR(session.Run({init}));
//   absl::StatusOr<Tensors> out = session.Run({{x, xs}, {y, ys}}, {loss}, {train});
//
// The session follows the graph: nodes added later can be run too. Each new combination of feeds,
// fetches and targets is compiled once, at its first Run.
//
// Thread safety: Run, Callables and Close from any thread, many at a time; but nobody may change
// the graph meanwhile. Lifetime: the graph outlives the session, the session its Callables. The
// destructor waits for nothing: it may only run when no Run is under way.
// Errors: the graph's first error, if it has one; of a step, the first error of a kernel, with the
// node and the line of the program that made it. CANCELLED after Close; DEADLINE_EXCEEDED by
// timeout, with what the step was waiting for.
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
class Rendezvous;           // executor/wait/rendezvous.h
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
  // Devices to run on; null: `cpu_devices` of this session's own, with variables of their own.
  std::shared_ptr<DeviceSet> devices;
  int cpu_devices = 1;
  // The other tasks of the cluster that `devices` belongs to; null: there are none.
  std::shared_ptr<RemoteTasks> remote_tasks;
  // Runs the session's steps in another process; null: they run in this one.
  std::shared_ptr<RemoteMaster> master;
  // Threads that work at the same time on one op, and on different ops of a step; the caller is one
  // of them. 0: as many as the machine has, shared by all sessions of the process, and for one op
  // the caller alone in steps that are quicker so.
  int intra_op_threads = 0;
  int inter_op_threads = 0;
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  // Passes to leave out: "fold_constants", "choose_layout", "simplify", "fold_transposes",
  // "join_pads", "common_subexpressions", "unused_nodes", "fuse_attention", "narrow_products",
  // "pack_operands", "accumulate_sums", "tile_updates", "fuse_elementwise", "defer_adam",
  // "rematerialize"; "all" for all. Steps of a session that names another one fail with
  // INVALID_ARGUMENT.
  std::set<std::string> disabled_passes;
  // What the tensors of a step may take, besides feeds and variables; 0: whatever they need. Where
  // the plan of a step needs more, results are computed again when they are read late, with the
  // same bits, and it is warned of, once, if that is not enough; the step runs all the same. Plans
  // are made with the shapes that the first step feeds, of a Callable with those of the
  // placeholders; sizes that only the step decides, partial runs, and steps that run on several
  // tasks or elsewhere are not limited.
  int64_t memory_limit_bytes = 0;
  // Loops run by frames and iterations even where they could be one node: for tests.
  bool dynamic_loops = false;
  // Of a Run that gives none; 0: no limit.
  int64_t operation_timeout_ms = 0;
  // Told of what is suspicious but no error; to stderr if empty.
  std::function<void(const std::string&)> warn;
  // A step that has waited so long for a queue, an accumulator, … is warned of, once, with what it
  // waits for; 0: never.
  int64_t stall_warning_ms = 60'000;
  // How errors of other sessions on the same devices name this one; "": "session <number>".
  std::string job;
  // Makes the interleaving of steps its own, for tests; outlives the session.
  StepScheduler* scheduler = nullptr;
};

// What SessionOptions::disabled_passes may name, "all" among them.
const std::set<std::string>& PassNames();

struct RunOptions {
  // The step is cancelled after this time; 0: the session's.
  int64_t timeout_ms = 0;
  // The step is cancelled with it. Outlives the Run.
  CancellationManager* cancellation = nullptr;
  // Fills RunMetadata::step_stats; slows the step down.
  bool trace = false;
  // Ends the step at the first node that makes a NaN or an infinity, with its name and the ranges
  // of its inputs; slows the step down.
  bool check_numerics = false;
  // Fills RunMetadata::partition_graphs.
  bool output_partition_graphs = false;
};

struct RunMetadata {
  std::shared_ptr<const StepStats> step_stats;  // null unless traced
  int64_t step_id = 0;
  // What ran, pruned, rewritten and placed; one graph a task.
  std::vector<std::shared_ptr<const Graph>> partition_graphs;
};

// A combination of feeds, fetches and targets, ready to run. A cheap value; thread-safe as the
// session is.
class Callable {
 public:
  Callable() = default;
  // INVALID_ARGUMENT "Expected <n> feed tensors, but got <m>".
  absl::StatusOr<Tensors> Run(absl::Span<const Tensor> feeds, const RunOptions& options = {},
                              RunMetadata* metadata = nullptr) const;
  // The same into `*fetches`. What was there is let go first, for the step to use its memory again,
  // unless it is fed; after an error it is gone.
  absl::Status RunInto(absl::Span<const Tensor> feeds, Tensors* fetches,
                       const RunOptions& options = {}, RunMetadata* metadata = nullptr) const;

 private:
  friend class Session;
  std::shared_ptr<class SessionState> session_;
  class SessionPlan* plan_ = nullptr;
};

class Session {
 public:
  explicit Session(Graph& graph, SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The fetches' values, in their order. No later step changes them; they may share memory with
  // variables and constants, so who wants to write to one clones it.
  absl::StatusOr<Tensors> Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                              absl::Span<const Operation> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);
  absl::Status Run(absl::Span<const Operation> targets);
  // By name, for graphs from files. NOT_FOUND as TensorFlow says it.
  absl::StatusOr<Tensors> Run(absl::Span<const NamedFeed> feeds,
                              absl::Span<const std::string> fetches,
                              absl::Span<const std::string> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);

  absl::StatusOr<Callable> MakeCallable(absl::Span<const Output> feeds,
                                        absl::Span<const Output> fetches,
                                        absl::Span<const Operation> targets = {});
  // By name. NOT_FOUND as TensorFlow says it.
  absl::StatusOr<Callable> MakeCallable(absl::Span<const std::string> feeds,
                                        absl::Span<const std::string> fetches,
                                        absl::Span<const std::string> targets = {});

  // A step that is fed and fetched piece by piece; it has begun when this returns.
  absl::StatusOr<std::unique_ptr<PartialRun>> StartPartialRun(
      absl::Span<const std::string> feeds, absl::Span<const std::string> fetches,
      absl::Span<const std::string> targets = {});

  // Changes the graph while steps run: `change` is called when no plan is being made of it. Only
  // names may be used beside it, no handles.
  absl::Status Extend(absl::FunctionRef<absl::Status(Graph&)> change);
  // Gives every node of the graph its place now, run or not; for use inside of Extend.
  absl::Status PlaceAll();

  // What the steps of this session wait for at this moment, the longest wait first. May be asked
  // from any thread at any time.
  std::vector<sluice::Stalls::Report> Stalls() const;
  // The same as text, a line a wait; "" if none waits.
  std::string StallReport() const;

  // Cancels the steps under way, and refuses later ones. What it holds lives until the destructor.
  absl::Status Close();

  DeviceSet& devices() const;
  Graph& graph() const;
  const SessionOptions& options() const;

 private:
  std::shared_ptr<class SessionState> state_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_SESSION_H_
