#include "executor/session/explain.h"

#include <string>

#include "absl/strings/cord.h"
#include "executor/step/step.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool IsInitializer(const Node& node) { return node.traits().variable_use == VariableUse::kAssigns; }

}  // namespace

absl::Status ExplainError(absl::Status status, const Graph& graph) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kUninitializedPayload);
  if (!payload) return status;
  const Node* variable = graph.Find(std::string(*payload));
  if (variable == nullptr) return status;
  std::string hint = StrCat("\n\t variable '", variable->name(), "'");
  if (!variable->location().empty()) StrAppend(&hint, " was made at ", variable->location());
  const Node* initializer = nullptr;
  for (const Use& use : variable->uses()) {
    if (use.dst_input == 0 && IsInitializer(*use.dst)) {
      initializer = use.dst;
      break;
    }
  }
  if (initializer == nullptr) {
    hint += "; the graph has no op that assigns its first value";
  } else {
    StrAppend(&hint, "; its initializer '", initializer->name(), "' has not run in this session");
  }
  return AnnotateAfter(status, hint);
}

absl::Status AddLocation(absl::Status status, const Graph& graph) {
  constexpr std::string_view kNode = "\n\t [[{{node ";
  const std::string text(status.message());
  const size_t at = text.find(kNode);
  if (at == std::string::npos || text.find(" [built at ") < at) return status;
  const size_t name = at + kNode.size();
  const Node* node = graph.Find(std::string_view(text).substr(name, text.find('}', name) - name));
  if (node == nullptr || node->location().empty()) return status;
  return absl::Status(status.code(), StrCat(text.substr(0, at), " [built at ", node->location(),
                                            "]", text.substr(at)));
}

}  // namespace sluice
