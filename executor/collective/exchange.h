// The algorithms of collectives between n tasks. Each task posts messages under names, and another
// task fetches each message once.
//
//   ring  n-1 steps that reduce a part each, then n-1 steps that distribute the sums. Every task
//         sends 2 (n-1) / n of the data. It is for large tensors.
//   tree  sums go up a binomial tree, and the result goes down: 2 log2(n) steps with all of the
//         data. It is for small tensors.
//
// Thread safety: the functions may be called from any thread. Blocking: none; `done` is called
// once, on the thread that delivers the last message. All tasks get results with the same bits.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_EXCHANGE_H_
#define SLUICE_EXECUTOR_COLLECTIVE_EXCHANGE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/collective/merge.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Sends and gets the messages of one task in one exchange.
class ExchangeLinks {
 public:
  virtual ~ExchangeLinks() = default;
  virtual void Post(const std::string& name, Tensor value) = 0;
  // `done` may be called before Fetch returns.
  virtual void Fetch(int from, const std::string& name,
                     std::function<void(absl::StatusOr<Tensor>)> done) = 0;
};

struct ExchangeParty {
  std::shared_ptr<ExchangeLinks> links;
  int rank = 0;  // among the tasks
  int size = 1;
};

using ExchangeDone = std::function<void(absl::StatusOr<Tensor>)>;

// Merges the `values` of all tasks by `op`. This task's `values` must have a buffer that no other
// tensor shares, because the result is computed in it.
void RingReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done);
void TreeReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done);

// Passes the blocks of all tasks to `done`, in the order of the tasks' ranks.
void RingGather(ExchangeParty party, Tensor block,
                std::function<void(absl::StatusOr<Tensors>)> done);

// Sends `value` of the task `root` to all. The other tasks' `value` is ignored.
void TreeBroadcast(ExchangeParty party, int root, Tensor value, ExchangeDone done);

// Whether the ring takes less time than the tree (docs/distributed.md has the measurement).
bool PrefersRing(int size, size_t bytes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_EXCHANGE_H_
