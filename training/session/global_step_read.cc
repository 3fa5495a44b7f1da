#include "training/session/global_step_read.h"

#include <string>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/operand.h"
#include "ops/state/variable.h"

namespace sluice {
namespace {

constexpr std::string_view kReadCache = "global_step_read_op_cache";

// Checks that StepOf can read the tensor. A graph from a file may have any tensor as global step.
absl::Status CheckStep(Output step) {
  SLUICE_INVALID_IF(step.node->num_outputs() == 0,
                    "Existing \"global_step\" is not a tensor: ", step.name());
  const DataType dtype = BaseType(step.dtype());
  SLUICE_INVALID_IF(dtype != DT_INT32 && dtype != DT_INT64,
                    "Existing \"global_step\" does not have integer type: ", DataTypeName(dtype));
  SLUICE_INVALID_IF(!step.shape().rank_known() || step.shape().rank() != 0,
                    "Existing \"global_step\" is not scalar: ", step.shape().ToString());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Output> GlobalStepRead(Graph& graph, std::string_view user) {
  const std::vector<std::string>& reads = graph.Collection(kReadCache);
  if (!reads.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const Output cached, graph.FindOutput(reads[0]));
    SLUICE_RETURN_IF_ERROR(CheckStep(cached));
    return cached;
  }
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
  SLUICE_RETURN_IF_ERROR(CheckStep(read));
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
