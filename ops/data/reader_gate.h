// A gate pauses the thread that reads a dataset while no call waits for an element.
//
// A cancelled call does not end the search for its element: the next call gets that element. But if
// the client is dead, there is no next call, and a search that never finds an element (because a
// filter rejects all) would occupy a core forever. So the thread pauses after the cancellation, and
// continues when the next call waits.
//
// A thread that prefetches must also work between two calls. It pauses only when the last call
// ended more than kReadAhead ago.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_OPS_DATA_READER_GATE_H_
#define SLUICE_OPS_DATA_READER_GATE_H_

#include <atomic>
#include <chrono>

#include "graph/mutex.h"

namespace sluice {

class ReaderGate {
 public:
  static constexpr std::chrono::seconds kReadAhead{60};

  // Represents a call that waits for an element. The gate is open while a Reader exists.
  class Reader {
   public:
    explicit Reader(ReaderGate* gate) : gate_(gate) { gate_->Enter(); }
    ~Reader() { gate_->Leave(); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

   private:
    ReaderGate* const gate_;
  };

  void Enter() {
    ScopedLock lock(&mutex_);
    if (readers_.fetch_add(1, std::memory_order_release) == 0) entered_.NotifyAll();
  }
  void Leave() {
    ScopedLock lock(&mutex_);
    if (readers_.fetch_sub(1, std::memory_order_release) == 1) {
      left_ = std::chrono::steady_clock::now();
    }
  }
  // Blocks while no call waits. If `reads_ahead`, does not block if the last call ended less than
  // kReadAhead ago. A reading calls Pass for each element that it looks at. To end a reading that
  // may be blocked here, hold a Reader while you cancel the reading.
  void Pass(bool reads_ahead) {
    if (readers_.load(std::memory_order_acquire) == 0) AwaitReader(reads_ahead);
  }

 private:
  void AwaitReader(bool reads_ahead) {
    ScopedLock lock(&mutex_);
    if (reads_ahead && std::chrono::steady_clock::now() - left_ < kReadAhead) return;
    while (readers_.load(std::memory_order_relaxed) == 0) entered_.Wait(&mutex_);
  }

  std::atomic<int> readers_{0};  // changed under mutex_
  Mutex mutex_;
  CondVar entered_;
  std::chrono::steady_clock::time_point left_ ABSL_GUARDED_BY(mutex_);  // when the last Reader left
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_READER_GATE_H_
