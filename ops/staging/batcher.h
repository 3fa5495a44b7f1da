// Resources of the ops Batch, Unbatch and UnbatchGrad, which join the tensors of several steps to a
// batch, and divide the results of the batch among the steps.
//
// A Batcher joins the tensors of steps along their first dimension. The step that completes a batch
// gets it. The other steps of the batch get tensors without rows. An index tensor says which rows
// belong to which step. An Unbatcher then gives each step its rows of the result, and a GradBatcher
// joins the gradients of these rows again.
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks. `done` is called exactly once, without a lock, from any thread.
// Errors: INVALID_ARGUMENT if tensors do not fit; DEADLINE_EXCEEDED if a batch does not arrive at
// Unbatch in time; CANCELLED if the step is cancelled.
// Reference: TensorFlow's core/kernels/batch_kernels.cc.
#ifndef SLUICE_OPS_STAGING_BATCHER_H_
#define SLUICE_OPS_STAGING_BATCHER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/device/resource_manager.h"
#include "executor/kernel/context.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "ops/state/wait.h"

namespace sluice {

struct BatchLimits {
  int64_t rows = 0;        // the largest number of rows of a batch
  int64_t timeout_us = 0;  // how long the first step of a batch waits for others
  // The numbers of rows that a batch may have. A batch with another number is padded to the next
  // one, with copies of its first row. Empty: any number is allowed.
  std::vector<int64_t> sizes;

  // INVALID_ARGUMENT unless `sizes` ascend, and the last one equals `rows`.
  absl::Status Check() const;
};

// A waiting call of an asynchronous kernel.
struct WaitingCall {
  int64_t id;
  KernelContext* context;
  AsyncKernel::Done done;
  int64_t rows = 0;
  Wait wait = {};
  bool waits = false;  // `wait` was started

  // Registers the wait (ops/state/wait.h). False if the call is cancelled already. The resource's
  // lock may be held.
  bool StartWait(std::string resource, std::function<void()> cancel,
                 std::function<std::string()> describe);
  // Ends the wait and calls `done`. No lock may be held.
  void Finish(absl::Status status);
};
using WaitingCalls = std::vector<std::unique_ptr<WaitingCall>>;

// Joins the tensors of concurrent calls. The tensors of a call are the first inputs of its kernel.
class Batcher : public Resource, public std::enable_shared_from_this<Batcher> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow13BatchResourceE";
  // Ends all calls of a batch. Runs without a lock, on any thread.
  using FinishBatch = std::function<void(WaitingCalls calls, const BatchLimits& limits)>;
  // Each call joins its first `tensors` inputs, or all of its inputs if `tensors` is -1.
  Batcher(std::string name, BatchLimits limits, int tensors, FinishBatch finish)
      : name_(std::move(name)),
        limits_(std::move(limits)),
        tensors_(tensors),
        finish_(std::move(finish)) {}

  void Add(KernelContext& c, AsyncKernel::Done done);
  std::string DebugString() const override;

 private:
  absl::Status CheckTensors(const KernelContext& c, int64_t* rows) const;
  void Cancel(int64_t id);
  void CloseAfterTimeout(int64_t batch);
  WaitingCalls TakeOpen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(WaitingCalls calls) const;

  const std::string name_;
  const BatchLimits limits_;
  const int tensors_;
  const FinishBatch finish_;
  mutable Mutex mutex_;
  WaitingCalls open_ ABSL_GUARDED_BY(mutex_);
  int64_t open_rows_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t batch_ ABSL_GUARDED_BY(mutex_) = 0;  // the number of the batch to which Add adds
};

// The first `tensors` inputs of the calls, joined along dimension 0 and padded to an allowed size.
absl::StatusOr<Tensors> JoinInputs(const WaitingCalls& calls, int tensors,
                                   const BatchLimits& limits);
// Gives the batch to the last of the calls that contributed to it. The outputs of this call are the
// tensors, the index [steps, 3] (for each step its id, first row and end), and the id of its own
// step.
void GiveToLast(WaitingCalls calls, const BatchLimits& limits);

// Gives each step its rows of the result for a batch. The inputs of a call are a result, the
// batch's index, and the step's id. The output is the rows of this step.
class Unbatcher : public Resource, public std::enable_shared_from_this<Unbatcher> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow15UnbatchResourceE";
  Unbatcher(std::string name, int64_t timeout_us)
      : name_(std::move(name)), timeout_us_(timeout_us) {}

  void Add(KernelContext& c, AsyncKernel::Done done);
  std::string DebugString() const override;

 private:
  // Stores `call` until its rows arrive. If they are there already, or after some errors, leaves it
  // in `call`, and the caller finishes it. `parts` has the rows of each step of a batch, by step
  // id. Gives them to the calls that wait for them, and moves these calls to `ended`.
  absl::Status Exchange(std::unique_ptr<WaitingCall>& call, std::map<int64_t, Tensor> parts,
                        WaitingCalls* ended);
  void EndWait(int64_t id, const absl::Status& why);
  void Forget(int64_t id);

  const std::string name_;
  const int64_t timeout_us_;
  mutable Mutex mutex_;
  std::map<int64_t, std::unique_ptr<WaitingCall>> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, Tensor> parts_ ABSL_GUARDED_BY(mutex_);
};

// Joins the gradients of the steps' rows. Inputs: the batch, its index, the gradient of the step's
// rows, and the step's id. Output: for the step that got the batch, the gradient of the whole
// batch; for other steps, a tensor without rows.
class GradBatcher : public Resource, public std::enable_shared_from_this<GradBatcher> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow19UnbatchGradResourceE";
  explicit GradBatcher(std::string name) : name_(std::move(name)) {}

  void Add(KernelContext& c, AsyncKernel::Done done);
  std::string DebugString() const override;

 private:
  void EndWait(int64_t id, const absl::Status& why);
  // Returns a call whose batch has all its gradients now, and moves these to `gradients`. Null if
  // there is no such call.
  std::unique_ptr<WaitingCall> TakeReady(Tensors* gradients) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  mutable Mutex mutex_;
  std::map<int64_t, std::unique_ptr<WaitingCall>> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, Tensor> gradients_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_BATCHER_H_
