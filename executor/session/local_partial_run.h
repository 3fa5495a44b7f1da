// A partial run (partial_run.h) whose step runs in this process, on a thread of its own. The step
// gets the feeds and passes on the fetches through a rendezvous.
#ifndef SLUICE_EXECUTOR_SESSION_LOCAL_PARTIAL_RUN_H_
#define SLUICE_EXECUTOR_SESSION_LOCAL_PARTIAL_RUN_H_

#include <memory>
#include <string>

#include "executor/session/partial_run.h"
#include "executor/session/runner.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"
#include "executor/wait/thread.h"

namespace sluice {

class LocalPartialRun final : public PartialRun {
 public:
  // RESOURCE_EXHAUSTED if no thread can be started for the step.
  static absl::StatusOr<std::unique_ptr<PartialRun>> Start(std::shared_ptr<SessionState> session,
                                                           const NamedRequest& request,
                                                           PreparedStep& step);
  ~LocalPartialRun() override;

 private:
  LocalPartialRun(std::shared_ptr<SessionState> session, const NamedRequest& request,
                  PreparedStep& step);
  void RunStep();
  absl::StatusOr<Tensors> RunPiece(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                                   CancellationManager* cancellation) override;
  absl::Status End(const absl::Status& status) override;
  absl::Status CheckFeedValue(const Output& feed, const Tensor& value) const override;
  absl::StatusOr<Tensors> Receive(absl::Span<const Output> fetches);
  std::string KeyOf(const Output& tensor) const;

  PreparedStep& step_;
  LocalRendezvous rendezvous_;
  CancellationManager cancellation_;
  Mutex join_mutex_;
  absl::Status status_;  // of the step; set when the thread has ended
  Thread thread_ ABSL_GUARDED_BY(join_mutex_);
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_LOCAL_PARTIAL_RUN_H_
