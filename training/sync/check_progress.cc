#include "training/sync/check_progress.h"

#include <set>
#include <vector>

#include "graph/status.h"
#include "ops/dataflow/replica_gradients.h"

namespace sluice {
namespace {

// Returns how many tokens `op` and the nodes before it put into each of `queues`.
std::vector<int64_t> TokensPut(Operation op, const std::vector<Queue>& queues) {
  std::vector<int64_t> tokens(queues.size());
  std::set<const Node*> seen;
  std::vector<const Node*> todo;
  const auto visit = [&](const Node* node) {
    if (node != nullptr && seen.insert(node).second) todo.push_back(node);
  };
  visit(op.node);
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    for (const Output& in : node->inputs()) visit(in.node);
    for (const Node* control : node->control_inputs()) visit(control);
    for (size_t i = 0; i < queues.size(); ++i) {
      const std::optional<int64_t> put = queues[i].NumEnqueuedBy(*node);
      if (put) tokens[i] += node->AttrOr<int64_t>(kTokensAttr, *put);
    }
  }
  return tokens;
}

// Returns how many gradients `replicas` replicas push: one per token, and `first_each` per replica
// before the first token.
int64_t Gradients(const std::vector<int64_t>& tokens, int replicas, int first_each) {
  int64_t sum = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens.size() > 1 && static_cast<int>(i) >= replicas) break;
    sum += tokens[i];
  }
  return sum + int64_t{first_each} * replicas;
}

// Rejects queues of capacity 0. A capacity of one is enough, because a dequeue of many elements
// keeps those that it has received, and an enqueue of many waits for dequeues.
absl::Status CheckRoom(const ReplicaSynchronizer& optimizer) {
  for (const Node* node : optimizer.global_step()->graph().nodes()) {
    const int64_t* capacity = node->FindAttr<int64_t>("capacity");
    if (capacity == nullptr || *capacity != 0) continue;
    const bool of_gradients = node->FindAttr<int64_t>(kGradientsAttr) != nullptr;
    bool of_tokens = false;
    for (const Queue& queue : optimizer.token_queues()) {
      of_tokens = of_tokens || queue.handle().node == node;
    }
    if (!of_gradients && !of_tokens) continue;
    return InvalidArgument(optimizer.name(), " can never make progress: queue '", node->name(),
                           "' has room for no ", of_tokens ? "token" : "gradient");
  }
  return absl::OkStatus();
}

}  // namespace

// It suffices to count tokens. The token queue is first in, first out, so tokens of earlier steps
// are used up first, and every token that follows an update leads to a gradient of its step.
absl::Status CheckProgress(const ReplicaSynchronizer& optimizer, const SyncPlan& plan) {
  if (!optimizer.gradients_applied()) {
    return absl::FailedPreconditionError("Should be called after apply_gradients().");
  }
  const std::string never = StrCat(optimizer.name(), " can never make ");
  SLUICE_INVALID_IF(!plan.runs_queue_runner, never,
                    "an update: the chief's queue runner is not started "
                    "(ChiefQueueRunner, or the hook of the chief)");
  SLUICE_RETURN_IF_ERROR(CheckRoom(optimizer));
  const int replicas = plan.replicas.value_or(optimizer.total_num_replicas());
  const int64_t needed = optimizer.options().replicas_to_aggregate;
  SLUICE_INVALID_IF(replicas < 1, never, "an update: there is no replica");

  const std::vector<int64_t> init = TokensPut(plan.init_tokens, optimizer.token_queues());
  const int64_t first = Gradients(init, replicas, 1);
  SLUICE_INVALID_IF(first < needed, never, "the first update: it needs ", needed,
                    " gradients, and ", replicas, " replicas give ", first,
                    " (one each, and one for each of ", first - replicas,
                    " initial tokens); missing are ", needed - first,
                    " initial tokens (InitTokensOp) or as many replicas");
  const std::vector<int64_t> later = TokensPut(optimizer.sync_op(), optimizer.token_queues());
  const int64_t second = Gradients(later, replicas, 0);
  SLUICE_INVALID_IF(
      second<needed, never, "the second update: it needs ", needed,
             " gradients, and of the tokens that follow "
             "the first one ",
             replicas, " replicas can use ", second, optimizer.token_queues().size()> 1
          ? ": in deterministic training no replica can take another's place"
          : "");
  return absl::OkStatus();
}

}  // namespace sluice
