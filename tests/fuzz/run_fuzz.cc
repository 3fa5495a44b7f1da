// An arbitrary graph with arbitrary feeds returns values or an error. It neither crashes, hangs nor
// leaks.
//
// The first byte of an input selects the meaning of the others: a GraphDef, or choices that build a
// graph of known ops.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "executor/session/session.h"
#include "graph/format/graph_def.h"
#include "graph/format/tensor_proto.h"
#include "tests/fuzz/made_graph.h"
#include "tests/fuzz/run_graph.h"

namespace sluice {
namespace {

constexpr size_t kMaxFetches = 16;

void RunGiven(ByteReader& bytes) {
  ByteReader values(bytes.Take(bytes.Byte()));
  pb::GraphDef def;
  Graph graph;
  if (!ImportGraphDef(bytes.Take(SIZE_MAX), graph, SmallLimits()).ok()) return;
  std::vector<NamedFeed> feeds;
  std::vector<std::string> fetches, targets;
  for (const Node* node : graph.nodes()) {
    if (WritesFiles(node->op())) return;
    if (node->op() == "Placeholder") {
      pb::TensorShapeProto shape;
      const auto* said = node->FindAttr<PartialShape>("shape");
      if (said != nullptr) ShapeToProto(*said, &shape);
      absl::StatusOr<Tensor> value = TensorFromProto(
          MakeValue(values, static_cast<pb::DataType>(node->AttrOr("dtype", DT_FLOAT)), shape));
      if (value.ok()) feeds.push_back({node->name(), *std::move(value)});
    }
    if (node->num_outputs() == 0) {
      targets.push_back(node->name());
    } else if (fetches.size() < kMaxFetches) {
      fetches.push_back(node->name());
    }
  }
  RunSteps(graph, feeds, fetches, targets);
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::ByteReader bytes({reinterpret_cast<const char*>(data), size});
  if (bytes.Byte() % 4 == 0) {
    sluice::RunGiven(bytes);
  } else {
    sluice::RunMade(sluice::MakeGraph(bytes));
  }
  return 0;
}
