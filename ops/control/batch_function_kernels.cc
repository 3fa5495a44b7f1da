// BatchFunction. Concurrent calls of one node form a batch, and a separate thread runs the function
// on it.
#include <atomic>
#include <utility>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/thread.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset_function.h"
#include "ops/staging/batcher.h"

namespace sluice {
namespace {

// The function, and the number of its inputs that are joined. The inputs after them are captured
// tensors.
struct BatchedFunction {
  std::shared_ptr<const DatasetFunction> function;
  int tensors;
};

// Cancels the function of a batch when all steps of the batch have been cancelled. The steps
// outlive this object.
class BatchCancellation {
 public:
  explicit BatchCancellation(const WaitingCalls& calls) : left_(calls.size()) {
    for (const auto& call : calls) {
      CancellationManager* const step = call->context->step().cancellation;
      if (step == nullptr) continue;  // the step cannot be cancelled
      const CancellationManager::Token token = step->NewToken();
      if (step->Register(token, [this] { CountCancelledStep(); })) {
        tokens_.emplace_back(step, token);
      } else {
        CountCancelledStep();
      }
    }
  }
  ~BatchCancellation() {
    for (const auto& [step, token] : tokens_) step->Deregister(token);
  }
  BatchCancellation(const BatchCancellation&) = delete;
  BatchCancellation& operator=(const BatchCancellation&) = delete;
  CancellationManager* manager() { return &manager_; }

 private:
  void CountCancelledStep() {
    if (left_.fetch_sub(1) == 1) manager_.StartCancel();
  }

  CancellationManager manager_;
  std::atomic<size_t> left_;  // steps that have not been cancelled
  std::vector<std::pair<CancellationManager*, CancellationManager::Token>> tokens_;
};

// Calls the function and gives each call its rows of the results.
absl::Status RunBatch(const BatchedFunction& f, const WaitingCalls& calls,
                      const BatchLimits& limits) {
  KernelContext& last = *calls.back()->context;
  SLUICE_ASSIGN_OR_RETURN(const Tensors joined, JoinInputs(calls, f.tensors, limits));
  Tensors captured;
  for (int i = f.tensors; i < last.num_inputs(); ++i) captured.push_back(last.input(i));
  BatchCancellation cancellation(calls);
  SLUICE_ASSIGN_OR_RETURN(const Tensors results,
                          f.function->Call(joined, captured, cancellation.manager()));
  SLUICE_INVALID_IF(static_cast<int>(results.size()) != last.num_outputs(), "expected ",
                    last.num_outputs(), " results of the function, got ", results.size());
  for (size_t k = 0; k < results.size(); ++k) {
    const Tensor& all = results[k];
    SLUICE_INVALID_IF(all.rank() == 0, "Batched output tensor has 0 dimensions");
    SLUICE_INVALID_IF(all.dim(0) != joined[0].dim(0),
                      "Batched output tensor's 0th dimension does not equal the sum of the 0th "
                      "dimension sizes of the input tensors: expected ",
                      joined[0].dim(0), ", got ", all.dim(0));
    const int output = static_cast<int>(k);
    SLUICE_INVALID_IF(all.dtype() != last.output_dtype(output), "expected ",
                      DataTypeName(last.output_dtype(output)), " as result ", k, ", got ",
                      DataTypeName(all.dtype()));
    int64_t row = 0;
    for (const auto& call : calls) {
      // Copies the rows, because a slice would keep the memory of the whole batch alive.
      SLUICE_ASSIGN_OR_RETURN(
          Tensor part,
          all.SliceRows(row, row + call->rows).Clone(*call->context->step().allocator));
      call->context->set_output(output, std::move(part));
      row += call->rows;
    }
  }
  return absl::OkStatus();
}

void FinishAll(const WaitingCalls& calls, const absl::Status& status) {
  for (const auto& call : calls) call->Finish(status);
}

// The batcher is a member of the kernel, not a shared resource, because the function belongs to the
// session of the kernel.
class BatchFunctionKernel final : public AsyncKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    BatchedFunction f;
    SLUICE_ASSIGN_OR_RETURN(f.function, DatasetFunction::Make(init, "f"));
    f.tensors = init.InputRange("in_tensors").second;
    const BatchLimits limits{.rows = init.attr<int64_t>("max_batch_size"),
                             .timeout_us = init.attr<int64_t>("batch_timeout_micros"),
                             .sizes = init.AttrOr<std::vector<int64_t>>("allowed_batch_sizes", {})};
    if (!init.attr<bool>("enable_large_batch_splitting")) {
      SLUICE_RETURN_IF_ERROR(
          Annotate(limits.Check(), StrCat("BatchFunction node '", init.name(), "': ")));
    }
    const auto finish = [f](WaitingCalls calls, const BatchLimits& of) {
      auto shared = std::make_shared<WaitingCalls>(std::move(calls));
      const absl::Status started = StartDetached("batch", ThreadUse::kGraphs, [f, of, shared] {
        FinishAll(*shared, RunBatch(f, *shared, of));
      });
      if (!started.ok()) FinishAll(*shared, started);
    };
    return std::unique_ptr<Kernel>(
        new BatchFunctionKernel(std::make_shared<Batcher>(init.name(), limits, f.tensors, finish)));
  }
  void ComputeAsync(KernelContext& c, Done done) override { batcher_->Add(c, std::move(done)); }
  bool IsExpensive() const override { return false; }

 private:
  explicit BatchFunctionKernel(std::shared_ptr<Batcher> batcher) : batcher_(std::move(batcher)) {}
  const std::shared_ptr<Batcher> batcher_;
};
KERNEL(BatchFunction, BatchFunctionKernel);

}  // namespace
}  // namespace sluice
