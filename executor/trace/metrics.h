// Collects metrics of the running process for monitors, such as counts of steps, sizes of queues
// and bytes sent.
//
//   static MetricCounter steps("sluice_steps_total");
//   steps.Add();
//   Metrics::Global().Watch<Queue>(queue, [](const Queue& queue, std::vector<Metric>& out) { … });
//
// Names and labels follow Prometheus. A counter costs an atomic addition. All other metrics are
// computed when they are read.
// Thread safety: all functions may be called from any thread. Watched objects are read on the
// thread that calls ReadAll, without a lock.
// Ownership: Metrics does not own watched objects.
#ifndef SLUICE_EXECUTOR_TRACE_METRICS_H_
#define SLUICE_EXECUTOR_TRACE_METRICS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/mutex.h"

namespace sluice {

struct Metric {
  std::string name;               // ends in "_total" if it only grows
  std::string label_name, label;  // the label and its value; empty if there is none
  double value = 0;
};

class Metrics {
 public:
  static Metrics& Global();

  // From now on, ReadAll calls `read` to get the metrics of the object, as long as the object
  // lives.
  template <typename T>
  void Watch(const std::shared_ptr<T>& object,
             std::function<void(const T&, std::vector<Metric>&)> read) {
    Add(object, [raw = object.get(), read = std::move(read)](std::vector<Metric>& out) {
      read(*raw, out);
    });
  }
  // Returns the metrics, sorted by name, then by label.
  std::vector<Metric> ReadAll() const;
  // Returns the metrics in Prometheus' text format.
  static std::string ToText(const std::vector<Metric>& metrics);

 private:
  struct Watched {
    std::weak_ptr<const void> object;
    std::function<void(std::vector<Metric>&)> read;
  };
  void Add(std::weak_ptr<const void> object, std::function<void(std::vector<Metric>&)> read);

  mutable Mutex mutex_;
  std::vector<Watched> watched_ ABSL_GUARDED_BY(mutex_);
  // The size of watched_ at which destroyed objects are removed.
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 64;
};

// A counter of events. Define it as a static object.
class MetricCounter {
 public:
  explicit MetricCounter(const char* name);
  void Add(int64_t n = 1) { value_->fetch_add(n, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<int64_t>> value_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_METRICS_H_
