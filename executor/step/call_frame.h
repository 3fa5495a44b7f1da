// The feeds and fetches of one step, as _Arg and _Retval nodes see them.
//
// Thread safety: different fetches may be set from different threads; each is set at most once.
// Ownership: feeds are borrowed from the caller for the time of the step.
#ifndef SLUICE_EXECUTOR_STEP_CALL_FRAME_H_
#define SLUICE_EXECUTOR_STEP_CALL_FRAME_H_

#include "absl/types/span.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class CallFrame {
 public:
  CallFrame(absl::Span<const Tensor* const> feeds, absl::Span<Tensor> fetches)
      : feeds_(feeds), fetches_(fetches) {}

  int num_feeds() const { return static_cast<int>(feeds_.size()); }
  int num_fetches() const { return static_cast<int>(fetches_.size()); }
  const Tensor& feed(int i) const { return *feeds_[i]; }
  void set_fetch(int i, Tensor value) { fetches_[i] = std::move(value); }

 private:
  absl::Span<const Tensor* const> feeds_;
  absl::Span<Tensor> fetches_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_CALL_FRAME_H_
