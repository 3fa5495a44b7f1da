#include "executor/device/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "executor/device/steady_time.h"

namespace sluice {
namespace {

// Waking an idle core costs about 45 us (peers.md); a loop has to be worth that, and its blocks
// long enough to hide the counter they are taken from.
constexpr double kWorthWakingNs = 60e3;
constexpr double kBlockNs = 20e3;
// The same where a thread is looking for loops.
constexpr double kWorthSharingNs = 8e3;
constexpr double kSharedBlockNs = 4e3;
constexpr int kBlocksPerThread = 4;
// A thread that has been woken once finds the next loops by looking. So short loops are worth it
// too, where so much of this time goes into them.
constexpr int64_t kThickNs = 200'000;
constexpr int64_t kThickWorkNs = kThickNs / 2;
// Longer than what lies between two loops of a step, shorter than anybody minds.
constexpr std::chrono::microseconds kLookFor{60};
// A helper that was interrupted in its block should be let on.
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
  loops_.reserve(16);
  threads_.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Work(); });
    pthread_setname_np(threads_.back().native_handle(), name_.substr(0, 15).c_str());
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Schedule(std::function<void()> closure) {
  if (threads_.empty()) {
    closure();
    return;
  }
  bool wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closures_.push_back(std::move(closure));
    wake = sleeping_ > 0;
  }
  if (wake) wake_.notify_one();
}

void ThreadPool::RunBlocks(Loop& loop) {
  while (true) {
    const int64_t begin = loop.next.fetch_add(loop.block, std::memory_order_relaxed);
    if (begin >= loop.total) return;
    loop.f(begin, std::min(begin + loop.block, loop.total));
  }
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
  Loop loop{f, total, (total + blocks - 1) / blocks};
  int wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loops_.push_back(&loop);
    // Those who look come by themselves.
    wake = is_worth_waking ? static_cast<int>(std::min<int64_t>(sleeping_, blocks - 1)) : 0;
    made_.fetch_add(1, std::memory_order_release);
  }
  for (int i = 0; i < wake; ++i) wake_.notify_one();
  RunBlocks(loop);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loops_.erase(std::find(loops_.begin(), loops_.end(), &loop));
  }
  // Nobody joins any more; who did is in its last block.
  for (int pauses = 0; loop.helpers.load(std::memory_order_acquire) != 0; ++pauses) {
    if (pauses < kPausesBeforeYield) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

bool ThreadPool::ComeThick(double work_ns) {
  const int64_t now = SteadyNowNs();
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

ThreadPool::Loop* ThreadPool::JoinLoop() {
  for (Loop* loop : loops_) {
    if (loop->next.load(std::memory_order_relaxed) < loop->total) {
      loop->helpers.fetch_add(1, std::memory_order_relaxed);
      return loop;
    }
  }
  return nullptr;
}

bool ThreadPool::HasLoop() const {
  return std::any_of(loops_.begin(), loops_.end(), [](const Loop* loop) {
    return loop->next.load(std::memory_order_relaxed) < loop->total;
  });
}

void ThreadPool::LookForLoops(uint32_t seen) {
  const auto until = std::chrono::steady_clock::now() + kLookFor;
  looking_.fetch_add(1, std::memory_order_relaxed);
  while (made_.load(std::memory_order_acquire) == seen &&
         std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 8; ++i) Pause();
    std::this_thread::yield();  // to other processes
  }
  looking_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::Work() {
  bool was_helpful = false;  // worked on a loop just now
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    // Loops first: somebody is waiting for them.
    if (Loop* loop = JoinLoop()) {
      lock.unlock();
      RunBlocks(*loop);
      loop->helpers.fetch_sub(1, std::memory_order_release);
      was_helpful = may_look_;
      lock.lock();
    } else if (!closures_.empty()) {
      std::function<void()> closure = std::move(closures_.front());
      closures_.pop_front();
      lock.unlock();
      closure();
      closure = nullptr;
      lock.lock();
    } else if (stopping_) {
      return;
    } else if (was_helpful) {
      was_helpful = false;
      const uint32_t seen = made_.load(std::memory_order_relaxed);
      lock.unlock();
      LookForLoops(seen);
      lock.lock();
    } else {
      ++sleeping_;
      wake_.wait(lock, [this] { return stopping_ || !closures_.empty() || HasLoop(); });
      --sleeping_;
    }
  }
}

}  // namespace sluice
