// The algorithms by which n tasks exchange the tensors of a collective op. Each task posts messages
// under names, and another task fetches each message once.
//
//   ring  First n-1 steps reduce a part of the tensor each, then n-1 steps distribute the reduced
//         parts. Every task sends 2 (n-1) / n times the tensor's bytes. For large tensors.
//   tree  Sums go up a binomial tree, and the result goes down: 2 log2(n) steps, each with all of
//         the tensor. For small tensors.
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

// Sends and receives the messages of one task in one exchange.
class ExchangeLinks {
 public:
  virtual ~ExchangeLinks() = default;
  virtual void Post(const std::string& name, Tensor value) = 0;
  // Gets the message that the task of rank `from` posts under `name`. `done` may be called before
  // Fetch returns.
  virtual void Fetch(int from, const std::string& name,
                     std::function<void(absl::StatusOr<Tensor>)> done) = 0;
};

// One task's part in an exchange.
struct ExchangeParty {
  std::shared_ptr<ExchangeLinks> links;
  int rank = 0;  // this task's number, from 0
  int size = 1;  // the number of tasks
};

using ExchangeDone = std::function<void(absl::StatusOr<Tensor>)>;

// Merges the `values` of all tasks with `op`, element by element. This task's `values` must have a
// buffer that no other tensor shares, because the result is computed in it.
void RingReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done);
void TreeReduce(ExchangeParty party, MergeOp op, Tensor values, ExchangeDone done);

// Passes the blocks of all tasks to `done`, in the order of the tasks' ranks.
void RingGather(ExchangeParty party, Tensor block,
                std::function<void(absl::StatusOr<Tensors>)> done);

// Sends `value` of the task with rank `root` to all tasks. The other tasks' `value` is ignored.
void TreeBroadcast(ExchangeParty party, int root, Tensor value, ExchangeDone done);

// Whether a ring of `size` tasks reduces a tensor of `bytes` bytes in less time than a tree
// (docs/distributed.md has the measurement).
bool PrefersRing(int size, size_t bytes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_EXCHANGE_H_
