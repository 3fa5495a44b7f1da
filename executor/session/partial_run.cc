#include "executor/session/partial_run.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include "executor/session/request.h"
#include "executor/session/session_state.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns the name with its output index: "x:0" for "x".
std::string TensorName(const std::string& name) {
  return name.find(':') == std::string::npos ? name + ":0" : name;
}

}  // namespace

PartialRun::PartialRun(std::shared_ptr<SessionState> session, const NamedRequest& request)
    : session_(std::move(session)) {
  for (const Output& feed : request.feeds) feeds_[feed.name()] = {feed};
  for (const Output& fetch : request.fetches) fetches_[fetch.name()] = {fetch};
}

bool PartialRun::has_ended() const {
  ScopedLock lock(&mutex_);
  return ended_;
}

absl::Status PartialRun::CheckAnnounced(absl::Span<const NamedFeed> feeds,
                                        absl::Span<const std::string> fetches) {
  for (const NamedFeed& feed : feeds) {
    auto it = feeds_.find(TensorName(feed.tensor));
    SLUICE_INVALID_IF(it == feeds_.end(), "The feed ", feed.tensor,
                      " was not specified in partial_run_setup.");
    SLUICE_INVALID_IF(it->second.is_done, "The feed ", feed.tensor, " has already been fed.");
    SLUICE_RETURN_IF_ERROR(CheckFeedValue(it->second.tensor, feed.value));
  }
  for (const std::string& fetch : fetches) {
    auto it = fetches_.find(TensorName(fetch));
    SLUICE_INVALID_IF(it == fetches_.end(), "The fetch ", fetch,
                      " was not specified in partial_run_setup.");
    SLUICE_INVALID_IF(it->second.is_done, "The fetch ", fetch, " has already been fetched.");
  }
  return absl::OkStatus();
}

absl::Status PartialRun::CheckPiece(absl::Span<const NamedFeed> feeds,
                                    absl::Span<const std::string> fetches) {
  SLUICE_RETURN_IF_ERROR(CheckAnnounced(feeds, fetches));
  const auto set_fed = [&](bool is_done) {
    mutex_.AssertHeld();  // by the caller
    for (const NamedFeed& feed : feeds) feeds_[TensorName(feed.tensor)].is_done = is_done;
  };
  set_fed(true);
  for (const std::string& fetch : fetches) {
    absl::Status status = CheckComputable(fetches_[TensorName(fetch)].tensor);
    if (status.ok()) continue;
    set_fed(false);
    return status;
  }
  for (const std::string& fetch : fetches) fetches_[TensorName(fetch)].is_done = true;
  return absl::OkStatus();
}

// A fetch must not need a feed that was not fed yet.
absl::Status PartialRun::CheckComputable(const Output& fetch) const {
  ReaderLock reading(session_->graph_mutex());
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack;
  // Adds the node of a tensor that the fetch needs, unless the tensor is fed.
  const auto need = [&](const Output& tensor) {
    mutex_.AssertHeld();  // by the caller
    const auto fed = feeds_.find(tensor.name());
    if (fed == feeds_.end()) {
      if (seen.insert(tensor.node).second) stack.push_back(tensor.node);
      return absl::OkStatus();
    }
    if (fed->second.is_done) return absl::OkStatus();
    return InvalidArgument("Fetch ", fetch.name(),
                           " can't be computed from the feeds that have been fed so far: ",
                           tensor.name(), " is missing.");
  };
  SLUICE_RETURN_IF_ERROR(need(fetch));
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Output& in : node->inputs()) {
      if (in) SLUICE_RETURN_IF_ERROR(need(in));
    }
    for (Node* control : node->control_inputs()) {
      // A fed node of another op runs, too, for its control outputs.
      if (control->role() == OpRole::kPlaceholder) {
        SLUICE_RETURN_IF_ERROR(need(Output(control)));
      } else if (seen.insert(control).second) {
        stack.push_back(control);
      }
    }
  }
  return absl::OkStatus();
}

bool PartialRun::AllDone() const {
  bool all_done = true;
  for (const Endpoints* endpoints : {&feeds_, &fetches_}) {
    for (const auto& [name, endpoint] : *endpoints) all_done &= endpoint.is_done;
  }
  return all_done;
}

absl::StatusOr<Tensors> PartialRun::Run(absl::Span<const NamedFeed> feeds,
                                        absl::Span<const std::string> fetches,
                                        CancellationManager* cancellation) {
  std::vector<Feed> fed;
  std::vector<Output> fetched;
  {
    ScopedLock lock(&mutex_);
    SLUICE_INVALID_IF(ended_, "Must run 'setup' before performing partial runs!");
    SLUICE_RETURN_IF_ERROR(CheckPiece(feeds, fetches));
    for (const NamedFeed& feed : feeds) {
      fed.push_back({feeds_[TensorName(feed.tensor)].tensor, feed.value});
    }
    for (const std::string& fetch : fetches) {
      fetched.push_back(fetches_[TensorName(fetch)].tensor);
    }
  }
  absl::StatusOr<Tensors> result = RunPiece(fed, fetched, cancellation);
  {
    ScopedLock lock(&mutex_);
    if (result.ok() && !AllDone()) return result;
    ended_ = true;
  }
  SLUICE_RETURN_IF_ERROR(End(result.status()));
  return result;
}

}  // namespace sluice
