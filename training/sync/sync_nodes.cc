#include "training/sync/sync_nodes.h"

#include <algorithm>

#include "graph/build/group.h"
#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/strings.h"
#include "ops/dataflow/replica_gradients.h"
#include "ops/math/builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// Collections with an entry per synchronous optimizer of the graph, and per accumulator or queue of
// gradients. The entries are counted to get numbers for names that must be unique.
constexpr char kTokenQueues[] = "sync_token_queues";
constexpr char kGradientNames[] = "sync_gradient_names";

std::string LedgerName(const SyncNodes& nodes) {
  return nodes.Numbered(StrCat(nodes.options.name, "/ledger"));
}

}  // namespace

std::string OpScope(Graph& graph, std::string_view op) {
  return graph.UniqueName(StrCat(graph.scopes().name, op)) + "/";
}

Output CastTo64(Output t) { return BaseType(t.dtype()) == DT_INT64 ? t : Cast(t, DT_INT64); }

Operation AsOne(Graph& graph, const std::vector<Operation>& ops) {
  return ops.size() == 1 ? ops[0] : Group(graph, ops);
}

void SyncNodes::Begin(const Variable& global_step) {
  global_step_ = global_step;
  number_ = static_cast<int>(graph().collections()[kTokenQueues].size());
  graph().AddToCollection(kTokenQueues, Numbered("sync_token_q"));
}

std::string SyncNodes::Numbered(std::string_view base) const {
  return number_ == 0 ? std::string(base) : StrCat(base, "_", number_);
}

std::string SyncNodes::GradientsSharedName(const Variable& var, std::string_view suffix) const {
  const std::string shared_name = StrCat(var.name(), ":0", suffix);
  std::vector<std::string>& taken = graph().collections()[kGradientNames];
  const auto times = std::count(taken.begin(), taken.end(), shared_name);
  taken.push_back(shared_name);
  return times == 0 ? shared_name : StrCat(shared_name, "_", times);
}

void SyncNodes::DescribeReplicas(Node* node) {
  if (node == nullptr) return;
  node->SetAttr(kReplicasAttr, int64_t{options.NumReplicas()});
  node->SetAttr(kGradientsAttr, int64_t{options.replicas_to_aggregate});
  if (options.deterministic) node->SetAttr(kInReplicaOrderAttr, true);
  node->SetAttr(kLedgerAttr, LedgerName(*this));
  CountOn(node->device());
}

void SyncNodes::NameReplica(Node* node) const {
  if (node != nullptr && options.replica_id) {
    node->SetAttr(kReplicaAttr, int64_t{*options.replica_id});
  }
}

Operation SyncNodes::SetGlobalStep(const Queue& queue) const {
  return NodeBuilder(&graph(), "QueueSetGlobalStep", At::current())
      .Name("SetGlobalStep")
      .Input(queue.handle())
      .Input(CastTo64(global_step_->Read()))
      .Finish();
}

void SyncNodes::CountOn(const std::string& device) {
  if (std::find(ledger_devices_.begin(), ledger_devices_.end(), device) == ledger_devices_.end()) {
    ledger_devices_.push_back(device);
  }
}

Output SyncNodes::Ledger(const std::string& device) {
  CountOn(device);
  DeviceScope on(graph(), device);
  return Output(NodeBuilder(&graph(), "GradientLedger", At::current())
                    .Name("gradient_ledger")
                    .Attr("num_replicas", int64_t{options.NumReplicas()})
                    .Attr("shared_name", LedgerName(*this))
                    .Finish());
}

Output SyncNodes::SumOverDevices(const std::function<Output(Output ledger)>& read) {
  OutputList parts;
  for (const std::string& device : std::vector<std::string>(ledger_devices_)) {
    const Output ledger = Ledger(device);
    DeviceScope on(graph(), device);
    parts.push_back(read(ledger));
  }
  if (parts.empty()) return {};
  return parts.size() == 1 ? parts[0] : AddN(parts, {.name = "ledger_sum"});
}

Output SyncNodes::LedgerTotals() {
  return SumOverDevices([this](Output ledger) {
    return Output(NodeBuilder(&graph(), "GradientLedgerTotals", At::current())
                      .Name("ledger_totals")
                      .Input(ledger)
                      .Finish());
  });
}

Output SyncNodes::LedgerUpdates(int num_updates) {
  const Output first =
      CastTo64(global_step_->Read()) - Constant(graph(), int64_t{num_updates}, "num_updates");
  return SumOverDevices([&](Output ledger) {
    return Output(NodeBuilder(&graph(), "GradientLedgerUpdates", At::current())
                      .Name("ledger_updates")
                      .Input(ledger)
                      .Input(first)
                      .Attr("num_updates", int64_t{num_updates})
                      .Finish());
  });
}

}  // namespace sluice
