#include "executor/session/partial_run.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "executor/passes/prune.h"
#include "executor/session/session_state.h"
#include "graph/status.h"

namespace sluice {
namespace {

// "x" is "x:0".
std::string TensorName(const std::string& name) {
  return name.find(':') == std::string::npos ? name + ":0" : name;
}

absl::StatusOr<SessionPlan*> PlanOf(SessionState& session, const NamedRequest& named) {
  PlanRequest request;
  request.first_feed = named.feeds.data();
  request.num_feeds = named.feeds.size();
  request.fetches = named.fetches;
  request.targets = named.targets;
  request.is_partial = true;
  return session.PlanFor(request);
}

// The tensors of one piece, as they come in from the step.
class Arrivals {
 public:
  explicit Arrivals(size_t count) : missing_(count), values_(count) {}

  void Set(size_t i, absl::Status status, Tensor value) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (status.ok()) values_[i] = std::move(value);
    if (status_.ok()) status_ = std::move(status);
    if (--missing_ == 0) all_.notify_all();
  }
  absl::StatusOr<Tensors> Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    all_.wait(lock, [this] { return missing_ == 0; });
    if (!status_.ok()) return status_;
    return std::move(values_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  size_t missing_;       // guarded by mutex_
  Tensors values_;       // guarded by mutex_
  absl::Status status_;  // guarded by mutex_
};

}  // namespace

absl::StatusOr<std::unique_ptr<PartialRun>> PartialRun::Start(
    std::shared_ptr<SessionState> session, absl::Span<const std::string> feeds,
    absl::Span<const std::string> fetches, absl::Span<const std::string> targets) {
  SLUICE_ASSIGN_OR_RETURN(const NamedRequest named, session->Resolve(feeds, fetches, targets));
  std::unique_ptr<PartialRun> run;
  if (session->options().master != nullptr) {
    RemoteMaster::Names names;
    for (const Output& feed : named.feeds) names.feeds.push_back(feed.name());
    for (const Output& fetch : named.fetches) names.fetches.push_back(fetch.name());
    for (const Operation& target : named.targets) names.targets.push_back(target.name());
    SLUICE_ASSIGN_OR_RETURN(std::string handle, session->SetUpPartialRun(names));
    run.reset(new PartialRun(std::move(session), std::move(handle)));
  } else {
    SLUICE_ASSIGN_OR_RETURN(SessionPlan * plan, PlanOf(*session, named));
    run.reset(new PartialRun(std::move(session), plan));
  }
  for (const Output& feed : named.feeds) run->feeds_[feed.name()] = {feed};
  for (const Output& fetch : named.fetches) run->fetches_[fetch.name()] = {fetch};
  return run;
}

PartialRun::PartialRun(std::shared_ptr<SessionState> session, SessionPlan* plan)
    : session_(std::move(session)), plan_(plan), step_([this] {
        RunOptions options;
        options.cancellation = &cancellation_;
        status_ = session_->RunPlan(*plan_, {}, nullptr, options, nullptr, &rendezvous_);
        // Who waits for a fetch must not wait for a step that has failed; of one that went well all
        // fetches are there.
        if (!status_.ok()) rendezvous_.StartAbort(status_);
      }) {}

PartialRun::PartialRun(std::shared_ptr<SessionState> session, std::string handle)
    : session_(std::move(session)), plan_(nullptr), master_handle_(std::move(handle)) {}

PartialRun::~PartialRun() {
  cancellation_.StartCancel();
  End().IgnoreError();
}

bool PartialRun::has_ended() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return ended_;
}

std::string PartialRun::KeyOf(const Output& tensor) const {
  return ClientKey(tensor, session_->devices().device(0).name);
}

absl::Status PartialRun::CheckFeedValue(const Output& feed, const Tensor& value) const {
  if (plan_ == nullptr) return absl::OkStatus();
  for (size_t i = 0; i < plan_->feeds().size(); ++i) {
    if (plan_->feeds()[i] == feed) return plan_->CheckFeed(static_cast<int>(i), value);
  }
  return absl::OkStatus();
}

// With mutex_ held; marks what the piece feeds and fetches.
absl::Status PartialRun::CheckPiece(absl::Span<const NamedFeed> feeds,
                                    absl::Span<const std::string> fetches) {
  for (const NamedFeed& feed : feeds) {
    auto it = feeds_.find(TensorName(feed.tensor));
    if (it == feeds_.end()) {
      return InvalidArgument("The feed ", feed.tensor, " was not specified in partial_run_setup.");
    }
    if (it->second.is_done) {
      return InvalidArgument("The feed ", feed.tensor, " has already been fed.");
    }
    SLUICE_RETURN_IF_ERROR(CheckFeedValue(it->second.tensor, feed.value));
  }
  for (const std::string& fetch : fetches) {
    auto it = fetches_.find(TensorName(fetch));
    if (it == fetches_.end()) {
      return InvalidArgument("The fetch ", fetch, " was not specified in partial_run_setup.");
    }
    if (it->second.is_done) {
      return InvalidArgument("The fetch ", fetch, " has already been fetched.");
    }
  }
  for (const NamedFeed& feed : feeds) feeds_[TensorName(feed.tensor)].is_done = true;
  for (const std::string& fetch : fetches) {
    absl::Status status = CheckComputable(fetches_[TensorName(fetch)].tensor);
    if (status.ok()) continue;
    for (const NamedFeed& feed : feeds) feeds_[TensorName(feed.tensor)].is_done = false;
    return status;
  }
  for (const std::string& fetch : fetches) fetches_[TensorName(fetch)].is_done = true;
  return absl::OkStatus();
}

