// A thread. All threads of Sluice start here, because std::thread ends the process if the system
// has no thread left.
//
// The threads that clients' calls and graphs start are bounded, so that the process can always
// start its own. Each of the two uses may have 4096 threads, or a quarter of those that the system
// allows to the process (RLIMIT_NPROC, pids.max of its control group). Their stacks are of 2 MB.
//
// Thread safety: an object belongs to one thread at a time; Start may be called from any thread.
// Lifetime: the destructor waits for the end of the thread.
// Errors: RESOURCE_EXHAUSTED that names the thread's purpose, if the limit is reached or the system
// starts no further thread.
#ifndef SLUICE_EXECUTOR_WAIT_THREAD_H_
#define SLUICE_EXECUTOR_WAIT_THREAD_H_

#include <pthread.h>

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace sluice {

// Whose work a thread does.
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
  // The most threads of one use. Counted once, at the first call.
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
  // The thread outlives the object.
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
