// Threads that wait for input on sockets. The thread that receives an event also handles it, so
// that a message wakes one thread. Before it blocks, another thread starts to wait. A thread that
// has had nothing to do for some seconds ends.
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
    // Called by one thread at a time, once after each Add or Arm.
    virtual void Readable() = 0;
  };

  // Calls `tick` repeatedly while there are sources: after the milliseconds that it returned, and
  // after Wake.
  // `use` is that of all threads except the first.
  explicit LanePoller(std::function<int()> tick = nullptr, ThreadUse use = ThreadUse::kCalls);
  ~LanePoller();  // stops
  LanePoller(const LanePoller&) = delete;
  LanePoller& operator=(const LanePoller&) = delete;

  // Keeps the source until Remove, and waits for its first input. False if there is no thread that
  // could, or if the poller is stopped.
  bool Add(std::shared_ptr<Source> source);
  // Waits for input again.
  void Arm(const Source& source);
  void Remove(const Source& source);
  // Calls `tick` soon.
  void Wake();
  // Returns when all threads have ended. Must not be called from one of them.
  void Stop();

  // Announces that the calling thread, which handles an event, may block: makes sure that another
  // thread waits for input. RESOURCE_EXHAUSTED if there is none: the caller should not block.
  absl::Status MayBlock();
  // Runs `work` on another thread, with the result of MayBlock there. Stop waits for it. Without a
  // further thread it runs when one of the existing ones is idle.
  using Work = std::function<void(const absl::Status& may_block)>;
  void RunElsewhere(Work work);

 private:
  absl::Status StartThread(ThreadUse use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CallSpare() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns true when the calling thread is to wait for input again, and counts it as waiting.
  // Returns false when it is to end.
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
  // Each a thread that waits until it is needed. CallSpare removes the last one.
  std::vector<CondVar*> spares_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_LANE_LANE_POLLER_H_
