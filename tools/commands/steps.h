// The steps of a graph file that the command line asks for: what is fed, fetched and run.
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

ABSL_DECLARE_FLAG(std::string, feeds);
ABSL_DECLARE_FLAG(std::vector<std::string>, fetches);
ABSL_DECLARE_FLAG(std::vector<std::string>, targets);
ABSL_DECLARE_FLAG(std::vector<std::string>, init);

namespace sluice {

// "20": so many steps; "10..20": 21 steps, of which those from number 10 on are traced.
struct StepRange {
  int64_t count = 0;   // 0: as the feeds say
  int64_t first = -1;  // the first that is traced; -1: the last step alone is
};
bool AbslParseFlag(absl::string_view text, StepRange* range, std::string* error);
std::string AbslUnparseFlag(const StepRange& range);

}  // namespace sluice

ABSL_DECLARE_FLAG(sluice::StepRange, steps);

namespace sluice {

inline constexpr std::string_view kPerStep = "#steps";

struct Feeds {
  std::vector<NamedFeed> always;
  std::vector<NamedFeed> per_step;  // a row a step
};

// Those of --feeds, with the types that the graph expects.
absl::StatusOr<Feeds> ReadFeeds(const Graph& graph);
// --steps, checked against the feeds that have a row a step.
absl::StatusOr<int64_t> NumberOfSteps(const Feeds& feeds);
// Row `step` of each per-step feed, beside the others.
absl::StatusOr<std::vector<NamedFeed>> FeedsOf(const Feeds& feeds, int64_t step);
// The ops of --init.
absl::Status RunInit(Session& session);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_STEPS_H_
