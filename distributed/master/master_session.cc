#include "distributed/master/master_session.h"

#include <chrono>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "distributed/master/graph_memory.h"
#include "distributed/message/numerics_watch.h"
#include "distributed/message/service_methods.h"
#include "executor/device/device_set.h"
#include "executor/partition/partition.h"
#include "executor/trace/step_stats_proto.h"
#include "executor/wait/thread.h"
#include "graph/format/graph_def.h"
#include "graph/ir/names.h"
#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns a string that is equal for steps with the same feeds, fetches and targets.
std::string KeyOf(const pb::RunStepRequest& request, const std::vector<NamedTensor>& feeds) {
  std::string key;
  const auto add = [&key](const std::string& name) { key.append(name).push_back('\n'); };
  for (const NamedTensor& feed : feeds) add(feed.name);
  key.push_back('\n');
  for (const std::string& fetch : request.fetch()) add(fetch);
  key.push_back('\n');
  for (const std::string& target : request.target()) add(target);
  return key;
}

absl::Status CheckFedOnce(const std::vector<NamedTensor>& feeds) {
  std::set<std::string_view> names;
  for (const NamedTensor& feed : feeds) {
    SLUICE_INVALID_IF(!names.insert(feed.name).second, "Duplicated feeds: ", feed.name);
  }
  return absl::OkStatus();
}

std::vector<std::string> Strings(const google::protobuf::RepeatedPtrField<std::string>& field) {
  return {field.begin(), field.end()};
}

// Finds the inputs of the new `nodes` that are outputs of nodes in the graph.
std::map<std::string, Output, std::less<>> KnownInputs(const pb::GraphDef& nodes,
                                                       const Graph& graph) {
  std::map<std::string, Output, std::less<>> known;
  if (graph.num_nodes() == 0) return known;
  std::set<std::string_view> added;
  for (const pb::NodeDef& node : nodes.node()) added.insert(node.name());
  for (const pb::NodeDef& node : nodes.node()) {
    for (const std::string& input : node.input()) {
      const bool is_control = input.starts_with('^');
      const std::string_view name = is_control
                                        ? std::string_view(input).substr(1)
                                        : std::string_view(input).substr(0, input.rfind(':'));
      if (added.contains(name)) continue;
      Node* from = graph.Find(name);
      if (from == nullptr) continue;
      if (is_control) {
        known[input] = Output(from);
      } else if (!IsRegistered(*from)) {  // has the outputs that are used
        const Output output(from, ParseTensorName(input).index);
        known[output.name()] = output;
      } else if (absl::StatusOr<Output> output = graph.FindOutput(input); output.ok()) {
        known[output->name()] = *output;
      }
    }
  }
  return known;
}

// Adds one graph for each device, as TensorFlow does. Tasks run their devices as one graph.
absl::Status AddPartitionGraphs(const Graph& graph, pb::RunMetadata* proto) {
  std::set<std::string_view> devices;
  for (const Node* node : graph.nodes()) devices.insert(node->assigned_device());
  if (devices.size() < 2) {
    SLUICE_ASSIGN_OR_RETURN(*proto->add_partition_graphs(), ExportGraphDef(graph));
    return absl::OkStatus();
  }
  const auto no_incarnation = [](const std::string&) { return uint64_t{0}; };
  SLUICE_ASSIGN_OR_RETURN(const auto parts, PartitionByDevice(graph, no_incarnation));
  for (const auto& [device, part] : parts) {
    SLUICE_ASSIGN_OR_RETURN(*proto->add_partition_graphs(), ExportGraphDef(*part.graph));
  }
  return absl::OkStatus();
}

absl::Status MetadataToProto(const RunMetadata& metadata, pb::RunMetadata* proto) {
  if (metadata.step_stats != nullptr) {
    StepStatsToProto(*metadata.step_stats, proto->mutable_step_stats());
  }
  for (const auto& graph : metadata.partition_graphs) {
    SLUICE_RETURN_IF_ERROR(AddPartitionGraphs(*graph, proto));
  }
  return absl::OkStatus();
}

// A call that runs a step. Each takes a thread, and no session may take all threads.
class RunningCall {
 public:
  explicit RunningCall(std::atomic<int>& count)
      : count_(count), others_(count.fetch_add(1, std::memory_order_relaxed)) {}
  ~RunningCall() { count_.fetch_sub(1, std::memory_order_relaxed); }
  absl::Status status() const {
    const int most = Thread::MaxOf(ThreadUse::kCalls) / 4;
    if (others_ < most) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        StrCat("expected at most ", most, " steps of a session that run at once, got more"));
  }

 private:
  std::atomic<int>& count_;
  const int others_;
};

}  // namespace

MasterSession::MasterSession(std::string task, const SessionOptions& options,
                             CostModelSteps cost_model)
    : task_(std::move(task)), cost_model_(cost_model), session_(graph_, options) {}

absl::Status MasterSession::AddNodes(const pb::GraphDef& nodes) {
  ScopedLock lock(&extend_mutex_);
  return AddNodesLocked(nodes);
}

