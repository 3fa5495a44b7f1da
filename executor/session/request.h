// A request to a session: tensors to feed, tensors to fetch, and ops to run.
#ifndef SLUICE_EXECUTOR_SESSION_REQUEST_H_
#define SLUICE_EXECUTOR_SESSION_REQUEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace sluice {

class CancellationManager;  // executor/wait/cancellation.h

// A request by handles. Lifetime: it points to the caller's lists.
struct StepRequest {
  // The feeds' Outputs are `feed_stride` bytes apart. So a list of Feeds, which contain an Output
  // each, need not be copied to a list of Outputs.
  const Output* first_feed = nullptr;
  size_t feed_stride = sizeof(Output);
  size_t num_feeds = 0;
  absl::Span<const Output> fetches;
  absl::Span<const Operation> targets;
  bool is_partial = false;  // partial run: feeds and fetches pass through a rendezvous
  CancellationManager* cancellation = nullptr;  // ends the preparation; null: nothing does
  // Timeout of files that are read while the step is prepared. 0: the session's timeout.
  int64_t timeout_ms = 0;

  const Output& feed(size_t i) const {
    return *reinterpret_cast<const Output*>(reinterpret_cast<const char*>(first_feed) +
                                            i * feed_stride);
  }
  std::vector<Output> feeds() const {
    std::vector<Output> all;
    for (size_t i = 0; i < num_feeds; ++i) all.push_back(feed(i));
    return all;
  }
};

// The tensors and ops of a request by names, after the names were looked up in the graph.
struct NamedRequest {
  OutputList feeds, fetches;
  std::vector<Operation> targets;

  StepRequest ByHandles() const {
    StepRequest request;
    request.first_feed = feeds.data();
    request.num_feeds = feeds.size();
    request.fetches = fetches;
    request.targets = targets;
    return request;
  }
};

// Finds the nodes of a request. NOT_FOUND in TensorFlow's words if a name is unknown.
absl::StatusOr<NamedRequest> FindByName(const Graph& graph, absl::Span<const std::string> feeds,
                                        absl::Span<const std::string> fetches,
                                        absl::Span<const std::string> targets);

// Returns the graph's error if building it failed. INVALID_ARGUMENT if a handle is invalid, belongs
// to another graph, or names an output that its node does not have.
absl::Status CheckRequest(const Graph& graph, const StepRequest& request);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_REQUEST_H_
