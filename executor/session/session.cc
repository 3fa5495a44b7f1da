#include "executor/session/session.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "executor/session/session_state.h"
#include "graph/status.h"

namespace sluice {
namespace {

using FeedPointers = absl::InlinedVector<const Tensor*, 8>;

absl::StatusOr<Tensors> RunForTensors(SessionState& state, SessionPlan& plan,
                                      const FeedPointers& feeds, size_t num_fetches,
                                      const RunOptions& options, RunMetadata* metadata) {
  Tensors fetches(num_fetches);
  SLUICE_RETURN_IF_ERROR(state.RunPlan(plan, feeds, fetches.data(), options, metadata));
  return fetches;
}

absl::StatusOr<Output> FindFeed(const Graph& graph, const std::string& name) {
  absl::StatusOr<Output> output = graph.FindOutput(name);
  if (output.ok() && output->index >= 0) return output;
  return absl::NotFoundError(StrCat("FeedInputs: unable to find feed output ", name));
}

absl::StatusOr<Output> FindFetch(const Graph& graph, const std::string& name) {
  const Node* node = graph.Find(std::string_view(name).substr(0, name.rfind(':')));
  if (node == nullptr) node = graph.Find(name);
  if (node == nullptr) {
    return absl::NotFoundError(StrCat("FetchOutputs node ", name, ": not found"));
  }
  absl::StatusOr<Output> output = graph.FindOutput(name);
  if (output.ok()) return output;
  if (node->num_outputs() == 0) return Output(const_cast<Node*>(node), 0);  // refused later
  return InvalidArgument("FetchOutputs ", name, ": output index too large, must be < ",
                         node->num_outputs());
}

}  // namespace

Session::Session(Graph& graph, SessionOptions options)
    : state_(std::make_shared<SessionState>(graph, std::move(options))) {}
Session::~Session() = default;

DeviceSet& Session::devices() const { return state_->devices(); }
Graph& Session::graph() const { return state_->graph(); }

absl::StatusOr<Tensors> Session::Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                                     absl::Span<const Operation> targets, const RunOptions& options,
                                     RunMetadata* metadata) {
  PlanRequest request;
  if (!feeds.empty()) request.first_feed = &feeds[0].tensor;
  request.feed_stride = sizeof(Feed);
  request.num_feeds = feeds.size();
  request.fetches = fetches;
  request.targets = targets;
  SLUICE_ASSIGN_OR_RETURN(SessionPlan * plan, state_->PlanFor(request));
  FeedPointers values;
  for (const Feed& feed : feeds) values.push_back(&feed.value);
  return RunForTensors(*state_, *plan, values, fetches.size(), options, metadata);
}

absl::Status Session::Run(absl::Span<const Operation> targets) {
  PlanRequest request;
  request.targets = targets;
  SLUICE_ASSIGN_OR_RETURN(SessionPlan * plan, state_->PlanFor(request));
  return state_->RunPlan(*plan, {}, nullptr, {}, nullptr);
}

absl::StatusOr<Tensors> Session::Run(absl::Span<const NamedFeed> feeds,
                                     absl::Span<const std::string> fetches,
                                     absl::Span<const std::string> targets,
                                     const RunOptions& options, RunMetadata* metadata) {
  const Graph& graph = state_->graph();
  SLUICE_RETURN_IF_ERROR(graph.status());
  std::vector<Output> fed, fetched;
  std::vector<Operation> run;
  FeedPointers values;
  for (const NamedFeed& feed : feeds) {
    SLUICE_ASSIGN_OR_RETURN(Output output, FindFeed(graph, feed.tensor));
    fed.push_back(output);
    values.push_back(&feed.value);
  }
  for (const std::string& name : fetches) {
    SLUICE_ASSIGN_OR_RETURN(Output output, FindFetch(graph, name));
    fetched.push_back(output);
  }
  std::string missing;
  for (const std::string& name : targets) {
    Node* node = graph.Find(name);
    if (node == nullptr) StrAppend(&missing, missing.empty() ? "" : ", ", name);
    run.push_back(Operation(node));
  }
  if (!missing.empty()) {
    return absl::NotFoundError(StrCat("PruneForTargets: Some target nodes not found: ", missing));
  }
  PlanRequest request;
  if (!fed.empty()) request.first_feed = fed.data();
  request.num_feeds = fed.size();
  request.fetches = fetched;
  request.targets = run;
  SLUICE_ASSIGN_OR_RETURN(SessionPlan * plan, state_->PlanFor(request));
  return RunForTensors(*state_, *plan, values, fetches.size(), options, metadata);
}

absl::StatusOr<Callable> Session::MakeCallable(absl::Span<const Output> feeds,
                                               absl::Span<const Output> fetches,
                                               absl::Span<const Operation> targets) {
  PlanRequest request;
  if (!feeds.empty()) request.first_feed = feeds.data();
  request.num_feeds = feeds.size();
  request.fetches = fetches;
  request.targets = targets;
  Callable callable;
  SLUICE_ASSIGN_OR_RETURN(callable.plan_, state_->PlanFor(request));
  callable.session_ = state_;
  return callable;
}

std::vector<Stalls::Report> Session::Stalls() const { return state_->stalls().Describe(); }
std::string Session::StallReport() const { return state_->stalls().ToString(); }

absl::Status Session::Close() {
  state_->Close();
  return absl::OkStatus();
}

absl::Status Callable::RunInto(absl::Span<const Tensor> feeds, Tensors* fetches,
                               const RunOptions& options, RunMetadata* metadata) const {
  if (plan_ == nullptr) return absl::FailedPreconditionError("an empty Callable was run");
  if (feeds.size() != plan_->feeds().size()) {
    return InvalidArgument("Expected ", plan_->feeds().size(), " feed tensors, but got ",
                           feeds.size());
  }
  FeedPointers values;
  for (const Tensor& feed : feeds) values.push_back(&feed);
  fetches->resize(plan_->plan().num_fetches);
  return session_->RunPlan(*plan_, values, fetches->data(), options, metadata);
}

absl::StatusOr<Tensors> Callable::Run(absl::Span<const Tensor> feeds, const RunOptions& options,
                                      RunMetadata* metadata) const {
  Tensors fetches;
  SLUICE_RETURN_IF_ERROR(RunInto(feeds, &fetches, options, metadata));
  return fetches;
}

}  // namespace sluice
