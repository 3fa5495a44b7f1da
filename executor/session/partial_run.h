// A step that is fed and fetched piece by piece.
//
//   session.StartPartialRun({"x", "y"}, {"a:0", "b:0"});
//   run->Run({{"x", xs}}, {"a:0"});      // what x is enough for
//   run->Run({{"y", ys}}, {"b:0"});      // all is fed and fetched: the step has ended
//
// Thread safety: Run from any thread, one piece after another. The destructor cancels a step that
// has not ended, and waits for it; one on a remote master ends with its session.
// Errors, in TensorFlow's words: INVALID_ARGUMENT for what was not announced, was fed or fetched
// before, or cannot be computed yet (the step goes on); else the step's first error, which ends it.
#ifndef SLUICE_EXECUTOR_SESSION_PARTIAL_RUN_H_
#define SLUICE_EXECUTOR_SESSION_PARTIAL_RUN_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"

namespace sluice {

class PartialRun {
 public:
  static absl::StatusOr<std::unique_ptr<PartialRun>> Start(std::shared_ptr<SessionState> session,
                                                           absl::Span<const std::string> feeds,
                                                           absl::Span<const std::string> fetches,
                                                           absl::Span<const std::string> targets);
  ~PartialRun();
  PartialRun(const PartialRun&) = delete;
  PartialRun& operator=(const PartialRun&) = delete;

  // The fetches, in their order. `cancellation` ends the whole step; may be null.
  absl::StatusOr<Tensors> Run(absl::Span<const NamedFeed> feeds,
                              absl::Span<const std::string> fetches,
                              CancellationManager* cancellation = nullptr);
  // Everything was fed and fetched, or an error came: no Run will go well any more.
  bool has_ended() const;

 private:
  struct Endpoint {
    Output tensor;
    bool is_done = false;  // fed, or fetched
  };
  using Endpoints = std::map<std::string, Endpoint>;  // by "node:output"

  PartialRun(std::shared_ptr<SessionState> session, SessionPlan* plan);
  PartialRun(std::shared_ptr<SessionState> session, std::string handle);
  absl::StatusOr<Tensors> RunOnMaster(absl::Span<const NamedFeed> feeds,
                                      absl::Span<const std::string> fetches,
                                      CancellationManager* cancellation);
  bool AllDone() const;  // with mutex_ held
  absl::Status CheckPiece(absl::Span<const NamedFeed> feeds, absl::Span<const std::string> fetches);
  absl::Status CheckComputable(const Output& fetch) const;
  absl::Status CheckFeedValue(const Output& feed, const Tensor& value) const;
  absl::StatusOr<Tensors> Receive(absl::Span<const std::string> fetches);
  absl::Status End();
  std::string KeyOf(const Output& tensor) const;

  const std::shared_ptr<SessionState> session_;
  SessionPlan* const plan_;          // null where a master runs the step
  const std::string master_handle_;  // of the step there
  LocalRendezvous rendezvous_;
  CancellationManager cancellation_;
  mutable std::mutex mutex_;
  Endpoints feeds_;     // guarded by mutex_
  Endpoints fetches_;   // guarded by mutex_
  bool ended_ = false;  // guarded by mutex_
  std::mutex join_mutex_;
  absl::Status status_;  // of the step; once joined
  std::thread step_;     // guarded by join_mutex_
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_PARTIAL_RUN_H_
