// Threads that run closures, and loops shared between them and the caller.
//
// Thread safety: all methods may be called from any thread, those of the pool included.
// Blocking: ParallelFor returns when the whole range is done; the caller works on it too, and needs
// no other thread to make progress, so a pool of one thread, or a pool that is busy, never blocks
// it. Closures given to Schedule should not block.
// A thread that worked on a loop looks for the next one for a while before it sleeps: loops that
// follow each other need not wake anybody, and far shorter ones are worth sharing. Such loops take
// no lock. Where others want the cores nobody looks. Each thread begins with the same part of every
// loop, so that it finds in its cache what it left there, and goes on with what others have left.
// The destructor runs what was scheduled, and joins.
#ifndef SLUICE_EXECUTOR_CPU_THREAD_POOL_H_
#define SLUICE_EXECUTOR_CPU_THREAD_POOL_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace sluice {

class ThreadPool {
 public:
  using RangeFunction = absl::FunctionRef<void(int64_t, int64_t)>;

  // `name` is what debuggers show. Without threads, Schedule runs in the caller.
  ThreadPool(std::string name, int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()); }

  void Schedule(std::function<void()> closure);

  // Calls `f(begin, end)` over [0, total) in blocks. `cost_ns` is the time of one element: what
  // takes less than it costs to wake a thread runs in the caller, in one call, unless such loops
  // follow each other closely.
  void ParallelFor(int64_t total, double cost_ns, RangeFunction f);

 private:
  // What several threads write lies in cache lines of its own. Objects on a stack are not aligned
  // to lines: AddressSanitizer's stacks may have less.
  static constexpr int kLine = 64;
  // A part of a loop that one thread begins with.
  struct alignas(16) Part {
    std::atomic<int64_t> next;
    int64_t end;
    char rest_of_line[kLine - 16];
  };
  static constexpr int kMostParts = 16;
  // A ParallelFor under way; lives on its caller's stack.
  struct Loop {
    RangeFunction f;
    int64_t block;
    int num_parts;
    std::array<Part, kMostParts> parts;
  };
  // Where threads find a loop, and say that they are in it.
  struct Place {
    // kTaken: it has a loop; kOpen: threads may join; kJoined times the helpers inside.
    std::atomic<uint32_t> state{0};
    Loop* loop = nullptr;  // of a helper that has joined, and of the caller
    char rest_of_line[kLine - 16];
  };
  static constexpr uint32_t kTaken = 1, kOpen = 2, kJoined = 4;
  static constexpr int kMostLoops = 16;  // others run in their callers alone

  // The blocks that are left, those of the thread's own part first; then nobody joins any more.
  static void RunBlocks(int thread, Loop& loop, Place& place);
  // A place that is open for `loop`; null if there is none.
  Place* Open(Loop* loop);
  // Works on an open loop, if there is one.
  bool Help(int thread);
  bool RunClosure();
  void Work(int thread);
  // Until something is new since `seen`, or the time is up.
  bool LookForNews(uint32_t seen, int64_t until_ns);
  // Until there is; false: the pool ends.
  bool Sleep(uint32_t seen);
  // Whether loops that are too short to wake a thread for come so thick that one is worth it, with
  // one more of `work_ns`.
  bool ComeThick(double work_ns);
  void Wake(int threads);

  const std::string name_;
  const bool may_look_;  // there is a core for each thread
  std::array<Place, kMostLoops> places_;
  std::atomic<uint32_t> news_{0};  // loops and closures, ever
  char rest_of_line_[kLine - sizeof(uint32_t)];
  std::atomic<int> looking_{0};               // threads in LookForNews
  std::atomic<int> sleeping_{0};              // raised under mutex_
  std::atomic<int64_t> others_ran_ns_{0};     // when a thread that looked last yielded for long
  std::atomic<int64_t> crowded_until_ns_{0};  // until then nobody looks
  // Loops that nobody was woken for: since when they are counted, and their work.
  std::atomic<int64_t> short_since_ns_{0};
  std::atomic<int64_t> short_work_ns_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> closures_;  // guarded by mutex_
  std::atomic<int> num_closures_{0};            // size of closures_
  bool stopping_ = false;                       // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_CPU_THREAD_POOL_H_
