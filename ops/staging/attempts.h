// Runs operations on one resource that may have to wait until the resource changes.
//
// An attempt is a function that tries an operation. It returns the operation's status, or nullopt
// if the operation has to wait. It runs immediately, and again after every change of the resource,
// until it returns a status or its caller is cancelled. Each attempt may belong to a line (a queue,
// given by its number). Attempts of one line end in the order of their arrival. Attempts without a
// line (kNoLine) end as soon as they can.
//
// Thread safety: all methods may be called from any thread. Attempts and changes run with the
// resource's lock held and must not call this class. Callbacks run exactly once, without the lock.
// Errors: CANCELLED if the caller is cancelled, and those that attempts return.
#ifndef SLUICE_OPS_STAGING_ATTEMPTS_H_
#define SLUICE_OPS_STAGING_ATTEMPTS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "ops/state/wait.h"

namespace sluice {

class Attempts {
 public:
  using Function = std::function<std::optional<absl::Status>()>;
  using Done = std::function<void(absl::Status)>;
  static constexpr int kNoLine = -1;

  // Stall reports (lists of all waiting operations) show `resource`, such as "barrier 'b'", and the
  // text that `state` returns about the resource's contents. `state` runs with the lock held.
  Attempts(std::string resource, std::function<std::string()> state)
      : resource_(std::move(resource)), state_(std::move(state)) {}

  // `owner` is the resource, which stays alive while the attempt waits. If an allocation fails in
  // `attempt`, the attempt ends with RESOURCE_EXHAUSTED. If one fails elsewhere in this class, the
  // process ends, because attempts of other steps would be lost.
  void Run(std::shared_ptr<Resource> owner, const Caller& caller, int line, Function attempt,
           Done done) noexcept;
  // Runs an attempt that has a result: calls `attempt(&result)`. When the attempt ends, calls
  // `done` with the result or the error.
  template <typename Result, typename F>
  void RunFor(std::shared_ptr<Resource> owner, const Caller& caller, int line, F attempt,
              std::function<void(absl::StatusOr<Result>)> done) {
    auto result = std::make_shared<Result>();
    Run(
        std::move(owner), caller, line,
        [result, attempt = std::move(attempt)]() mutable { return attempt(result.get()); },
        [result, done = std::move(done)](absl::Status status) {
          if (!status.ok()) return done(std::move(status));
          done(std::move(*result));
        });
  }
  // Changes the resource and runs the waiting attempts again.
  void Change(const std::function<void()>& change) noexcept;
  // "barrier 'b': 2 ready, 1 waiting".
  std::string Describe() const;
  // The resource's lock.
  Mutex& mutex() const ABSL_LOCK_RETURNED(mutex_) { return mutex_; }

 private:
  struct Attempt {
    int64_t id;
    int line;
    Function function;
    Done done;
    Wait wait;
    absl::Status status;
  };
  using List = std::list<Attempt>;

  std::string State() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs the waiting attempts until none of them ends any more. Moves those that ended to `ended`.
  void TryAll(List* ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool TryOnce(List* ended) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cancel(int64_t id) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls the callbacks of attempts that have ended. The lock must not be held.
  static void Finish(List ended);

  const std::string resource_;
  const std::function<std::string()> state_;
  mutable Mutex mutex_;
  List waiting_ ABSL_GUARDED_BY(mutex_);
  int64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_ATTEMPTS_H_
