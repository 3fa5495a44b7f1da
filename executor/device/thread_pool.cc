#include "executor/device/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// Waking an idle core costs about 45 us (peers.md); a loop has to be worth that, and its blocks
// long enough to hide the counter they are taken from.
constexpr double kWorthSharingNs = 60e3;
constexpr double kBlockNs = 20e3;
constexpr int kBlocksPerThread = 4;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(std::string name, int threads) : name_(std::move(name)) {
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
  if (threads_.empty() || total == 1 || work_ns < kWorthSharingNs) {
    f(0, total);
    return;
  }
  const int64_t most = std::min<int64_t>(total, kBlocksPerThread * (num_threads() + 1));
  const int64_t blocks = std::clamp<int64_t>(static_cast<int64_t>(work_ns / kBlockNs), 2, most);
  Loop loop{f, total, (total + blocks - 1) / blocks};
  int wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loops_.push_back(&loop);
    wake = static_cast<int>(std::min<int64_t>(sleeping_, blocks - 1));
  }
  for (int i = 0; i < wake; ++i) wake_.notify_one();
  RunBlocks(loop);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loops_.erase(std::find(loops_.begin(), loops_.end(), &loop));
  }
  // Nobody joins any more; who did is in its last block.
  while (loop.helpers.load(std::memory_order_acquire) != 0) Pause();
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

void ThreadPool::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    // Loops first: somebody is waiting for them.
    if (Loop* loop = JoinLoop()) {
      lock.unlock();
      RunBlocks(*loop);
      loop->helpers.fetch_sub(1, std::memory_order_release);
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
    } else {
      ++sleeping_;
      wake_.wait(lock, [this] { return stopping_ || !closures_.empty() || HasLoop(); });
      --sleeping_;
    }
  }
}

}  // namespace sluice
