#include "tests/fuzz/run_graph.h"

#include <sys/resource.h>

#include <cstdint>

#include "absl/strings/ascii.h"
#include "executor/session/session.h"
#include "graph/format/tensor_proto.h"
#include "graph/hash.h"
#include "graph/strings.h"

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
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t features[1 << 16];

namespace sluice {
namespace {

void Saw(std::string_view op, std::string_view what) {
  features[Hash64(StrCat(op, " ", what)) % sizeof(features)] = 1;
}

constexpr int64_t kStepMs = 50;  // queues may wait forever

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

}  // namespace

ImportOptions SmallLimits() {
  ImportOptions options;
  options.limits.max_tensor_bytes = 1 << 20;
  options.limits.max_total_bytes = 1 << 22;
  options.limits.max_nodes = 1 << 8;
  options.limits.max_list_length = 1 << 8;
  return options;
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

void RunMade(const MadeGraph& made) {
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

}  // namespace sluice
