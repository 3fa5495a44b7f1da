// The queues that pass the tokens of synchronous training from the chief to the replicas.
//
// A token is the permission to compute one gradient. It is a scalar: the global step whose
// parameters the gradient is computed from. Its life:
//   1. The chief applies update number s - 1, which makes the global step s. It then puts exactly
//      TokensPerStep() = max(replicas_to_aggregate, total_num_replicas) tokens of value s into the
//      queue.
//   2. A replica that has pushed its gradient waits for a token and stores its value as its local
//      step. It reads the parameters again only after that, so that they are of step s or later.
//   3. The replica pushes its next gradient, stamped with its local step. If the global step has
//      moved on meanwhile, the gradient is stale and is dropped.
// When training starts, each replica may compute one gradient without a token. InitTokensOp puts
// further tokens into the queue, if replicas must compute several gradients for the first update. A
// replica that ends gives its token back (LeaveOp), so that another one computes in its place.
//
// All replicas share the queue "sync_token_q". In deterministic training each replica has a queue
// of its own, and the tokens of an update are dealt out evenly.
//
// Thread safety: that of the graph. Errors stay in the graph.
#ifndef SLUICE_TRAINING_SYNC_TOKEN_QUEUES_H_
#define SLUICE_TRAINING_SYNC_TOKEN_QUEUES_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/dataflow/queue_handle.h"
#include "training/sync/sync_nodes.h"

namespace sluice {

// Attribute of a node that enqueues tokens whose number is known only when the node runs. Its value
// is the number of tokens as long as no replica is lost. CheckProgress reads it.
inline constexpr char kTokensAttr[] = "_tokens";

class TokenQueues {
 public:
  // `nodes` outlives the queues.
  explicit TokenQueues(const SyncNodes& nodes) : nodes_(&nodes) {}

  // Adds the queues to the graph, and the variable num_tokens if on_lost_replica is kShrink
  // (lost_replicas.h). Must be called once, before the other methods.
  void Make();
  const std::vector<Queue>& queues() const { return queues_; }
  // The queue from which this replica takes its tokens. Returns an invalid queue before Make.
  const Queue& own() const;
  // The variable with the number of tokens that follow an update, which the chief lowers when
  // replicas are lost. Only kShrink has it.
  const std::optional<Variable>& num_tokens() const { return num_tokens_; }

  // Adds an op that waits for this replica's next token. Returns the token's value, a scalar.
  Output Take() const;
  // Returns an op that puts `total` tokens into the queues, after the ops `after` have run. `step`
  // adds the node with the value of the tokens, a scalar. If `after` is not empty and there is a
  // variable num_tokens, the op puts as many tokens as this variable says, instead of `total`.
  Operation Put(int total, const std::vector<Operation>& after,
                const std::function<Output()>& step) const;
  // Returns an op with this name that closes the queues. Replicas that wait for a token end with
  // OUT_OF_RANGE. If `reason` is not empty, the error contains it.
  Operation Close(bool cancel_pending_enqueues, std::string_view name,
                  const std::string& reason = "") const;
  // Returns an op that drops the tokens of steps after the global step.
  Operation ForgetUndone() const;

 private:
  Graph& graph() const { return nodes_->graph(); }

  const SyncNodes* nodes_;
  std::vector<Queue> queues_;
  std::optional<Variable> num_tokens_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_TOKEN_QUEUES_H_
