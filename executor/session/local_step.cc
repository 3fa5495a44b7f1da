#include "executor/session/local_step.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "executor/device/memory_account.h"
#include "executor/memory/memory_plan.h"
#include "executor/trace/numerics_checker.h"
#include "executor/trace/stats_collector.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Whether the graph has Sends or Recvs of the user. Those that the runtime adds differ: they run
// even if their input is dead, that is, belongs to a branch that is not taken.
bool HasTransfers(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    const bool is_transfer = node->role() == OpRole::kSend || node->role() == OpRole::kReceive;
    if (is_transfer && !node->traits().runs_when_dead) return true;
  }
  return false;
}

CancellationManager::Time DeadlineOf(CancellationManager* cancellation, int64_t timeout_ms) {
  const CancellationManager::Time deadline =
      cancellation != nullptr ? cancellation->deadline() : CancellationManager::Time::max();
  return std::min(deadline, CancellationManager::DeadlineAfter(timeout_ms));
}

absl::Status RunStep(Step& step, const StepArguments& arguments,
                     CancellationManager* cancellation) {
  if (cancellation == nullptr) return step.Run(arguments);
  const CancellationManager::Token token = cancellation->NewToken();
  const absl::Status cancelled = absl::CancelledError("Run call was cancelled");
  if (!cancellation->Register(token, [&] { step.Cancel(cancelled); })) return cancelled;
  absl::Status status = step.Run(arguments);
  // The cancellation may have come after the end of Run.
  if (!cancellation->Deregister(token)) step.ForgetCancellation();
  return status;
}

// Whether the session's memory limit permits the feeds in addition to what the session uses.
// `account` may be null.
bool HasRoomFor(absl::Span<const Tensor* const> feeds, const MemoryAccount* account) {
  if (account == nullptr || account->limit() == 0) return true;
  int64_t bytes = account->bytes_in_use();
  for (const Tensor* feed : feeds) bytes += static_cast<int64_t>(feed->bytes());
  return bytes <= account->limit();
}

// `feeds` are the outputs that are fed, or empty if they are not known.
absl::Status NoMemoryForFeeds(const std::vector<Output>& feeds,
                              absl::Span<const Tensor* const> values) {
  const auto smaller = [](const Tensor* a, const Tensor* b) { return a->bytes() < b->bytes(); };
  const auto largest = std::max_element(values.begin(), values.end(), smaller);
  const auto i = static_cast<size_t>(largest - values.begin());
  const std::string where = i < feeds.size() ? AtNode(feeds[i].node->name()) : "";
  return absl::ResourceExhaustedError(StrCat("OOM when feeding tensor with shape",
                                             (*largest)->shape().ToString(), " and type ",
                                             DataTypeName((*largest)->dtype()), where));
}

}  // namespace

LocalStep::LocalStep(TaskExecutor& executor, std::shared_ptr<const Plan> plan,
                     std::vector<Output> feeds)
    : PreparedStep(std::move(feeds), plan->num_fetches),
      executor_(executor),
      plan_(std::move(plan)),
      sends_to_itself_(HasTransfers(*plan_->graph)) {}

absl::Status LocalStep::Run(const StepCall& call) {
  if (call.metadata != nullptr && call.options.output_partition_graphs) {
    call.metadata->partition_graphs = {plan_->graph};
  }
  absl::Status status = RunPart(TaskExecutor::NextStepId(), call.client, call);
  // ok() is inlined. IsResourceExhausted takes 2 % of an empty step.
  if (status.ok() || !absl::IsResourceExhausted(status)) return status;
  std::vector<TensorShape> shapes;
  for (const Tensor* feed : call.feeds) shapes.push_back(feed->shape());
  std::string report = DescribeMemoryLimits(executor_.devices().memory().get());
  if (!report.empty()) report += '\n';
  return AnnotateAfter(status, StrCat("\n", report, MemoryOf(*plan_, shapes).ToString()));
}

absl::Status LocalStep::RunPart(int64_t step_id, Rendezvous* rendezvous, const StepCall& call) {
  if (!HasRoomFor(call.feeds, executor_.devices().memory().get())) {
    return NoMemoryForFeeds(feeds(), call.feeds);
  }
  Step* step = Take();
  // Checked after Take: closing the session cancels all Steps that exist. If this one is newer,
  // this check sees that the session is closed.
  if (!executor_.is_open()) {
    Return(step);
    return executor_.CheckOpen();
  }
  StepArguments arguments;
  arguments.step_id = step_id;
  arguments.feeds = call.feeds;
  arguments.rendezvous = rendezvous;
  std::optional<LocalRendezvous> own;
  if (rendezvous == nullptr && sends_to_itself_) arguments.rendezvous = &own.emplace();
  arguments.deadline = DeadlineOf(call.options.cancellation, executor_.TimeoutMs(call.options));
  std::unique_ptr<StatsCollector> collector;
  if (call.options.trace && call.metadata != nullptr) {
    collector = std::make_unique<StatsCollector>(executor_.devices().names());
    arguments.observer = collector.get();
  }
  NumericsChecker checker(step_id, arguments.observer);
  if (call.options.check_numerics) arguments.observer = &checker;
  absl::Status status = RunStep(*step, arguments, call.options.cancellation);
  if (status.ok()) {
    for (uint32_t i = 0; i < plan_->num_fetches; ++i) call.fetches[i] = std::move(step->fetch(i));
  }
  Return(step);
  if (call.metadata != nullptr) call.metadata->step_id = step_id;
  if (collector != nullptr) {
    call.metadata->step_stats = std::make_shared<const StepStats>(collector->Take());
  }
  return status;
}

// Takes an idle step. Return puts it back.
Step* LocalStep::Take() {
  if (Step* step = spare_.exchange(nullptr, std::memory_order_acquire)) return step;
  ScopedLock lock(&mutex_);
  if (!idle_.empty()) {
    Step* step = idle_.back();
    idle_.pop_back();
    return step;
  }
  steps_.push_back(std::make_unique<Step>(plan_, executor_.environment()));
  return steps_.back().get();
}

void LocalStep::Return(Step* step) {
  Step* none = nullptr;
  if (spare_.compare_exchange_strong(none, step, std::memory_order_release)) return;
  ScopedLock lock(&mutex_);
  idle_.push_back(step);
}

void LocalStep::CancelRuns(const absl::Status& status) {
  std::vector<Step*> steps;
  {
    ScopedLock lock(&mutex_);
    for (const auto& step : steps_) steps.push_back(step.get());
  }
  for (Step* step : steps) step->Cancel(status);
}

}  // namespace sluice
