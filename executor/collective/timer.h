// Calls functions at a later time, on a thread that is started with the first of them.
//
// Thread safety: all methods from any thread. It lives as long as the process.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_TIMER_H_
#define SLUICE_EXECUTOR_COLLECTIVE_TIMER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace sluice {

class Timer {
 public:
  // The process's.
  static Timer& Global();

  using Id = int64_t;
  Id After(std::chrono::nanoseconds delay, std::function<void()> function);
  // A function that runs already is not waited for.
  void Drop(Id id);

 private:
  using Time = std::chrono::steady_clock::time_point;
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<Time, Id>, std::function<void()>> due_;  // guarded by mutex_
  std::map<Id, Time> times_;                                  // guarded by mutex_
  Id next_ = 1;                                               // guarded by mutex_
  bool is_running_ = false;                                   // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_TIMER_H_
