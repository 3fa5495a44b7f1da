// Operations on one resource that wait for it to change.
//
// An attempt is a function that does its work and says how it ended, or says nothing when it has to
// wait. It is tried when it comes and after every change, until it ends or its caller is cancelled.
// Attempts of one line end in the order in which they came; those of no line whenever they can.
//
// Thread safety: all methods from any thread. Attempts and changes run with the resource's lock
// held; they must not call back into this class. Callbacks are called exactly once, without it.
// Errors: CANCELLED, and what attempts say.
#ifndef SLUICE_OPS_STAGING_ATTEMPTS_H_
#define SLUICE_OPS_STAGING_ATTEMPTS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "executor/device/resource_manager.h"
#include "ops/state/wait.h"

namespace sluice {

class Attempts {
 public:
  using Function = std::function<std::optional<absl::Status>()>;
  using Done = std::function<void(absl::Status)>;
  static constexpr int kNoLine = -1;

  // `resource` is what a report of stalls shows: "barrier 'b'"; `state` says what is in it, and is
  // called with the lock held.
  Attempts(std::string resource, std::function<std::string()> state)
      : resource_(std::move(resource)), state_(std::move(state)) {}

  // `owner` is the resource, which has to live while the attempt waits.
  void Run(std::shared_ptr<Resource> owner, const Caller& caller, int line, Function attempt,
           Done done);
  // Changes the resource, and lets those go on that can.
  void Change(const std::function<void()>& change);
  // "barrier 'b': 2 ready, 1 waiting".
  std::string Describe() const;
  std::mutex& mutex() const { return mutex_; }

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

  std::string State() const;
  // Moves attempts that end to `ended`. Lock held.
  void TryAll(List* ended);
  bool TryOnce(List* ended);
  void Cancel(int64_t id);
  // Lock not held.
  static void Finish(List ended);

  const std::string resource_;
  const std::function<std::string()> state_;
  mutable std::mutex mutex_;
  List waiting_;         // guarded by mutex_
  int64_t next_id_ = 1;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_ATTEMPTS_H_
