// Threads that hear what comes on sockets. One thread hears of an event and does what is to be
// done, so that a message wakes one thread; while it may block, another listens.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_WIRE_LANE_POLLER_H_
#define SLUICE_DISTRIBUTED_WIRE_LANE_POLLER_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

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

  // While one lives, its thread may block: the others listen.
  class MayBlock {
   public:
    explicit MayBlock(LanePoller& poller);
    ~MayBlock();

   private:
    LanePoller& poller_;
  };
  // Runs it on a thread of its own, which Stop waits for.
  void RunElsewhere(std::function<void()> work);

 private:
  void StartThread();  // with mutex_ held
  void Listen();
  void TickIfDue(bool was_woken);
  bool EndsThread(int most_idle);

  const int epoll_;
  const int wake_;
  const std::function<int()> tick_;
  std::atomic<int> wait_ms_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<int, std::shared_ptr<Source>> sources_;  // guarded by mutex_
  int listening_ = 0;                               // threads; guarded by mutex_
  int threads_ = 0;                                 // guarded by mutex_
  bool stopped_ = false;                            // guarded by mutex_
  std::mutex tick_mutex_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_LANE_POLLER_H_
