// A step that is fed and fetched piece by piece.
//
//   auto run = *session.StartPartialRun({"x", "y"}, {"a:0", "b:0"});
//   run->Run({{"x", xs}}, {"a:0"});      // "a:0" must need no other feed than "x"
//   run->Run({{"y", ys}}, {"b:0"});      // everything is fed and fetched: the step has ended
//
// Thread safety: any thread may call Run, but one at a time.
// Lifetime: the destructor cancels a step in this process that has not ended, and waits for it. A
// step at a remote master ends with its session.
// Errors, in TensorFlow's words: INVALID_ARGUMENT if a tensor was not announced, was fed or fetched
// before, or cannot be computed yet, or if a value does not fit. The step then goes on as if Run
// had not been called. Every other error is the first error of the step, and ends it.
#ifndef SLUICE_EXECUTOR_SESSION_PARTIAL_RUN_H_
#define SLUICE_EXECUTOR_SESSION_PARTIAL_RUN_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "graph/mutex.h"

namespace sluice {

struct NamedRequest;

class PartialRun {
 public:
  virtual ~PartialRun() = default;
  PartialRun(const PartialRun&) = delete;
  PartialRun& operator=(const PartialRun&) = delete;

  // Feeds and fetches one piece of the step. Returns the values of the fetches, in their order.
  // `cancellation`, which may be null, ends the whole step.
  absl::StatusOr<Tensors> Run(absl::Span<const NamedFeed> feeds,
                              absl::Span<const std::string> fetches,
                              CancellationManager* cancellation = nullptr);
  // Whether the step has ended, because everything was fed and fetched or because of an error.
  // Later Runs fail.
  bool has_ended() const;

 protected:
  PartialRun(std::shared_ptr<SessionState> session, const NamedRequest& request);
  SessionState& session() const { return *session_; }

 private:
  struct Endpoint {
    Output tensor;
    bool is_done = false;  // fed or fetched
  };
  using Endpoints = std::map<std::string, Endpoint>;  // by "node:output"

  // Runs a piece that CheckPiece has accepted.
  virtual absl::StatusOr<Tensors> RunPiece(absl::Span<const Feed> feeds,
                                           absl::Span<const Output> fetches,
                                           CancellationManager* cancellation) = 0;
  // Ends the step after its last piece or after an error. `status` is the result of the last piece.
  // Returns the step's error, or OK if it has none.
  virtual absl::Status End(const absl::Status& status) { return absl::OkStatus(); }
  virtual absl::Status CheckFeedValue(const Output& feed, const Tensor& value) const {
    return absl::OkStatus();
  }

  // Checks a piece and marks its feeds and fetches as done.
  absl::Status CheckPiece(absl::Span<const NamedFeed> feeds, absl::Span<const std::string> fetches)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Checks that all tensors were announced and that none was fed or fetched before.
  absl::Status CheckAnnounced(absl::Span<const NamedFeed> feeds,
                              absl::Span<const std::string> fetches)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckComputable(const Output& fetch) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AllDone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<SessionState> session_;
  mutable Mutex mutex_;
  Endpoints feeds_ ABSL_GUARDED_BY(mutex_);
  Endpoints fetches_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_PARTIAL_RUN_H_