absl::Status MasterSession::AddNodesLocked(const pb::GraphDef& nodes) {
  HeldBytes message, kept;
  const absl::Status added = session_.Extend([&](Graph& graph) -> absl::Status {
    if (!message.Add(nodes.ByteSizeLong()) ||
        !kept.Add(static_cast<size_t>(BytesWithoutConstants(nodes)))) {
      return absl::ResourceExhaustedError(
          StrCat("OOM when adding ", nodes.node_size(), " nodes to the graph"));
    }
    ImportOptions import;
    import.ignore_unknown_attrs = true;
    import.input_map = KnownInputs(nodes, graph);
    if (const auto& memory = session_.devices().memory()) import.memory = memory.get();
    SLUICE_RETURN_IF_ERROR(ImportGraphDef(nodes, graph, import).status());
    // All nodes have to have a device, even those that no step will run.
    return session_.PlaceAll();
  });
  if (added.ok()) graph_bytes_.Take(std::move(kept));
  if (!absl::IsResourceExhausted(added)) return added;
  return From(AnnotateAfter(WithLimits(added), StrCat("\n", DescribeConstants(nodes))));
}

absl::StatusOr<int64_t> MasterSession::Extend(const pb::GraphDef& nodes, int64_t expected_version) {
  ScopedLock lock(&extend_mutex_);
  if (version_ != expected_version) {
    return absl::AbortedError(
        StrCat("Current version is ", version_, " but caller expected ", expected_version, "."));
  }
  SLUICE_RETURN_IF_ERROR(AddNodesLocked(nodes));
  return ++version_;
}

absl::Status MasterSession::From(const absl::Status& status) const {
  if (!absl::StrContains(status.message(), "[[{{node ")) return status;
  // A concatenation of the errors of several tasks names each task inside.
  if (absl::StrContains(status.message(), "From /job:")) return status;
  return FromTask(task_, status);
}

absl::Status MasterSession::WithLimits(const absl::Status& status) const {
  const bool is_about_memory =
      absl::IsResourceExhausted(status) && absl::StrContains(status.message(), "OOM when");
  return is_about_memory ? WithMemoryLimits(status, session_.devices().memory().get()) : status;
}

absl::StatusOr<std::shared_ptr<MasterSession::Step>> MasterSession::StepFor(
    const pb::RunStepRequest& request, const std::vector<NamedTensor>& feeds,
    CancellationManager* cancellation) {
  std::string key = KeyOf(request, feeds);
  {
    ScopedLock lock(&mutex_);
    auto it = steps_.find(key);
    if (it != steps_.end()) return it->second;
  }
  SLUICE_RETURN_IF_ERROR(CheckFedOnce(feeds));
  std::vector<std::string> fed;
  for (const NamedTensor& feed : feeds) fed.push_back(feed.name);
  SLUICE_ASSIGN_OR_RETURN(Callable callable,
                          session_.MakeCallable(fed, Strings(request.fetch()),
                                                Strings(request.target()), cancellation));
  auto step = std::make_shared<Step>(std::move(callable));
  ScopedLock lock(&mutex_);
  return steps_.emplace(std::move(key), std::move(step)).first->second;
}

absl::Status MasterSession::Run(Step& step, const std::vector<NamedTensor>& feeds,
                                const pb::RunOptions& options, CancellationManager* cancellation,
                                Tensors* fetches, pb::RunMetadata* metadata) {
  RunOptions run;
  for (const pb::DebugTensorWatch& watch : options.debug_options().debug_tensor_watch_opts()) {
    if (!IsNumericsWatch(watch)) {
      return From(absl::UnimplementedError(
          "RunOptions.debug_options: this server writes no watched tensors; fetch them, or run the "
          "step with a trace"));
    }
    run.check_numerics = true;
  }
  run.timeout_ms = options.timeout_in_ms();
  run.cancellation = cancellation;
  const bool measures = cost_model_.every > 0 &&
                        cost_model_.Includes(step.count.fetch_add(1, std::memory_order_relaxed));
  const bool traces = options.trace_level() != pb::RunOptions::NO_TRACE;
  const bool partitions = options.output_partition_graphs();
  run.trace = traces || measures;
  run.output_partition_graphs = partitions || measures;
  Tensors values;
  for (const NamedTensor& feed : feeds) values.push_back(feed.value);
  RunMetadata collected;
  const bool collects = run.trace || run.output_partition_graphs;
  SLUICE_RETURN_IF_ERROR(
      From(step.callable.RunInto(values, fetches, run, collects ? &collected : nullptr)));
  if (measures && collected.step_stats != nullptr) {
    for (const auto& graph : collected.partition_graphs) {
      AddCosts(*graph, *collected.step_stats, metadata->mutable_cost_graph());
    }
  }
  if (!traces) collected.step_stats = nullptr;
  if (!partitions) collected.partition_graphs.clear();
  return collects ? MetadataToProto(collected, metadata) : absl::OkStatus();
}

