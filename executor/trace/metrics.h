// Numbers that a process tells of itself while it runs, for monitors: steps, queues, bytes.
//
//   static MetricCounter steps("sluice_steps_total");
//   steps.Add();
//   Metrics::Global().Watch<Queue>(queue, [](const Queue& queue, std::vector<Metric>& out) { … });
//
// Names and labels are Prometheus'. Counters cost an atomic addition; the rest is read when it is
// asked for.
// Thread safety: all functions from any thread; what is watched is read in the thread that asks,
// with no lock held. Ownership: none of what is watched.
#ifndef SLUICE_EXECUTOR_TRACE_METRICS_H_
#define SLUICE_EXECUTOR_TRACE_METRICS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

struct Metric {
  std::string name;  // "_total" at its end: it only grows
  std::string label_name, label;
  double value = 0;
};

class Metrics {
 public:
  static Metrics& Global();

  // `read` is called when somebody asks, while the object is there.
  template <typename T>
  void Watch(const std::shared_ptr<T>& object,
             std::function<void(const T&, std::vector<Metric>&)> read) {
    Add(object, [raw = object.get(), read = std::move(read)](std::vector<Metric>& out) {
      read(*raw, out);
    });
  }
  // By name, then label.
  std::vector<Metric> ReadAll() const;
  // Prometheus' text format.
  static std::string ToText(const std::vector<Metric>& metrics);

 private:
  struct Watched {
    std::weak_ptr<const void> object;
    std::function<void(std::vector<Metric>&)> read;
  };
  void Add(std::weak_ptr<const void> object, std::function<void(std::vector<Metric>&)> read);

  mutable std::mutex mutex_;
  std::vector<Watched> watched_;  // guarded by mutex_
  size_t sweep_at_ = 64;          // objects that are gone are then forgotten; guarded by mutex_
};

// For static objects.
class MetricCounter {
 public:
  explicit MetricCounter(const char* name);
  void Add(int64_t n = 1) { value_->fetch_add(n, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<int64_t>> value_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_METRICS_H_
