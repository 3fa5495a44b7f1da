#include "ops/data/parallel_map.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <utility>

#include "executor/wait/out_of_memory.h"
#include "executor/wait/thread.h"
#include "graph/status.h"
#include "ops/data/dataset_kernel.h"

namespace sluice {
namespace {

class ParallelMapIterator : public DatasetIterator {
 public:
  ParallelMapIterator(IteratorPointer inner, ElementFunction f, int64_t calls, Reading& reading)
      : inner_(std::move(inner)), f_(std::move(f)), calls_(calls), reading_(reading) {}
  ~ParallelMapIterator() override { reading_.cancellation.StartCancel(); }

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (inner_ != nullptr && static_cast<int64_t>(pending_.size()) < calls_) {
      Tensors taken;
      const absl::StatusOr<bool> any = inner_->Next(&taken);
      if (any.ok() && !*any) {
        inner_ = nullptr;
      } else if (!any.ok()) {
        pending_.push_back(std::make_unique<Call>(Call{.result = any.status()}));
        break;
      } else {
        pending_.push_back(std::make_unique<Call>(Call{.element = std::move(taken)}));
        Start(*pending_.back());
      }
    }
    if (pending_.empty()) return false;
    const std::unique_ptr<Call> call = std::move(pending_.front());
    pending_.pop_front();
    call->thread.Join();
    if (!call->result.ok()) return call->result.status();
    *element = *std::move(call->result);
    return true;
  }

 private:
  struct Call {
    Tensors element;
    absl::StatusOr<Tensors> result = OutOfMemory();  // if the call cannot be started
    Thread thread;                                   // last, because it uses the others
  };
  // Without a further thread the call runs here.
  void Start(Call& call) {
    const auto run = [this, &call] {
      call.result = OrOutOfMemory([&] { return f_(call.element, reading_); });
    };
    absl::StatusOr<Thread> thread = Thread::Start("ParallelMap", ThreadUse::kGraphs, run);
    if (!thread.ok()) return run();
    call.thread = *std::move(thread);
  }

  IteratorPointer inner_;
  const ElementFunction f_;
  const int64_t calls_;
  Reading reading_;                            // ends with this iterator
  std::deque<std::unique_ptr<Call>> pending_;  // last, to be destroyed first
};

}  // namespace

IteratorPointer ParallelMap(IteratorPointer inner, ElementFunction f, int64_t calls,
                            Reading& reading) {
  return std::make_unique<ParallelMapIterator>(std::move(inner), std::move(f), calls, reading);
}

absl::StatusOr<int64_t> ParallelCalls(const KernelContext& c) {
  constexpr char kName[] = "num_parallel_calls";
  int64_t calls;
  if (c.input(InputIndex(c, kName)).dtype() == DT_INT32) {
    SLUICE_ASSIGN_OR_RETURN(calls, ScalarInput<int32_t>(c, kName));
  } else {
    SLUICE_ASSIGN_OR_RETURN(calls, ScalarInput<int64_t>(c, kName));
  }
  constexpr int64_t kAutotune = -1;
  if (calls == kAutotune) calls = std::max(1u, std::thread::hardware_concurrency());
  SLUICE_INVALID_IF(calls < 1, "num_parallel_calls must be greater than zero.");
  constexpr int64_t kThreadsMax = 256;
  return std::min(calls, kThreadsMax);
}

}  // namespace sluice
