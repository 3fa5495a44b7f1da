#include "executor/session/step_memory.h"

#include "executor/session/session_state.h"
#include "graph/status.h"

namespace sluice {

absl::StatusOr<MemoryPlan> MemoryOf(Graph& graph, const SessionOptions& options,
                                    absl::Span<const std::pair<Output, TensorShape>> feeds,
                                    const OutputList& fetches,
                                    const std::vector<Operation>& targets) {
  SessionState state(graph, options);
  OutputList fed;
  std::vector<TensorShape> shapes;
  for (const auto& [output, shape] : feeds) {
    fed.push_back(output);
    shapes.push_back(shape);
  }
  StepRequest request;
  request.first_feed = fed.data();
  request.num_feeds = fed.size();
  request.fetches = fetches;
  request.targets = targets;
  SLUICE_ASSIGN_OR_RETURN(PreparedStep * step, state.StepFor(request, [&] { return shapes; }));
  if (step->plan() != nullptr) return MemoryOf(*step->plan(), shapes);
  return InvalidArgument("MemoryOf: expected a step on one task of this process");
}

}  // namespace sluice
