// Reads the list of graphs to time. Each line is a case. Its columns are the fields of GraphCase,
// separated by tabs (benchmarks/versus/make_graphs.py writes them).
#ifndef SLUICE_BENCHMARKS_GRAPHS_MANIFEST_H_
#define SLUICE_BENCHMARKS_GRAPHS_MANIFEST_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace sluice {

struct GraphCase {
  std::string section, bench, name;
  std::string graph;  // path of a GraphDef
  std::vector<std::string> init;
  std::vector<std::pair<std::string, std::string>> feeds;  // tensor, description (feed.h)
  std::vector<std::string> fetches, targets;
  double items = 1;             // counted items per run
  std::string unit;             // "ns", "us" or "ms" per item
  double flops = 0, bytes = 0;  // per run; 0: not counted
  std::string options;          // "nograppler": runs no graph passes
};

// NOT_FOUND if the file does not exist. Lines with too few columns are skipped.
absl::StatusOr<std::vector<GraphCase>> ReadManifest(const std::string& path);

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_GRAPHS_MANIFEST_H_
