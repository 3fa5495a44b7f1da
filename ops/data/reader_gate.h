// Pauses the threads that read a dataset while no call waits for an element.
//
// A call that is cancelled loses no element: its reading goes on for the next call. If the client
// is dead, there is no next call, and a reading that finds no element (a filter that nothing
// passes) would occupy a core for ever. So it pauses and keeps its place.
//
// Threads that read ahead must work between two calls, so they pause kReadAhead after the last one.
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

  // Keeps the gate open while it lives.
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
  // Blocks while there is no reader. To be called for each element that a reading looks at. To end
  // a reading, hold a Reader while you cancel it.
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
  std::chrono::steady_clock::time_point left_ ABSL_GUARDED_BY(mutex_);  // of the last reader
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_READER_GATE_H_
