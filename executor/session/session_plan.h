// A compiled combination of feeds, fetches and targets, with its idle Steps.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_EXECUTOR_SESSION_SESSION_PLAN_H_
#define SLUICE_EXECUTOR_SESSION_SESSION_PLAN_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "executor/plan/plan.h"
#include "executor/session/remote_master.h"
#include "executor/step/step.h"
#include "graph/ir/graph.h"

namespace sluice {

class SessionPlan {
 public:
  // A part on another task; numbers of feeds and fetches are the step's.
  struct RemotePart {
    std::string task;
    std::string handle;
    std::vector<int> feeds, fetches;
    std::shared_ptr<const Graph> graph;
  };
  struct Distribution {
    bool has_local = false;  // something runs here
    std::vector<int> local_feeds, local_fetches;
    std::vector<RemotePart> remote;
    size_t num_fetches = 0;
  };
  // What a master in another process is asked for.
  using Names = RemoteMaster::Names;
  SessionPlan(std::shared_ptr<const Plan> plan, const StepEnvironment& environment,
              std::vector<Output> feeds);
  ~SessionPlan();

  // An idle step; goes back with Return.
  Step* Take();
  void Return(Step* step);
  // Cancels the steps under way.
  void CancelAll(const absl::Status& status);

  // Of this task's part.
  const Plan& plan() const { return *plan_; }
  // Null where all of it runs on this task.
  const Distribution* distribution() const { return distribution_.get(); }
  void set_distribution(std::unique_ptr<Distribution> d) { distribution_ = std::move(d); }
  // Null where this process runs the step.
  const Names* names() const { return names_.get(); }
  void set_names(std::unique_ptr<const Names> names) { names_ = std::move(names); }
  size_t num_fetches() const {
    if (names_ != nullptr) return names_->fetches.size();
    return distribution_ != nullptr ? distribution_->num_fetches : plan_->num_fetches;
  }
  const std::vector<Output>& feeds() const { return feeds_; }
  // The graph sends tensors to itself: a step needs a rendezvous wherever it runs.
  bool sends_to_itself() const { return sends_to_itself_; }

  // A value for feed i. INVALID_ARGUMENT when type or shape do not fit.
  absl::Status CheckFeed(int i, const Tensor& value) const;

 private:
  const std::shared_ptr<const Plan> plan_;
  const StepEnvironment environment_;
  const std::vector<Output> feeds_;
  const bool sends_to_itself_;
  std::unique_ptr<Distribution> distribution_;
  std::unique_ptr<const Names> names_;
  std::atomic<Step*> spare_{nullptr};  // the step of a session with one thread
  std::mutex mutex_;
  std::vector<std::unique_ptr<Step>> steps_;  // all; guarded by mutex_
  std::vector<Step*> idle_;                   // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_SESSION_PLAN_H_
