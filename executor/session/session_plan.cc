#include "executor/session/session_plan.h"

#include <utility>

#include "graph/status.h"

namespace sluice {
namespace {

bool HasTransfers(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (node->op() == "Send" || node->op() == "Recv") return true;
  }
  return false;
}

}  // namespace

SessionPlan::SessionPlan(std::shared_ptr<const Plan> plan, const StepEnvironment& environment,
                         std::vector<Output> feeds)
    : plan_(std::move(plan)),
      environment_(environment),
      feeds_(std::move(feeds)),
      sends_to_itself_(HasTransfers(*plan_->graph)) {}

SessionPlan::~SessionPlan() = default;

Step* SessionPlan::Take() {
  if (Step* step = spare_.exchange(nullptr, std::memory_order_acquire)) return step;
  std::lock_guard<std::mutex> lock(mutex_);
  if (!idle_.empty()) {
    Step* step = idle_.back();
    idle_.pop_back();
    return step;
  }
  steps_.push_back(std::make_unique<Step>(plan_, environment_));
  return steps_.back().get();
}

void SessionPlan::Return(Step* step) {
  Step* none = nullptr;
  if (spare_.compare_exchange_strong(none, step, std::memory_order_release)) return;
  std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(step);
}

void SessionPlan::CancelAll(const absl::Status& status) {
  std::vector<Step*> steps;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& step : steps_) steps.push_back(step.get());
  }
  for (Step* step : steps) step->Cancel(status);
}

absl::Status SessionPlan::CheckFeed(int i, const Tensor& value) const {
  const Output& feed = feeds_[i];
  if (value.dtype() != BaseType(feed.dtype())) {
    return InvalidArgument("feed '", feed.name(), "': expected ",
                           DataTypeName(BaseType(feed.dtype())), ", got ",
                           value.dtype() == DT_INVALID ? "nothing" : DataTypeName(value.dtype()));
  }
  const PartialShape& shape = feed.shape();
  if (!shape.rank_known()) return absl::OkStatus();
  bool fits = shape.rank() == value.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) {
    fits = shape.dim(d) < 0 || shape.dim(d) == value.dim(d);
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument("Cannot feed value of shape ", value.shape().ToString(), " for Tensor '",
                         feed.name(), "', which has shape ", shape.ToString());
}

}  // namespace sluice
