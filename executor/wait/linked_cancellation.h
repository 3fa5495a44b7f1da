// Cancels one thing with another, for a while.
#ifndef SLUICE_EXECUTOR_WAIT_LINKED_CANCELLATION_H_
#define SLUICE_EXECUTOR_WAIT_LINKED_CANCELLATION_H_

#include "executor/wait/cancellation.h"

namespace sluice {

// While it lives, `to` is cancelled when `from` (may be null) is, or if it was before.
class LinkedCancellation {
 public:
  LinkedCancellation(CancellationManager* from, CancellationManager& to)
      : from_(from), token_(from == nullptr ? 0 : from->NewToken()) {
    if (from_ == nullptr || from_->Register(token_, [&to] { to.StartCancel(); })) return;
    from_ = nullptr;
    to.StartCancel();
  }
  ~LinkedCancellation() {
    if (from_ != nullptr) from_->Deregister(token_);
  }
  LinkedCancellation(const LinkedCancellation&) = delete;
  LinkedCancellation& operator=(const LinkedCancellation&) = delete;

 private:
  CancellationManager* from_;
  const CancellationManager::Token token_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_LINKED_CANCELLATION_H_
