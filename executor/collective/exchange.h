// The algorithms of collectives between tasks: what each of `size` tasks posts, and what it fetches
// from whom. Messages have names; what one task posts under a name another fetches once.
//
//   ring  n-1 steps that reduce a part each, n-1 that hand the sums round: every task sends
//         2 (n-1) / n of the data, whatever n is. For large tensors.
//   tree  up a binomial tree and down again: 2 log2(n) steps with all of the data. For small ones.
//
// Thread safety: functions only; they return at once, and `done` is called once, from the thread
// that brought the last message. Results are the same bits on all tasks.
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

// How one task takes part in one exchange.
class ExchangeLinks {
 public:
  virtual ~ExchangeLinks() = default;
  virtual void Post(const std::string& name, Tensor value) = 0;
  // `done` may be called at once.
  virtual void Fetch(int from, const std::string& name,
                     std::function<void(absl::StatusOr<Tensor>)> done) = 0;
};

struct ExchangeParty {
  std::shared_ptr<ExchangeLinks> links;
  int rank = 0;  // among the tasks
  int size = 1;
};

using ExchangeDone = std::function<void(absl::StatusOr<Tensor>)>;

// `values` is this task's, in a buffer of its own, and becomes the result.
void RingReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done);
void TreeReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done);

// Of every task its block, in order.
void RingGather(ExchangeParty party, Tensor block,
                std::function<void(absl::StatusOr<Tensors>)> done);

// `value` counts on the task `root` alone; `prefix` of the messages' names.
void TreeBroadcast(ExchangeParty party, int root, Tensor value, ExchangeDone done);

// Which of the two takes less time; see docs/distributed.md for the measurement.
bool PrefersRing(int size, size_t bytes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_EXCHANGE_H_
