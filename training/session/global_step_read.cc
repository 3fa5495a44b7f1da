#include "training/session/global_step_read.h"

#include <string>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/operand.h"
#include "ops/state/variable.h"

namespace sluice {
namespace {

constexpr std::string_view kReadCache = "global_step_read_op_cache";

const std::string* First(const Graph& graph, std::string_view key) {
  const auto it = graph.collections().find(key);
  return it == graph.collections().end() || it->second.empty() ? nullptr : &it->second[0];
}

}  // namespace

absl::StatusOr<Output> GlobalStepRead(Graph& graph, std::string_view user) {
  if (const std::string* read = First(graph, kReadCache)) return graph.FindOutput(*read);
  const std::string* name = First(graph, kGlobalStep);
  if (name == nullptr) {
    return absl::FailedPreconditionError(
        StrCat("Global step should be created to use ", user, "."));
  }
  SLUICE_ASSIGN_OR_RETURN(const Variable step, Variable::Find(graph, *name));
  // Control dependencies and devices of the caller do not apply to hooks.
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
