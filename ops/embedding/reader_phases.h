// Delays the reuse of memory until no reader can still see it.
//
//   {
//     ReaderPhases::Reader reader(&phases);   // one per batch of lookups
//     ... follow pointers without locks ...
//   }
//   phases.Retire([old] { delete old; });      // after `old` became unreachable for new readers
//
// Readers register in one of two counters, that of the current phase. The phase advances when the
// counter of the previous phase is 0. Invariants:
//   1. A reader that registered in phase p holds the phase at p or p + 1.
//   2. A reader that could see an object retired in phase p registered in phase p or earlier.
// So an object retired in phase p is not visible to any reader in phase p + 2.
//
// Thread safety: all methods may be called from any thread. Readers take no lock and never wait.
// Retire and Advance run actions that earlier calls of Retire have stored. An action must not use
// the ReaderPhases.
#ifndef SLUICE_OPS_EMBEDDING_READER_PHASES_H_
#define SLUICE_OPS_EMBEDDING_READER_PHASES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "graph/mutex.h"

namespace sluice {

class ReaderPhases {
 public:
  class Reader {
   public:
    explicit Reader(ReaderPhases* phases) : phases_(phases) {
      for (;;) {
        phase_ = phases->phase_.load();
        phases->readers_[phase_ & 1].count.fetch_add(1);
        if (phases->phase_.load() == phase_) return;
        phases->readers_[phase_ & 1].count.fetch_sub(1);
      }
    }
    ~Reader() { phases_->readers_[phase_ & 1].count.fetch_sub(1); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    ReaderPhases* const phases_;
    uint64_t phase_;
  };

  ReaderPhases() = default;
  ~ReaderPhases() { RunAll(); }

  void Retire(std::function<void()> action) {
    {
      ScopedLock lock(&mutex_);
      retired_.emplace_back(phase_.load(), std::move(action));
    }
    Advance();
  }

  // Runs all actions at once. There must be no readers. If the actions use an object, the
  // destructor of the object must call RunAll.
  void RunAll() {
    std::deque<std::pair<uint64_t, std::function<void()>>> all;
    {
      ScopedLock lock(&mutex_);
      all.swap(retired_);
    }
    for (auto& [phase, action] : all) action();
  }

  // Runs the actions whose objects no reader can see.
  void Advance() {
    std::vector<std::function<void()>> ready;
    {
      ScopedLock lock(&mutex_);
      if (retired_.empty()) return;
      const uint64_t phase = phase_.load();
      if (readers_[(phase + 1) & 1].count.load() == 0) phase_.store(phase + 1);
      while (!retired_.empty() && retired_.front().first + 2 <= phase_.load()) {
        ready.push_back(std::move(retired_.front().second));
        retired_.pop_front();
      }
    }
    for (const std::function<void()>& action : ready) action();
  }

 private:
  struct alignas(64) Count {
    std::atomic<int64_t> count{0};
  };

  std::atomic<uint64_t> phase_{0};
  std::array<Count, 2> readers_;
  Mutex mutex_;
  std::deque<std::pair<uint64_t, std::function<void()>>> retired_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_OPS_EMBEDDING_READER_PHASES_H_
