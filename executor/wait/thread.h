// A Thread runs a function on a thread of the system. All threads of Sluice start here, because
// std::thread ends the process if the system has no thread left.
//
// The threads for clients' calls and for graphs are limited, so that the process can always start
// its own. Each of these two uses may have a quarter of the threads that the system allows to the
// process (RLIMIT_NPROC, pids.max of its control group), but at least 8 and at most 4096. Threads
// of these uses have stacks of 2 MB.
//
// Thread safety: an object belongs to one thread at a time. Start may be called from any thread.
// Lifetime: the destructor waits for the end of the thread.
// Errors: RESOURCE_EXHAUSTED, with the thread's purpose, if the limit for its use is reached, or if
// the system cannot start another thread.
#ifndef SLUICE_EXECUTOR_WAIT_THREAD_H_
#define SLUICE_EXECUTOR_WAIT_THREAD_H_

#include <pthread.h>

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace sluice {

// The work for which a thread is started. It decides which limit applies.
enum class ThreadUse {
  kProcess,  // the process itself; not bounded
  kCalls,    // calls of clients, which may block
  kGraphs,   // graphs: datasets, partial runs, pools of sessions
};

class Thread {
 public:
  // `purpose` appears in errors and, cut to 15 characters, in debuggers.
  static absl::StatusOr<Thread> Start(std::string purpose, ThreadUse use,
                                      std::function<void()> body);
  // The largest number of threads that may run for this use. Computed once, at the first call.
  static int MaxOf(ThreadUse use);

  Thread() = default;  // no thread
  Thread(Thread&& o) noexcept : id_(o.id_), joinable_(std::exchange(o.joinable_, false)) {}
  Thread& operator=(Thread&& o) noexcept {
    Join();
    id_ = o.id_;
    joinable_ = std::exchange(o.joinable_, false);
    return *this;
  }
  ~Thread() { Join(); }

  bool joinable() const { return joinable_; }
  // Waits for the end of the thread, if there is one.
  void Join();
  // Lets the thread go on after the object's end.
  void Detach();
  // Whether the caller runs on this thread.
  bool IsCurrent() const { return joinable_ && pthread_equal(id_, pthread_self()) != 0; }

 private:
  explicit Thread(pthread_t id) : id_(id), joinable_(true) {}

  pthread_t id_ = {};
  bool joinable_ = false;
};

// Starts a thread that outlives the caller.
absl::Status StartDetached(std::string purpose, ThreadUse use, std::function<void()> body);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_THREAD_H_
