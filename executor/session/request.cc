#include "executor/session/request.h"

#include <string_view>

#include "graph/ir/unregistered_op.h"
#include "graph/status.h"

namespace sluice {
namespace {

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
  if (!IsRegistered(*node)) return UnregisteredOpError(*node);
  if (node->num_outputs() == 0) return Output(const_cast<Node*>(node), 0);  // CheckRequest refuses
  return InvalidArgument("FetchOutputs ", name, ": output index too large, must be < ",
                         node->num_outputs());
}

absl::Status CheckHandle(const Graph& graph, const Node* node, const char* what) {
  SLUICE_INVALID_IF(node == nullptr, "a ", what, " is an invalid handle");
  if (node->graph() == &graph) return absl::OkStatus();
  return InvalidArgument(what, " '", node->name(), "' is of another graph than the session's");
}

absl::Status CheckIndex(const Output& tensor, const char* text) {
  const Node& node = *tensor.node;
  if (tensor.index >= 0 && tensor.index < node.num_outputs()) return absl::OkStatus();
  SLUICE_INVALID_IF(node.num_outputs() == 0, "Tried to fetch data for '", tensor.name(),
                    "', which produces no output.  To run to a node but not fetch any "
                    "data, pass '",
                    tensor.name(),
                    "' as an argument to the 'target_node_names' argument of "
                    "the Session::Run API.");
  return InvalidArgument(text, " ", tensor.name(), ": output index too large, must be < ",
                         node.num_outputs());
}

}  // namespace

absl::StatusOr<NamedRequest> FindByName(const Graph& graph, absl::Span<const std::string> feeds,
                                        absl::Span<const std::string> fetches,
                                        absl::Span<const std::string> targets) {
  SLUICE_RETURN_IF_ERROR(graph.status());
  NamedRequest request;
  for (const std::string& name : feeds) {
    SLUICE_ASSIGN_OR_RETURN(Output output, FindFeed(graph, name));
    request.feeds.push_back(output);
  }
  for (const std::string& name : fetches) {
    SLUICE_ASSIGN_OR_RETURN(Output output, FindFetch(graph, name));
    request.fetches.push_back(output);
  }
  std::string missing;
  for (const std::string& name : targets) {
    Node* node = graph.Find(name);
    if (node == nullptr) StrAppend(&missing, missing.empty() ? "" : ", ", name);
    request.targets.push_back(Operation(node));
  }
  if (missing.empty()) return request;
  return absl::NotFoundError(StrCat("PruneForTargets: Some target nodes not found: ", missing));
}

absl::Status CheckRequest(const Graph& graph, const StepRequest& request) {
  SLUICE_RETURN_IF_ERROR(graph.status());
  for (size_t i = 0; i < request.num_feeds; ++i) {
    SLUICE_RETURN_IF_ERROR(CheckHandle(graph, request.feed(i).node, "feed"));
    SLUICE_RETURN_IF_ERROR(CheckIndex(request.feed(i), "FeedInputs"));
  }
  for (const Output& fetch : request.fetches) {
    SLUICE_RETURN_IF_ERROR(CheckHandle(graph, fetch.node, "fetch"));
    SLUICE_RETURN_IF_ERROR(CheckIndex(fetch, "FetchOutputs"));
  }
  for (const Operation& target : request.targets) {
    SLUICE_RETURN_IF_ERROR(CheckHandle(graph, target.node, "target"));
  }
  return absl::OkStatus();
}

}  // namespace sluice
