#include "training/session/global_step_read.h"

#include <string>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/operand.h"
#include "ops/state/variable.h"

namespace sluice {
namespace {

constexpr std::string_view kReadCache = "global_step_read_op_cache";

}  // namespace

absl::StatusOr<Output> GlobalStepRead(Graph& graph, std::string_view user) {
  const std::vector<std::string>& reads = graph.Collection(kReadCache);
  if (!reads.empty()) return graph.FindOutput(reads[0]);
  const std::vector<std::string>& steps = graph.Collection(kGlobalStep);
  if (steps.empty()) {
    return absl::FailedPreconditionError(
        StrCat("Global step should be created to use ", user, "."));
  }
  SLUICE_ASSIGN_OR_RETURN(const Variable step, Variable::Find(graph, steps[0]));
  // Leaves the control dependencies and devices of the caller, because they do not apply to hooks.
  InitScope outside(graph);
  NameScope root(graph, "");
  NameScope scope(graph, StrCat(step.name(), "/"));
  const Output read = step.Read() + 0;
  SLUICE_RETURN_IF_ERROR(graph.status());
  graph.AddToCollection(kReadCache, read.name());
  return read;
}

int64_t StepOf(const Tensor& value) {
  return value.dtype() == DT_INT32 ? value.scalar<int32_t>() : value.scalar<int64_t>();
}

absl::StatusOr<int64_t> GlobalStepValue(Session& session, Output read) {
  SLUICE_ASSIGN_OR_RETURN(const Tensors out, session.Run({}, {read}));
  return StepOf(out[0]);
}

}  // namespace sluice
