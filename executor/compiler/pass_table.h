// The table of all passes that change a graph, or the draft of a plan, before its steps run. It
// lists the passes in their order, with names and descriptions. For each pass it says whether the
// pass can be disabled, and whether it changes bits of results.
#ifndef SLUICE_EXECUTOR_COMPILER_PASS_TABLE_H_
#define SLUICE_EXECUTOR_COMPILER_PASS_TABLE_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/passes/pass_options.h"
#include "executor/plan/draft.h"

namespace sluice {

// The form that a graph has when a pass changes it.
enum class PassStage {
  kPruned,  // the pruned graph, before its nodes are placed on devices
  kPlaced,  // the placed graph
  kLimit,   // the placed graph, if its steps exceed the memory limit
  kDraft,   // the draft of the plan (executor/plan/draft.h)
};

struct Pass {
  const char* name;
  PassStage stage;
  // "same bits", or how results may differ from those without the pass.
  const char* exactness;
  const char* description;
  // Set for all stages except kDraft. Changes the graph, and returns how many changes it made.
  absl::StatusOr<int> (*run)(Graph& graph, const PassOptions& options) = nullptr;
  // Set for kDraft. Changes one body (the graph outside of loops, or one loop) of the draft, and
  // returns how many changes it made.
  int (*fuse)(DraftBody& body, Draft& draft) = nullptr;
  // False if steps would return wrong results without the pass.
  bool can_be_disabled = true;
};

// All passes in the order in which they run.
absl::Span<const Pass> PassTable();

// The names of all passes that can be disabled, and "all".
const std::set<std::string>& PassNames();
// INVALID_ARGUMENT if `disabled` has a name that is not in PassNames.
absl::Status CheckDisabledPasses(const std::set<std::string>& disabled);

// Runs the enabled passes of a stage, except kDraft, in their order.
absl::Status RunPasses(PassStage stage, Graph& graph, const PassOptions& options);
// Runs the enabled passes of kDraft on one body of the draft.
void FuseBody(DraftBody& body, Draft& draft, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COMPILER_PASS_TABLE_H_
