#include "ops/state/wait.h"

#include "graph/ir/graph.h"

namespace sluice {

Caller CallerOf(const KernelContext& c) {
  return {.cancellation = c.step().cancellation,
          .stalls = c.step().stalls,
          .allocator = c.step().allocator != nullptr ? c.step().allocator : &Heap(),
          .step_id = c.step().step_id,
          .node = c.name(),
          .op = c.node().op()};
}

absl::Status Caller::CheckNotCancelled() const {
  if (cancellation == nullptr || cancellation->IsWanted()) return absl::OkStatus();
  return absl::CancelledError("Operation was cancelled");
}

bool Wait::Start(const Caller& caller, std::string resource, std::function<void()> cancel,
                 std::function<std::string()> describe) {
  if (caller.cancellation != nullptr) {
    token_ = caller.cancellation->NewToken();
    if (!caller.cancellation->Register(token_, std::move(cancel))) return false;
    cancellation_ = caller.cancellation;
  }
  if (caller.stalls != nullptr) {
    stalls_ = caller.stalls;
    entry_ = stalls_->Open({.step_id = caller.step_id,
                            .node = std::string(caller.node),
                            .op = std::string(caller.op),
                            .resource = std::move(resource),
                            .describe = std::move(describe)});
  }
  return true;
}

void Wait::End() {
  // Does not wait for a callback that is running, because it may be the one that called End.
  if (cancellation_ != nullptr) cancellation_->TryDeregister(token_);
  if (stalls_ != nullptr) stalls_->Close(entry_);
  cancellation_ = nullptr;
  stalls_ = nullptr;
}

}  // namespace sluice
