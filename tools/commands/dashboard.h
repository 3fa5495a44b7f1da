// Collects the state of a cluster, which `sluice top --web` shows.
//
// Thread safety: all methods may be called from any thread. One thread per server queries this
// server at intervals, so that a server that does not answer delays only its own row.
#ifndef SLUICE_TOOLS_COMMANDS_DASHBOARD_H_
#define SLUICE_TOOLS_COMMANDS_DASHBOARD_H_

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/security/security.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"
#include "tools/commands/metrics_text.h"
#include "tools/commands/scalars.h"

namespace sluice {

struct DashboardOptions {
  std::vector<std::string> targets;  // "grpc://host:port"
  Security security;
  std::chrono::milliseconds interval{1000};
  std::string summaries;  // folder of event files; "": none
};

class Dashboard {
 public:
  // RESOURCE_EXHAUSTED if the system starts no further thread.
  static absl::StatusOr<std::unique_ptr<Dashboard>> Start(DashboardOptions options);
  // Waits for calls in progress, up to ten seconds each.
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  // Returns the HTML page. It needs no other file, and requests /state at intervals.
  static std::string Page();
  // Returns the state as JSON: tasks, curves, gradients by replica.
  std::string State() const;

 private:
  explicit Dashboard(DashboardOptions options) : options_(std::move(options)) {}
  absl::Status StartThread(std::function<void()> body);

  using Clock = std::chrono::steady_clock;

  struct Task {
    std::string name;   // "/job:worker/task:1"; "" before the first answer
    std::string error;  // "" if it answered
    Clock::time_point asked, answered;
    MetricValues metrics{""};
    // Rates between the last two answers. A part is what one task runs of a step.
    double steps_per_s = 0, parts_per_s = 0, sent_mb_per_s = 0, received_mb_per_s = 0;
    std::deque<double> history;  // the larger of steps_per_s and parts_per_s, in recent answers
    std::string stalls;
  };

  void WatchTask(const std::string& target);
  void WatchSummaries();
  void Record(Task& task, const absl::StatusOr<std::string>& metrics,
              const absl::StatusOr<std::string>& stalls) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the next query is due. Returns false if the object is being destroyed.
  bool WaitForNext();
  std::string TaskJson(const std::string& target, const Task& task) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DashboardOptions options_;
  const Clock::time_point start_ = Clock::now();
  mutable Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Task> tasks_ ABSL_GUARDED_BY(mutex_);  // by target
  std::map<std::string, ScalarPoints> scalars_ ABSL_GUARDED_BY(mutex_);
  std::vector<Thread> threads_;  // destroyed first, which waits for them
};

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_DASHBOARD_H_
