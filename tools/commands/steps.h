// Reads from the command line which steps to run: their number, feeds, fetches and targets.
#ifndef SLUICE_TOOLS_COMMANDS_STEPS_H_
#define SLUICE_TOOLS_COMMANDS_STEPS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "tools/commands/model.h"

ABSL_DECLARE_FLAG(std::string, feeds);
ABSL_DECLARE_FLAG(std::vector<std::string>, fetches);
ABSL_DECLARE_FLAG(std::vector<std::string>, targets);
ABSL_DECLARE_FLAG(std::vector<std::string>, init);

namespace sluice {

// The value of --steps. "20": 20 steps. "10..20": 21 steps, 0 to 20, traced from step 10 on.
struct StepRange {
  int64_t count = 0;   // 0: determined by the feeds
  int64_t first = -1;  // the first traced step; -1: only the last
};
bool AbslParseFlag(absl::string_view text, StepRange* range, std::string* error);
std::string AbslUnparseFlag(const StepRange& range);

}  // namespace sluice

ABSL_DECLARE_FLAG(sluice::StepRange, steps);

namespace sluice {

// In a .npz file, a name with this ending is an array with one row per step.
inline constexpr std::string_view kPerStep = "#steps";

struct Feeds {
  std::vector<NamedFeed> always;
  std::vector<NamedFeed> per_step;  // one row per step
};

// The feeds of --feeds, with the types that the graph requires. Their names are keys of `inputs` or
// names of tensors.
absl::StatusOr<Feeds> ReadFeeds(const Graph& graph, const TensorNames& inputs);
// Returns the value of --fetches or, if it is empty, the keys of `outputs`.
std::vector<std::string> FetchedKeys(const TensorNames& outputs);
// Returns the name of a tensor for each of `keys`. A key of `outputs` gives the name listed there.
// Any other key is itself the name of a tensor.
std::vector<std::string> NamesOfKeys(const std::vector<std::string>& keys,
                                     const TensorNames& outputs);
// Returns the number of steps of --steps or, if that is 0, the number of rows of the feeds with one
// row per step (1 without such feeds). INVALID_ARGUMENT if one of these feeds has another number of
// rows.
absl::StatusOr<int64_t> NumberOfSteps(const Feeds& feeds);
// The constant feeds, and row `step` of each per-step feed.
absl::StatusOr<std::vector<NamedFeed>> FeedsOf(const Feeds& feeds, int64_t step);
// Runs the ops of --init with the feeds of step 0.
absl::Status RunInit(Session& session, const Feeds& feeds);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_STEPS_H_
