// Runs threads that wait for input on the sockets of lanes (lane_socket.h). The thread that
// receives an event also handles it, so that a message wakes only one thread. Before this thread
// blocks, another thread starts to wait. A thread that has had nothing to do for some seconds ends.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_LANE_LANE_POLLER_H_
#define SLUICE_DISTRIBUTED_LANE_LANE_POLLER_H_

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"

namespace sluice {

class LanePoller {
 public:
  // An object that reads from a descriptor.
  class Source {
   public:
    virtual ~Source() = default;
    virtual int fd() const = 0;
    // Called when the descriptor has input: once after each Add or Arm, by one thread at a time.
    virtual void Readable() = 0;
  };

  // If `tick` is not null, it is called at intervals from the first Add until Stop, and soon after
  // Wake. It returns the number of milliseconds until its next call. `use` decides which limit of
  // threads applies to all threads except the first, which is not limited.
  explicit LanePoller(std::function<int()> tick = nullptr, ThreadUse use = ThreadUse::kCalls);
  ~LanePoller();  // stops
  LanePoller(const LanePoller&) = delete;
  LanePoller& operator=(const LanePoller&) = delete;

  // Adds a source, which is kept until Remove. Readable is called at its first input. Returns false
  // if the poller is stopped, or if no thread could be started to wait for input.
  bool Add(std::shared_ptr<Source> source);
  // Makes the next input of a source call Readable again.
  void Arm(const Source& source);
  void Remove(const Source& source);
  // Calls `tick` soon.
  void Wake();
  // Returns when all threads have ended. Must not be called from one of them.
  void Stop();

  // To be called by a thread that handles an event and is about to block. Makes sure that another
  // thread waits for input meanwhile. RESOURCE_EXHAUSTED if no further thread can be started; the
  // caller must not block then.
  absl::Status MayBlock();
  // Runs `work` on another thread, which calls MayBlock and passes the status to `work`. If no
  // thread can be started, `work` runs when an existing thread is idle. Stop waits until `work` has
  // run.
  using Work = std::function<void(const absl::Status& may_block)>;
  void RunElsewhere(Work work);

 private:
  absl::Status StartThread(ThreadUse use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CallSpare() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Blocks until this thread is needed to wait for input. Then counts it as waiting and returns
  // true. Returns false if the thread must end instead. If `may_be_spare` is false, the thread is
  // always needed, except after Stop.
  bool AwaitTurn(bool may_be_spare) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Listen();
  std::shared_ptr<Source> SourceOf(int fd);
  void RunWork();
  void TickIfDue(bool was_woken);

  const int epoll_;
  const int wake_;  // event descriptors in epoll_
  const int has_work_;
  const std::function<int()> tick_;
  const ThreadUse use_;
  std::atomic<int> wait_ms_;
  Mutex tick_mutex_;  // held while `tick_` runs
  Mutex mutex_;
  CondVar ended_;
  std::map<int, std::shared_ptr<Source>> sources_ ABSL_GUARDED_BY(mutex_);  // by descriptor
  std::deque<Work> work_ ABSL_GUARDED_BY(mutex_);
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // threads that wait for input, or are about to
  int threads_ ABSL_GUARDED_BY(mutex_) = 0;
  // Threads that wait until they are needed. CallSpare wakes and removes the last one.
  std::vector<CondVar*> spares_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_LANE_LANE_POLLER_H_
