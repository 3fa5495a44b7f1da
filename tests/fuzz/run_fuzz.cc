// An arbitrary graph with arbitrary feeds returns values or an error. It neither crashes, hangs nor
// leaks.
//
// The first byte of an input selects the meaning of the others: a GraphDef, or choices that build a
// graph of known ops.
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "executor/session/session.h"
#include "graph/format/graph_def.h"
#include "graph/format/tensor_proto.h"
#include "graph/hash.h"
#include "graph/strings.h"
#include "tests/fuzz/made_graph.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_ADDRESS_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SLUICE_ADDRESS_SANITIZER
#endif

#ifdef SLUICE_ADDRESS_SANITIZER
// Larger tensors are rejected as if memory were exhausted.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=256";
}
#else
[[maybe_unused]] const int limited = [] {
  const rlimit limit = {rlim_t{4} << 30, rlim_t{4} << 30};
  return setrlimit(RLIMIT_AS, &limit);
}();
#endif

// Results of ops as extra features, with which libFuzzer recognizes new inputs. Code coverage alone
// does not show how far a graph of many ops ran.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t features[1 << 16];

namespace sluice {
namespace {

void Saw(std::string_view op, std::string_view what) {
  features[Hash64(StrCat(op, " ", what)) % sizeof(features)] = 1;
}

constexpr int64_t kStepMs = 50;  // queues may wait forever
constexpr size_t kMaxFetches = 16;

ImportOptions SmallLimits() {
  ImportOptions options;
  options.limits.max_tensor_bytes = 1 << 20;
  options.limits.max_total_bytes = 1 << 22;
  options.limits.max_nodes = 1 << 8;
  options.limits.max_list_length = 1 << 8;
  return options;
}

// Records the op and its result: type and rank of the value, or the error without numbers and
// names.
void Note(const Graph& graph, const std::string& fetch, const absl::StatusOr<Tensors>& got) {
  const Node* node = graph.Find(fetch.substr(0, fetch.find(':')));
  if (node == nullptr) return;
  if (got.ok()) {
    const Tensor& value = (*got)[0];
    return Saw(node->op(), StrCat(DataTypeName(value.dtype()), value.rank()));
  }
  std::string text(got.status().message().substr(0, 60));
  std::erase_if(text, [](char c) { return !absl::ascii_isalpha(c); });
  Saw(node->op(), text);
}

void RunSteps(Graph& graph, absl::Span<const NamedFeed> feeds,
              absl::Span<const std::string> fetches, absl::Span<const std::string> targets) {
  Session session(graph, {.warn = [](const std::string&) {}, .stall_warning_ms = 0});
  for (int step = 0; step < 2; ++step) {
    // Fetched one by one, because a failing fetch would hide the values of the others.
    (void)session.Run(feeds, fetches, targets, {.timeout_ms = kStepMs});
    for (const std::string& fetch : fetches) {
      Note(graph, fetch, session.Run(feeds, {fetch}, {}, {.timeout_ms = kStepMs}));
    }
  }
}

void RunMade(ByteReader& bytes) {
  MadeGraph made = MakeGraph(bytes);
  Graph graph;
  const auto imported = ImportGraphDef(made.def, graph, SmallLimits());
  if (!imported.ok()) {
    // Usually the last node is the one that was rejected.
    const pb::NodeDef& last = made.def.node(made.def.node_size() - 1);
    return Saw(last.op(), ToStd(imported.status().message().substr(0, 30)));
  }
  std::vector<NamedFeed> feeds;
  for (const auto& [name, value] : made.feeds) {
    absl::StatusOr<Tensor> tensor = TensorFromProto(value);
    if (tensor.ok()) feeds.push_back({name, *std::move(tensor)});
  }
  RunSteps(graph, feeds, made.fetches, made.targets);
}

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
    sluice::RunMade(bytes);
  }
  return 0;
}