absl::Status MasterSession::RunStep(const pb::RunStepRequest& request,
                                    std::vector<NamedTensor> feeds,
                                    CancellationManager* cancellation,
                                    std::vector<NamedTensor>* fetches, pb::RunMetadata* metadata) {
  const RunningCall call(running_);
  SLUICE_RETURN_IF_ERROR(call.status());
  if (!request.partial_run_handle().empty()) {
    return RunPartially(request, std::move(feeds), cancellation, fetches);
  }
  if (const int64_t timeout_ms = request.options().timeout_in_ms(); timeout_ms > 0) {
    cancellation->set_deadline(CancellationManager::DeadlineAfter(timeout_ms));
  }
  const auto step = StepFor(request, feeds, cancellation);
  if (!step.ok()) return From(WithLimits(step.status()));
  Tensors values;
  SLUICE_RETURN_IF_ERROR(Run(**step, feeds, request.options(), cancellation, &values, metadata));
  for (size_t i = 0; i < values.size(); ++i) {
    fetches->push_back({request.fetch(static_cast<int>(i)), std::move(values[i])});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> MasterSession::SetUpPartialRun(
    const pb::PartialRunSetupRequest& request) {
  absl::StatusOr<std::unique_ptr<PartialRun>> run = session_.StartPartialRun(
      Strings(request.feed()), Strings(request.fetch()), Strings(request.target()));
  if (!run.ok()) return From(run.status());
  ScopedLock lock(&mutex_);
  std::string handle = StrCat(next_partial_run_++);
  partial_runs_.emplace(handle, *std::move(run));
  return handle;
}

absl::Status MasterSession::RunPartially(const pb::RunStepRequest& request,
                                         std::vector<NamedTensor> feeds,
                                         CancellationManager* cancellation,
                                         std::vector<NamedTensor>* fetches) {
  std::shared_ptr<PartialRun> run;
  {
    ScopedLock lock(&mutex_);
    auto it = partial_runs_.find(request.partial_run_handle());
    if (it != partial_runs_.end()) run = it->second;
  }
  SLUICE_INVALID_IF(run == nullptr, "Must run PartialRunSetup before performing partial runs");
  std::vector<NamedFeed> fed;
  for (NamedTensor& feed : feeds) fed.push_back({feed.name, std::move(feed.value)});
  const std::vector<std::string> names = Strings(request.fetch());
  absl::StatusOr<Tensors> values = run->Run(fed, names, cancellation);
  if (run->has_ended()) {
    ScopedLock lock(&mutex_);
    partial_runs_.erase(request.partial_run_handle());
  }
  if (!values.ok()) return From(values.status());
  for (size_t i = 0; i < names.size(); ++i) {
    fetches->push_back({names[i], std::move((*values)[i])});
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MasterSession::MakeCallable(const pb::CallableOptions& options) {
  if (options.tensor_connection_size() > 0) {
    return absl::UnimplementedError("a callable with tensor connections: this server makes none");
  }
  absl::StatusOr<Callable> callable = session_.MakeCallable(
      Strings(options.feed()), Strings(options.fetch()), Strings(options.target()));
  if (!callable.ok()) return From(WithLimits(callable.status()));
  ScopedLock lock(&mutex_);
  callables_[next_callable_] = {std::make_shared<Step>(*std::move(callable)), options.run_options(),
                                Strings(options.fetch())};
  return next_callable_++;
}

absl::Status MasterSession::RunCallable(int64_t handle, const std::vector<NamedTensor>& feeds,
                                        CancellationManager* cancellation,
                                        std::vector<NamedTensor>* fetches,
                                        pb::RunMetadata* metadata) {
  const RunningCall call(running_);
  SLUICE_RETURN_IF_ERROR(call.status());
  MadeCallable made;
  {
    ScopedLock lock(&mutex_);
    auto it = callables_.find(handle);
    SLUICE_INVALID_IF(it == callables_.end(),
                      handle < next_callable_
                          ? "Attempted to run callable after handle was released: "
                          : "No such callable handle: ",
                      handle);
    made = it->second;
  }
  Tensors values;
  SLUICE_RETURN_IF_ERROR(Run(*made.step, feeds, made.options, cancellation, &values, metadata));
  for (size_t i = 0; i < values.size(); ++i) {
    fetches->push_back({made.fetches[i], std::move(values[i])});
  }
  return absl::OkStatus();
}

absl::Status MasterSession::ReleaseCallable(int64_t handle) {
  ScopedLock lock(&mutex_);
  if (callables_.erase(handle) != 0) return absl::OkStatus();
  return InvalidArgument("No such callable handle: ", handle);
}

void MasterSession::Close(std::shared_ptr<void> awaiting) {
  session_.Close().IgnoreError();
  std::map<std::string, std::shared_ptr<PartialRun>> runs;  // destroyed without the lock
  ScopedLock lock(&mutex_);
  runs.swap(partial_runs_);
  if (awaiting != nullptr) awaiting_ = std::move(awaiting);
}

}  // namespace sluice
