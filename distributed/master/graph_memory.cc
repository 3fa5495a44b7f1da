#include "distributed/master/graph_memory.h"

#include <algorithm>
#include <vector>

#include "executor/memory/memory_table.h"
#include "graph/status.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {
namespace {

constexpr size_t kMostRows = 20;

// Calls `f(where, node, tensor)` for each tensor among the attributes of the graph's nodes. `where`
// names the function that the node is in. It is "" for a node of the graph itself.
template <typename F>
void ForEachConstant(const pb::GraphDef& graph, F f) {
  const auto visit = [&f](const std::string& where, const auto& nodes) {
    for (const pb::NodeDef& node : nodes) {
      for (const auto& [name, value] : node.attr()) {
        if (value.has_tensor()) f(where, node, value.tensor());
      }
    }
  };
  visit("", graph.node());
  for (const pb::FunctionDef& function : graph.library().function()) {
    visit(StrCat(" of function '", function.signature().name(), "'"), function.node_def());
  }
}

// Returns -1 if the shape has an unknown size.
int64_t BytesOf(const pb::TensorProto& tensor) {
  int64_t bytes = static_cast<int64_t>(DataTypeSize(static_cast<DataType>(tensor.dtype())));
  if (tensor.dtype() == pb::DT_STRING) bytes = sizeof(std::string);
  for (const auto& dim : tensor.tensor_shape().dim()) {
    if (bytes < 0 || dim.size() < 0) return -1;
    bytes = MultiplyWithoutOverflow(bytes, dim.size());
  }
  return bytes;
}

}  // namespace

std::string DescribeConstants(const pb::GraphDef& graph) {
  std::vector<MemoryRow> rows;
  int64_t all = 0;
  ForEachConstant(
      graph, [&](const std::string& where, const pb::NodeDef& node, const pb::TensorProto& tensor) {
        const int64_t bytes = BytesOf(tensor);
        all += std::clamp<int64_t>(bytes, 0, INT64_MAX - all);
        rows.push_back({.bytes = bytes,
                        .lifetime = "all",
                        .at_peak = true,
                        .tensor = StrCat(node.name(), ":0 (", node.op(), ")", where)});
      });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const MemoryRow& a, const MemoryRow& b) { return a.bytes > b.bytes; });
  const size_t count = rows.size();
  rows.resize(std::min(count, kMostRows));
  return StrCat("constants of the graph: ", MemoryText(all), " as long as the session; ", count,
                " tensors", MemoryTable(rows));
}

int64_t BytesWithoutConstants(const pb::GraphDef& graph) {
  int64_t bytes = static_cast<int64_t>(graph.ByteSizeLong());
  ForEachConstant(graph,
                  [&](const std::string&, const pb::NodeDef&, const pb::TensorProto& tensor) {
                    bytes -= static_cast<int64_t>(tensor.tensor_content().size());
                  });
  return std::max<int64_t>(bytes, 0);
}

absl::Status WithMemoryLimits(const absl::Status& error, const MemoryAccount* account) {
  const std::string limits = DescribeMemoryLimits(account);
  return limits.empty() ? error : AnnotateAfter(error, StrCat("\n", limits));
}

}  // namespace sluice
