#include "training/sync/token_queues.h"

#include "graph/build/scopes.h"
#include "graph/strings.h"
#include "ops/array/builders.h"
#include "ops/sugar.h"

namespace sluice {

void TokenQueues::Make() {
  const SyncReplicasOptions& options = nodes_->options;
  const std::string name = nodes_->Numbered("sync_token_q");
  DeviceScope on_cpu(graph(), "/device:CPU:*");
  for (int i = 0; i < (options.deterministic ? options.NumReplicas() : 1); ++i) {
    const std::string unique = options.deterministic ? StrCat(name, "_of_replica_", i) : name;
    queues_.push_back(
        Queue::Fifo(graph(), /*capacity=*/-1, {nodes_->global_step()->dtype()},
                    {.shapes = {PartialShape::Scalar()}, .name = unique, .shared_name = unique}));
  }
  if (!options.Shrinks()) return;
  // A separate collection keeps the variable out of checkpoints and out of the replicas'
  // initialization.
  num_tokens_ =
      Variable(graph(), nodes_->Numbered("sync_num_tokens"),
               Tensor::Scalar(int32_t{options.TokensPerStep()}),
               {.trainable = false, .use_resource = true, .collections = {"sync_num_tokens"}});
}

const Queue& TokenQueues::own() const {
  static const Queue* none = new Queue;
  if (queues_.empty()) return *none;
  return queues_[nodes_->options.deterministic ? nodes_->options.ReplicaId() : 0];
}

Output TokenQueues::Take() const {
  const OutputList token = own().Dequeue();
  return token.empty() ? Output() : token[0];
}

Operation TokenQueues::Put(int total, const std::vector<Operation>& after,
                           const std::function<Output()>& step) const {
  ControlDependencies ordered(graph(), after);
  const int num_queues = static_cast<int>(queues_.size());
  std::vector<Operation> puts;
  for (int i = 0; i < num_queues; ++i) {
    const int share = total / num_queues + (i < total % num_queues ? 1 : 0);
    if (share == 0) continue;
    const std::string scope = OpScope(graph(), "Fill");
    // With option kShrink there is one queue, because training is not deterministic. So the
    // variable has the number for this queue.
    const bool is_variable = num_tokens_ && !after.empty();
    const Output dims = is_variable
                            ? Reshape(num_tokens_->Read(), {1}, {.name = scope + "dims/"})
                            : Constant(graph(), Tensor::Vector<int32_t>({share}), scope + "dims/");
    const Output tokens = Fill(dims, step(), {.name = scope});
    puts.push_back(queues_[i].EnqueueMany({tokens}));
    if (!is_variable || !puts.back()) continue;
    puts.back().node->SetAttr("_replaces", true);
    puts.back().node->SetAttr(kTokensAttr, int64_t{share});
  }
  return AsOne(graph(), puts);
}

Operation TokenQueues::Close(bool cancel_pending_enqueues, std::string_view name,
                             const std::string& reason) const {
  std::vector<Operation> closes;
  for (const Queue& queue : queues_) {
    closes.push_back(queue.Close(cancel_pending_enqueues, name));
    if (closes.back() && !reason.empty()) closes.back().node->SetAttr("_reason", reason);
  }
  return AsOne(graph(), closes);
}

Operation TokenQueues::ForgetUndone() const {
  std::vector<Operation> sets;
  for (const Queue& queue : queues_) sets.push_back(nodes_->SetGlobalStep(queue));
  return AsOne(graph(), sets);
}

}  // namespace sluice
