// A Thread runs a function on a thread of the operating system. All threads of Sluice start with
// this class, because std::thread ends the process if the system cannot start another thread.
//
// The numbers of threads for clients' calls and for graphs are limited, so that the process can
// always start threads for its own work. Each of these two uses may have a quarter of the threads
// that the system allows to the process (the smaller of RLIMIT_NPROC and pids.max of the control
// group), but at least 8 and at most 4096. Threads of these uses have stacks of 2 MB.
//
// Thread safety: one thread at a time may use a Thread object. Start may be called from any thread.
// Lifetime: the destructor waits for the end of the thread that the object started.
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
  kProcess,  // work of the process itself, such as timers and connections; no limit
  kCalls,    // calls of clients, which may block
  kGraphs,   // work of graphs: datasets, partial runs, thread pools of sessions
};

class Thread {
 public:
  // Starts a thread that calls `body`. `purpose` names the thread in errors and, cut to 15
  // characters, in debuggers.
  static absl::StatusOr<Thread> Start(std::string purpose, ThreadUse use,
                                      std::function<void()> body);
  // Returns the largest number of threads of this use that may run at a time. INT32_MAX for
  // kProcess, which has no limit. The limits are computed once, at the first call.
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
  // Gives up the thread, which runs on: the destructor no longer waits for its end.
  void Detach();
  // Whether the caller runs on this thread.
  bool IsCurrent() const { return joinable_ && pthread_equal(id_, pthread_self()) != 0; }

 private:
  explicit Thread(pthread_t id) : id_(id), joinable_(true) {}

  pthread_t id_ = {};
  bool joinable_ = false;
};

// Starts a thread that calls `body`, and whose end nobody waits for. Arguments and errors are those
// of Thread::Start.
absl::Status StartDetached(std::string purpose, ThreadUse use, std::function<void()> body);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_THREAD_H_
