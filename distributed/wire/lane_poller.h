// Threads that hear what comes on sockets. One thread hears of an event and does what is to be
// done, so that a message wakes one thread; while it may block, another listens. Threads are kept
// until they have had nothing to do for some seconds.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_LANE_POLLER_H_
#define SLUICE_DISTRIBUTED_WIRE_LANE_POLLER_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice {

class LanePoller {
 public:
  // Something with a descriptor that is read from.
  class Source {
   public:
    virtual ~Source() = default;
    virtual int fd() const = 0;
    // Called by one thread at a time, once for each time it was armed.
    virtual void Readable() = 0;
  };

  // `tick`, if given, is called again and again while there are sources: at the latest after the
  // milliseconds that it returned, and after Wake.
  explicit LanePoller(std::function<int()> tick = nullptr);
  // Stops.
  ~LanePoller();
  LanePoller(const LanePoller&) = delete;
  LanePoller& operator=(const LanePoller&) = delete;

  // Keeps the source, and waits for input once.
  void Add(std::shared_ptr<Source> source);
  void Arm(const Source& source);
  void Remove(const Source& source);
  // Calls `tick` soon.
  void Wake();
  // Returns when all threads have ended; not from one of them.
  void Stop();

  // From here on the thread, which hears of something, may block: another one listens.
  void MayBlock();
  // Runs it on another thread, where it may block; Stop waits for it.
  void RunElsewhere(std::function<void()> work);

 private:
  // A thread that is kept for when the others are busy.
  struct Spare {
    std::condition_variable called;
    bool is_called = false;
  };
  // These with mutex_ held:
  void StartThread();
  void CallSpare();
  bool AwaitTurn(std::unique_lock<std::mutex>& lock, bool may_be_spare);

  void Listen();
  std::shared_ptr<Source> SourceOf(int fd);
  void RunWork();
  void TickIfDue(bool was_woken);

  const int epoll_;
  const int wake_;
  const int has_work_;
  const std::function<int()> tick_;
  std::atomic<int> wait_ms_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<int, std::shared_ptr<Source>> sources_;  // guarded by mutex_
  std::deque<std::function<void()>> work_;          // guarded by mutex_
  // Threads that wait for input, or are about to; spare ones, the last to be so first called; and
  // all. Guarded by mutex_.
  int waiting_ = 0;
  std::vector<Spare*> spares_;
  int threads_ = 0;
  bool stopped_ = false;  // guarded by mutex_
  std::mutex tick_mutex_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_LANE_POLLER_H_