// With mutex_ held: no feed that is yet to come may be needed.
absl::Status PartialRun::CheckComputable(const Output& fetch) const {
  const auto graph_lock = session_->LockGraph();
  std::unordered_set<const Node*> seen;
  std::vector<Output> stack = {fetch};
  while (!stack.empty()) {
    const Output at = stack.back();
    stack.pop_back();
    if (auto fed = feeds_.find(at.name()); fed != feeds_.end()) {
      if (fed->second.is_done) continue;
      return InvalidArgument("Fetch ", fetch.name(),
                             " can't be computed from the feeds that have been fed so far: ",
                             at.name(), " is missing.");
    }
    if (!seen.insert(at.node).second) continue;
    for (const Output& in : at.node->inputs()) {
      if (in) stack.push_back(in);
    }
    for (Node* control : at.node->control_inputs()) stack.push_back(Output(control, 0));
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensors> PartialRun::Receive(absl::Span<const std::string> fetches) {
  Arrivals arrivals(fetches.size());
  for (size_t i = 0; i < fetches.size(); ++i) {
    Output tensor;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      tensor = fetches_[TensorName(fetches[i])].tensor;
    }
    rendezvous_.RecvAsync(
        KeyOf(tensor), nullptr, [&, i](absl::Status status, Tensor value, bool is_dead) {
          if (status.ok() && is_dead) {
            status = InvalidArgument("The tensor returned for ", fetches[i], " was not valid.");
          }
          arrivals.Set(i, std::move(status), std::move(value));
        });
  }
  if (fetches.empty()) return Tensors();
  return arrivals.Wait();
}

absl::Status PartialRun::End() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  std::lock_guard<std::mutex> lock(join_mutex_);
  if (step_.joinable()) step_.join();
  return status_;
}

bool PartialRun::AllDone() const {
  bool all_done = true;
  for (const Endpoints* endpoints : {&feeds_, &fetches_}) {
    for (const auto& [name, endpoint] : *endpoints) all_done &= endpoint.is_done;
  }
  return all_done;
}

absl::StatusOr<Tensors> PartialRun::RunOnMaster(absl::Span<const NamedFeed> feeds,
                                                absl::Span<const std::string> fetches,
                                                CancellationManager* cancellation) {
  RemoteMaster::Names names;
  std::vector<const Tensor*> values;
  for (const NamedFeed& feed : feeds) {
    names.feeds.push_back(TensorName(feed.tensor));
    values.push_back(&feed.value);
  }
  for (const std::string& fetch : fetches) names.fetches.push_back(TensorName(fetch));
  Tensors fetched(fetches.size());
  const absl::Status status =
      session_->OnMaster(cancellation, [&](RemoteMaster& master, CancellationManager& of_call) {
        RunOptions options;
        options.cancellation = &of_call;
        return master.Run(names, values, fetched.data(), options, nullptr, master_handle_);
      });
  std::lock_guard<std::mutex> lock(mutex_);
  ended_ = !status.ok() || AllDone();
  if (!status.ok()) return status;
  return fetched;
}

absl::StatusOr<Tensors> PartialRun::Run(absl::Span<const NamedFeed> feeds,
                                        absl::Span<const std::string> fetches,
                                        CancellationManager* cancellation) {
  std::vector<std::pair<std::string, Tensor>> sent;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return InvalidArgument("Must run 'setup' before performing partial runs!");
    SLUICE_RETURN_IF_ERROR(CheckPiece(feeds, fetches));
    for (const NamedFeed& feed : feeds) {
      sent.emplace_back(KeyOf(feeds_[TensorName(feed.tensor)].tensor), feed.value);
    }
  }
  if (plan_ == nullptr) return RunOnMaster(feeds, fetches, cancellation);
  const CancellationManager::Token token = cancellation ? cancellation->NewToken() : 0;
  if (cancellation != nullptr &&
      !cancellation->Register(token, [this] { cancellation_.StartCancel(); })) {
    cancellation_.StartCancel();
  }
  absl::Status status;
  for (auto& [key, value] : sent) status.Update(rendezvous_.Send(key, std::move(value), false));
  absl::StatusOr<Tensors> received = Receive(fetches);
  if (cancellation != nullptr) cancellation->Deregister(token);
  if (status.ok()) status = received.status();
  bool all_done;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    all_done = AllDone();
  }
  if (status.ok() && !all_done) return received;
  if (!status.ok()) cancellation_.StartCancel();
  const absl::Status of_step = End();
  if (!of_step.ok()) return of_step;
  if (!status.ok()) return status;
  return received;
}

}  // namespace sluice
