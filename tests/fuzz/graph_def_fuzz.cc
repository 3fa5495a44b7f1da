// A GraphDef with arbitrary bytes is imported or rejected with an error. An imported graph can be
// exported and imported again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "graph/format/graph_def.h"

namespace {

sluice::ImportOptions SmallLimits() {
  sluice::ImportOptions options;
  options.limits.max_tensor_bytes = 1 << 20;
  options.limits.max_total_bytes = 1 << 22;
  options.limits.max_nodes = 1 << 12;
  options.limits.max_list_length = 1 << 12;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const sluice::ImportOptions options = SmallLimits();
  sluice::Graph graph;
  if (!sluice::ImportGraphDef(bytes, graph, options).ok()) {
    if (graph.num_nodes() != 0) std::abort();  // a rejected message left nodes
    return 0;
  }
  absl::StatusOr<sluice::pb::GraphDef> def = sluice::ExportGraphDef(graph);
  sluice::Graph again;
  if (!def.ok() || !sluice::ImportGraphDef(*def, again, options).ok()) std::abort();
  return 0;
}
