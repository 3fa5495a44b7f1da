#include "executor/session/local_runner.h"

#include <utility>

#include "executor/placer/placer.h"
#include "executor/session/explain.h"
#include "executor/session/local_partial_run.h"
#include "executor/session/local_step.h"
#include "executor/session/session_state.h"
#include "executor/wait/cancellation.h"
#include "graph/status.h"

namespace sluice {

LocalRunner::LocalRunner(Graph& graph, TaskExecutor& executor, std::vector<DeviceInfo> devices)
    : graph_(graph),
      executor_(executor),
      step_graphs_(std::move(devices),
                   {.allow_soft_placement = executor.options().allow_soft_placement,
                    .log_device_placement = executor.options().log_device_placement}) {}

absl::StatusOr<std::unique_ptr<PreparedStep>> LocalRunner::Prepare(const StepRequest& request,
                                                                   FeedShapes shapes) {
  PassOptions passes;
  passes.disabled = executor_.options().disabled_passes;
  passes.memory = executor_.environment().allocator;
  passes.memory_limit_bytes = executor_.options().memory_limit_bytes;
  passes.is_wanted = [this, cancellation = request.cancellation] {
    return (cancellation == nullptr || cancellation->IsWanted()) && executor_.CheckOpen().ok();
  };
  for (const Operation& target : request.targets) passes.keep.insert(target.name());
  PruneOptions prune;
  if (request.is_partial) prune.client_device = executor_.devices().device(0).name;
  SLUICE_ASSIGN_OR_RETURN(
      std::shared_ptr<Graph> graph,
      step_graphs_.Make(graph_, request.feeds(), request.fetches, request.targets, prune, passes));
  return PreparePlaced(std::move(graph), request, passes, shapes);
}

absl::StatusOr<std::unique_ptr<PreparedStep>> LocalRunner::PreparePlaced(
    std::shared_ptr<Graph> graph, const StepRequest& request, const PassOptions& passes,
    FeedShapes shapes) {
  // A partial run has no limit: recomputing across its pieces could make them wait for each other.
  if (passes.memory_limit_bytes > 0 && !request.is_partial) {
    return PrepareWithinLimit(graph, request, passes, shapes());
  }
  return executor_.Compile(std::move(graph), request.feeds());
}

absl::StatusOr<std::unique_ptr<PreparedStep>> LocalRunner::PrepareWithinLimit(
    const std::shared_ptr<Graph>& graph, const StepRequest& request, const PassOptions& passes,
    const std::vector<TensorShape>& shapes) {
  SLUICE_ASSIGN_OR_RETURN(
      const PlannedStep step,
      CompileWithinLimit(graph, shapes, executor_.CompileOptionsFor(graph, passes)));
  const int64_t limit = passes.memory_limit_bytes;
  if (step.memory.peak_bytes > limit && !std::exchange(has_warned_, true)) {
    executor_.options().warn(StrCat("a step is planned to need ", step.memory.peak_bytes,
                                    " bytes, more than the memory limit of ", limit, "; ",
                                    step.memory.ToString()));
  }
  return std::make_unique<LocalStep>(executor_, step.plan, request.feeds());
}

absl::Status LocalRunner::PlaceAll() {
  return Place(graph_, step_graphs_.devices(),
               {.allow_soft_placement = executor_.options().allow_soft_placement});
}

absl::StatusOr<std::unique_ptr<PartialRun>> LocalRunner::StartPartialRun(
    const std::shared_ptr<SessionState>& session, const NamedRequest& request) {
  StepRequest partial = request.ByHandles();
  partial.is_partial = true;
  SLUICE_ASSIGN_OR_RETURN(PreparedStep * step, session->StepFor(partial));
  return LocalPartialRun::Start(session, request, *step);
}

absl::Status LocalRunner::Explain(absl::Status error) const {
  return ExplainError(std::move(error), graph_);
}

}  // namespace sluice
