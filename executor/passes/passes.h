// The rewrites that a pruned graph goes through before it is planned, in their order.
#ifndef SLUICE_EXECUTOR_PASSES_PASSES_H_
#define SLUICE_EXECUTOR_PASSES_PASSES_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace sluice {

struct PassOptions {
  // Names of nodes that are fed, fetched or run for their effect: they stay, under their names.
  std::set<std::string> keep;
  // Passes that are not run: "fold_constants", "choose_layout", "simplify",
  // "fold_transposes", "join_pads", "common_subexpressions", "unused_nodes",
  // "fuse_attention", "narrow_products", "pack_operands".
  std::set<std::string> disabled;
  // A folded constant is at most this large.
  int64_t max_constant_bytes = 10 << 20;
};

// Every pass leaves the results of the kept nodes as they are, but for the order of sums
// (choose_layout, fold_transposes, fuse_attention, narrow_products, pack_operands), the sign of
// zeros (join_pads) and how a quotient by a constant rounds (fuse_attention), never runs or removes
// a stateful node, and takes time linear in the graph. An error is a defect of a pass, not of the
// graph.
absl::Status RunPasses(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PASSES_H_
