#include "executor/cpu/thread_pool.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "executor/cpu/loop_costs.h"
#include "executor/cpu/steady_time.h"
#include "executor/wait/out_of_memory.h"
#include "executor/wait/session_scope.h"

namespace sluice {
namespace {

// A loop of less work than kWorthWakingNs does not wake a thread, because waking an idle core takes
// almost as long. Blocks of kBlockNs are long enough to hide the contention on the counter from
// which they are taken.
constexpr double kWorthWakingNs = 60e3;
constexpr double kBlockNs = 20e3;
// The length of blocks while a thread looks for loops instead of sleeping.
constexpr double kSharedBlockNs = 1e3;
constexpr int kBlocksPerThread = 4;
// A woken thread finds the following loops by looking for them. So short loops are shared too, if
// they make up at least kThickWorkNs of kThickNs.
constexpr int64_t kThickNs = 200'000;
constexpr int64_t kThickWorkNs = kThickNs / 2;
// A thread looks for loops for this time. It is longer than the time between two loops of a step,
// and too short to disturb other processes.
constexpr int64_t kLookForNs = 60'000;
// So many pauses take some microseconds.
constexpr int kPausesBetweenYields = 64;
// If a yield takes this long, another process has run. If that happens again soon, the cores are
// contended, and threads do not look for a while. A single long yield may be due to the system or
// the host.
constexpr int64_t kOthersRanNs = 20'000;
constexpr int64_t kAgainWithinNs = 2'000'000;
constexpr int64_t kCrowdedForNs = 3'000'000;
// After so many pauses a waiting caller yields: a helper that was interrupted in its block needs
// the core.
constexpr int kPausesBeforeYield = 2000;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(std::string name, int threads)
    : name_(std::move(name)),
      may_look_(threads < static_cast<int>(std::thread::hardware_concurrency())) {
  threads_.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    absl::StatusOr<Thread> thread =
        Thread::Start(name_, ThreadUse::kGraphs, [this, i] { Work(i + 1); });
    if (!thread.ok()) break;
    threads_.push_back(*std::move(thread));
  }
}

ThreadPool::~ThreadPool() {
  {
    ScopedLock lock(&mutex_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  for (Thread& thread : threads_) thread.Join();
}

void ThreadPool::Schedule(std::function<void()> closure) {
  if (threads_.empty()) {
    closure();
    return;
  }
  bool wake;
  {
    ScopedLock lock(&mutex_);
    closures_.push_back(std::move(closure));
    num_closures_.store(static_cast<int>(closures_.size()), std::memory_order_relaxed);
    wake = sleeping_.load(std::memory_order_relaxed) > 0;
    news_.fetch_add(1, std::memory_order_release);
  }
  if (wake) wake_.NotifyOne();
}

void ThreadPool::RunBlocks(int thread, Loop& loop, Place& place) {
  for (int i = 0; i < loop.num_parts; ++i) {
    Part& part = loop.parts[(thread + i) % loop.num_parts];
    while (part.next.load(std::memory_order_relaxed) < part.end) {
      const int64_t begin = part.next.fetch_add(loop.block, std::memory_order_relaxed);
      if (begin >= part.end) continue;
      const absl::Status status =
          OrOutOfMemory([&] { loop.f(begin, std::min(begin + loop.block, part.end)); });
      if (!status.ok()) loop.is_out_of_memory.store(true, std::memory_order_relaxed);
    }
  }
  if ((place.state.load(std::memory_order_relaxed) & kOpen) != 0) {
    place.state.fetch_and(~kOpen, std::memory_order_relaxed);
  }
}

ThreadPool::Place* ThreadPool::Open(Loop* loop) {
  for (Place& place : places_) {
    uint32_t free = 0;
    if (place.state.load(std::memory_order_relaxed) != free ||
        !place.state.compare_exchange_strong(free, kTaken, std::memory_order_acquire)) {
      continue;
    }
    place.loop = loop;
    place.state.store(kTaken | kOpen, std::memory_order_release);
    news_.fetch_add(1, std::memory_order_seq_cst);  // before Wake counts sleepers
    return &place;
  }
  return nullptr;
}

void ThreadPool::ParallelFor(int64_t total, double cost_ns, RangeFunction f) {
  if (total <= 0) return;
  const double work_ns = static_cast<double>(total) * cost_ns;
  if (threads_.empty() || total == 1 || work_ns < kWorthSharingNs) return f(0, total);
  const bool is_awaited = looking_.load(std::memory_order_relaxed) > 0;
  const bool is_worth_waking =
      work_ns >= kWorthWakingNs || (!is_awaited && may_look_ && ComeThick(work_ns));
  if (!is_awaited && !is_worth_waking) return f(0, total);
  const double block_ns = is_awaited ? kSharedBlockNs : kBlockNs;
  const int64_t most = std::min<int64_t>(total, kBlocksPerThread * (num_threads() + 1));
  const int64_t blocks = std::clamp<int64_t>(static_cast<int64_t>(work_ns / block_ns), 2, most);
  Loop loop{f,
            (total + blocks - 1) / blocks,
            static_cast<int>(std::min<int64_t>({blocks, num_threads() + 1, kMostParts})),
            {},
            {}};
  for (int i = 0; i < loop.num_parts; ++i) {
    loop.parts[i].next.store(total * i / loop.num_parts, std::memory_order_relaxed);
    loop.parts[i].end = total * (i + 1) / loop.num_parts;
  }
  Place* const place = Open(&loop);
  if (place == nullptr) return f(0, total);
  // Threads that look join without being woken.
  if (is_worth_waking) Wake(static_cast<int>(std::min<int64_t>(blocks - 1, num_threads())));
  RunBlocks(0, loop, *place);
  // No thread joins any more. Those that joined are in their last block.
  for (int pauses = 0; place->state.load(std::memory_order_acquire) != kTaken; ++pauses) {
    if (pauses < kPausesBeforeYield) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
  place->state.store(0, std::memory_order_release);
  // The error of a helper is thrown as if the caller had run the block.
  if (loop.is_out_of_memory.load(std::memory_order_relaxed)) throw std::bad_alloc();
}

void ThreadPool::Wake(int threads) {
  const int wake = std::min(threads, sleeping_.load(std::memory_order_seq_cst));
  if (wake <= 0) return;
  { ScopedLock lock(&mutex_); }  // lets threads that decided to sleep fall asleep
  for (int i = 0; i < wake; ++i) wake_.NotifyOne();
}

bool ThreadPool::ComeThick(double work_ns) {
  const int64_t now = SteadyNowNs();
  if (now < crowded_until_ns_.load(std::memory_order_relaxed)) return false;
  const auto work = static_cast<int64_t>(work_ns);
  if (now - short_since_ns_.load(std::memory_order_relaxed) > kThickNs) {
    short_since_ns_.store(now, std::memory_order_relaxed);
    short_work_ns_.store(work, std::memory_order_relaxed);
    return false;
  }
  if (short_work_ns_.fetch_add(work, std::memory_order_relaxed) + work < kThickWorkNs) return false;
  short_since_ns_.store(0, std::memory_order_relaxed);
  return true;
}

bool ThreadPool::Help(int thread) {
  for (Place& place : places_) {
    uint32_t state = place.state.load(std::memory_order_relaxed);
    while ((state & kOpen) != 0) {
      if (!place.state.compare_exchange_weak(state, state + kJoined, std::memory_order_acquire)) {
        continue;
      }
      RunBlocks(thread, *place.loop, place);
      place.state.fetch_sub(kJoined, std::memory_order_release);
      return true;
    }
  }
  return false;
}

bool ThreadPool::LookForNews(uint32_t seen, int64_t until_ns) {
  looking_.fetch_add(1, std::memory_order_relaxed);
  bool is_new = false;
  for (int64_t now = SteadyNowNs(); now < until_ns;) {
    for (int i = 0; i < kPausesBetweenYields && !is_new; ++i) {
      Pause();
      is_new = news_.load(std::memory_order_acquire) != seen;
    }
    if (is_new) break;
    const int64_t before = SteadyNowNs();
    std::this_thread::yield();  // to other processes
    now = SteadyNowNs();
    if (now - before < kOthersRanNs) continue;
    const int64_t last = others_ran_ns_.exchange(now, std::memory_order_relaxed);
    if (before - last > kAgainWithinNs) continue;
    crowded_until_ns_.store(now + kCrowdedForNs, std::memory_order_relaxed);
    break;
  }
  looking_.fetch_sub(1, std::memory_order_relaxed);
  return is_new;
}

bool ThreadPool::RunClosure() {
  // A thread that saw the new `news_` of a closure also sees the count.
  if (num_closures_.load(std::memory_order_relaxed) == 0) return false;
  std::function<void()> closure;
  {
    ScopedLock lock(&mutex_);
    if (closures_.empty()) return false;
    closure = std::move(closures_.front());
    closures_.pop_front();
    num_closures_.store(static_cast<int>(closures_.size()), std::memory_order_relaxed);
  }
  closure();
  return true;
}

bool ThreadPool::Sleep(uint32_t seen) {
  ScopedLock lock(&mutex_);
  sleeping_.fetch_add(1, std::memory_order_seq_cst);
  while (!stopping_ && news_.load(std::memory_order_seq_cst) == seen) wake_.Wait(&mutex_);
  sleeping_.fetch_sub(1, std::memory_order_relaxed);
  return !stopping_ || !closures_.empty();
}

void ThreadPool::Work(int thread) {
  SessionScope::Leave();  // sessions that follow the first share the pool
  int64_t look_until_ns = 0;
  const auto look = [&] {
    const int64_t now = SteadyNowNs();
    const bool is_crowded = now < crowded_until_ns_.load(std::memory_order_relaxed);
    look_until_ns = may_look_ && !is_crowded ? now + kLookForNs : 0;
  };
  while (true) {
    const uint32_t seen = news_.load(std::memory_order_acquire);
    if (Help(thread)) {  // loops first: their callers wait
      look();
    } else if (RunClosure()) {
      look_until_ns = 0;
    } else if (look_until_ns == 0 || !LookForNews(seen, look_until_ns)) {
      if (!Sleep(seen)) return;
      look();  // a short loop may be over by now, and the next one may follow
    }
  }
}

}  // namespace sluice
