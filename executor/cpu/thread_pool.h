// A pool of threads that run closures, and that share parallel loops with the calling thread.
//
// Thread safety: all methods may be called from any thread, including the pool's threads.
// Blocking: ParallelFor returns when the whole range is done. The caller works on it too and needs
// no other thread to make progress, so a busy pool never blocks it. Closures given to Schedule must
// not block.
// Lifetime: the destructor runs all scheduled closures and joins the threads.
//
// A thread that has worked on a loop spins for a while before it sleeps. Loops that follow each
// other closely then wake no thread and take no lock, so much shorter loops can be shared. Threads
// do not spin while other processes contend for the cores. Thread i begins with part i of every
// loop, because loops over the same data then find it in the thread's cache. After its part it
// takes blocks of the other parts.
#ifndef SLUICE_EXECUTOR_CPU_THREAD_POOL_H_
#define SLUICE_EXECUTOR_CPU_THREAD_POOL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"

namespace sluice {

class ThreadPool {
 public:
  using RangeFunction = absl::FunctionRef<void(int64_t, int64_t)>;

  // Debuggers show `name`. If the pool has no threads, Schedule runs the closure in the caller. The
  // pool has fewer threads if the system allows no more, or if the limit on threads that run graphs
  // (ThreadUse::kGraphs in executor/wait/thread.h) is reached.
  ThreadPool(std::string name, int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()); }

  // Calls `closure` on a thread of the pool, and does not wait for its end.
  void Schedule(std::function<void()> closure);

  // Calls `f(begin, end)` over [0, total) in blocks. `cost_ns` is the time per element. A loop that
  // takes less time than waking a thread runs in the caller, in one call, unless such loops follow
  // each other closely. If a block fails with std::bad_alloc on any thread, ParallelFor throws it.
  void ParallelFor(int64_t total, double cost_ns, RangeFunction f);

 private:
  // Data that several threads write lies in separate cache lines. Objects on a stack are not
  // aligned to lines, because AddressSanitizer's stacks may be aligned less.
  static constexpr int kLine = 64;
  // The part of a loop that one thread begins with.
  struct alignas(16) Part {
    std::atomic<int64_t> next;
    int64_t end;
    char rest_of_line[kLine - 16];
  };
  static constexpr int kMostParts = 16;
  // A running call of ParallelFor. It is on its caller's stack.
  struct Loop {
    RangeFunction f;
    int64_t block;
    int num_parts;
    std::array<Part, kMostParts> parts;
    std::atomic<bool> is_out_of_memory;  // a block threw std::bad_alloc
  };
  // A place where threads find and join a loop.
  struct Place {
    // The bits kTaken (there is a loop) and kOpen (threads may join), plus kJoined for each helper
    // that has joined.
    std::atomic<uint32_t> state{0};
    Loop* loop = nullptr;  // used by the caller and by helpers that have joined
    char rest_of_line[kLine - 16];
  };
  static constexpr uint32_t kTaken = 1, kOpen = 2, kJoined = 4;
  static constexpr int kMostLoops = 16;  // further loops run in their callers alone

  // Runs the remaining blocks of the loop, those of the thread's own part first. Then closes the
  // place, so that no more threads join.
  static void RunBlocks(int thread, Loop& loop, Place& place);
  // Offers `loop` at a free place, and returns the place. Null if there is none.
  Place* Open(Loop* loop);
  // Works on a loop that threads may join. Returns false if there is none.
  bool Help(int thread);
  bool RunClosure();
  void Work(int thread);
  // Spins until there is a new loop or closure, that is, until news_ is no longer `seen`. Returns
  // false if there is none until the time `until_ns` (SteadyNowNs).
  bool LookForNews(uint32_t seen, int64_t until_ns);
  // Sleeps until news_ is no longer `seen`. Returns false if the pool is being destroyed and no
  // closure is left.
  bool Sleep(uint32_t seen);
  // Counts a short loop that takes `work_ns` nanoseconds. Returns whether short loops have followed
  // each other so closely that it pays to wake a thread for them.
  bool ComeThick(double work_ns);
  void Wake(int threads);

  const std::string name_;
  const bool may_look_;  // threads may spin in LookForNews, because each has a core
  std::array<Place, kMostLoops> places_;
  std::atomic<uint32_t> news_{0};  // the number of loops and closures so far
  char rest_of_line_[kLine - sizeof(uint32_t)];
  std::atomic<int> looking_{0};               // threads in LookForNews
  std::atomic<int> sleeping_{0};              // increased under mutex_
  std::atomic<int64_t> others_ran_ns_{0};     // when another process last used a core
  std::atomic<int64_t> crowded_until_ns_{0};  // until then no thread calls LookForNews
  // ComeThick counts short loops that follow each other: the time of the first one, and the work of
  // all.
  std::atomic<int64_t> short_since_ns_{0};
  std::atomic<int64_t> short_work_ns_{0};
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> closures_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> num_closures_{0};  // size of closures_
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_THREAD_POOL_H_
