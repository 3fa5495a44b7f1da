#include "tools/commands/dashboard.h"

#include <algorithm>
#include <cstdio>

#include "distributed/client/monitor.h"
#include "graph/status.h"
#include "tools/commands/dashboard_page.h"
#include "tools/commands/json.h"

namespace sluice {
namespace {

constexpr size_t kHistoryMax = 300;

std::string QueuesJson(const MetricValues& metrics) {
  std::vector<std::string> rows;
  for (const auto& [name, elements] : metrics.Of("sluice_queue_elements")) {
    rows.push_back(
        JsonObject().Add("name", JsonString(name)).Add("elements", JsonNumber(elements)).str());
  }
  return JsonArray(rows);
}

std::string AccumulatorsJson(const MetricValues& metrics) {
  std::vector<std::string> rows;
  for (const auto& [name, waiting] : metrics.Of("sluice_accumulator_gradients")) {
    const auto of = [&, &accumulator = name](const char* metric) {
      return JsonNumber(metrics.Of(StrCat("sluice_accumulator_", metric, "_total"))[accumulator]);
    };
    rows.push_back(JsonObject()
                       .Add("name", JsonString(name))
                       .Add("waiting", JsonNumber(waiting))
                       .Add("applied", of("applied"))
                       .Add("updates", of("updates"))
                       .Add("stale", of("stale"))
                       .Add("surplus", of("surplus"))
                       .str());
  }
  return JsonArray(rows);
}

std::string TablesJson(const MetricValues& metrics) {
  std::vector<std::string> rows;
  for (const TableMetrics& table : TablesOf(metrics)) {
    rows.push_back(JsonObject()
                       .Add("name", JsonString(table.name))
                       .Add("keys", JsonNumber(table.keys))
                       .Add("mb", JsonNumber(table.bytes / 1e6))
                       .Add("admitted", JsonNumber(table.admitted))
                       .Add("filtered", JsonNumber(table.filtered))
                       .Add("evicted", JsonNumber(table.evicted))
                       .str());
  }
  return JsonArray(rows);
}

std::string CurveJson(const ScalarPoints& points) {
  std::vector<std::string> pairs;
  for (const auto& [step, value] : points) {
    pairs.push_back(JsonArray({StrCat(step), JsonNumber(value)}));
  }
  return JsonArray(pairs);
}

// Splits "scope/replica_3/applied" into the replica and the count's name. False for other tags.
bool ParseReplicaTag(const std::string& tag, int* replica, std::string* count) {
  const size_t at = tag.find("/replica_");
  char rest[32];
  if (at == tag.npos || std::sscanf(tag.c_str() + at, "/replica_%d/%31s", replica, rest) != 2) {
    return false;
  }
  *count = rest;
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Dashboard>> Dashboard::Start(DashboardOptions options) {
  std::unique_ptr<Dashboard> made(new Dashboard(std::move(options)));
  Dashboard* const d = made.get();
  {
    ScopedLock lock(&d->mutex_);
    for (const std::string& target : d->options_.targets) {
      d->tasks_[target].asked = d->tasks_[target].answered = d->start_;
    }
  }
  for (const std::string& target : d->options_.targets) {
    SLUICE_RETURN_IF_ERROR(d->StartThread([d, target] { d->WatchTask(target); }));
  }
  if (!d->options_.summaries.empty()) {
    SLUICE_RETURN_IF_ERROR(d->StartThread([d] { d->WatchSummaries(); }));
  }
  return made;
}

absl::Status Dashboard::StartThread(std::function<void()> body) {
  SLUICE_ASSIGN_OR_RETURN(Thread thread,
                          Thread::Start("dashboard", ThreadUse::kProcess, std::move(body)));
  threads_.push_back(std::move(thread));
  return absl::OkStatus();
}

Dashboard::~Dashboard() {
  ScopedLock lock(&mutex_);
  stopping_ = true;
  stop_.NotifyAll();
}

bool Dashboard::WaitForNext() {
  ScopedLock lock(&mutex_);
  const Clock::time_point end = Clock::now() + options_.interval;
  while (!stopping_ && Clock::now() < end) stop_.WaitUntil(&mutex_, end);
  return !stopping_;
}

void Dashboard::WatchTask(const std::string& target) {
  do {
    const absl::StatusOr<std::string> metrics = MetricsAt(target, options_.security);
    const absl::StatusOr<std::string> stalls =
        metrics.ok() ? StallsAt(target, options_.security) : metrics.status();
    ScopedLock lock(&mutex_);
    Record(tasks_[target], metrics, stalls);
  } while (WaitForNext());
}

void Dashboard::WatchSummaries() {
  ScalarReader reader(options_.summaries);
  do {
    // A file that cannot be read now is tried again.
    reader.Refresh().IgnoreError();
    ScopedLock lock(&mutex_);
    scalars_ = reader.scalars();
  } while (WaitForNext());
}

void Dashboard::Record(Task& task, const absl::StatusOr<std::string>& metrics,
                       const absl::StatusOr<std::string>& stalls) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - task.asked).count();
  task.asked = now;
  task.error = metrics.ok() ? "" : std::string(metrics.status().message());
  task.stalls = stalls.ok() ? *stalls : "";
  const auto rate = [&](const MetricValues& values, const char* name) {
    // A restarted task counts from 0 again.
    return std::max(0.0, (values.Sum(name) - task.metrics.Sum(name)) / seconds);
  };
  const MetricValues values(metrics.ok() ? *metrics : "");
  const bool has_rate = metrics.ok() && !task.name.empty();
  task.steps_per_s = has_rate ? rate(values, "sluice_steps_total") : 0;
  task.parts_per_s = has_rate ? rate(values, "sluice_parts_total") : 0;
  task.sent_mb_per_s = has_rate ? rate(values, "sluice_tensor_sent_bytes_total") / 1e6 : 0;
  task.received_mb_per_s = has_rate ? rate(values, "sluice_tensor_received_bytes_total") / 1e6 : 0;
  task.history.push_back(std::max(task.steps_per_s, task.parts_per_s));
  if (task.history.size() > kHistoryMax) task.history.pop_front();
  if (!metrics.ok()) return;
  task.answered = now;
  task.name = values.Label("sluice_task_info");
  task.metrics = values;
}

std::string Dashboard::TaskJson(const std::string& target, const Task& task) const {
  const double silent = std::chrono::duration<double>(Clock::now() - task.answered).count();
  std::vector<std::string> history;
  for (const double rate : task.history) history.push_back(JsonNumber(rate));
  return JsonObject()
      .Add("target", JsonString(target))
      .Add("name", JsonString(task.name))
      .Add("error", JsonString(task.error))
      .Add("silent_s", JsonNumber(silent))
      .Add("steps_per_s", JsonNumber(task.steps_per_s))
      .Add("parts_per_s", JsonNumber(task.parts_per_s))
      .Add("sent_mb_per_s", JsonNumber(task.sent_mb_per_s))
      .Add("received_mb_per_s", JsonNumber(task.received_mb_per_s))
      .Add("memory_mb", JsonNumber(task.metrics.Sum("sluice_resident_memory_bytes") / 1e6))
      .Add("waiting", JsonNumber(task.metrics.Sum("sluice_waiting_ops")))
      .Add("history", JsonArray(history))
      .Add("queues", QueuesJson(task.metrics))
      .Add("accumulators", AccumulatorsJson(task.metrics))
      .Add("tables", TablesJson(task.metrics))
      .Add("stalls", JsonString(task.stalls))
      .str();
}

std::string Dashboard::State() const {
  ScopedLock lock(&mutex_);
  std::vector<std::string> tasks;
  for (const std::string& target : options_.targets) {
    tasks.push_back(TaskJson(target, tasks_.at(target)));
  }
  JsonObject curves;
  std::map<int, std::map<std::string, double>> counts;  // by replica
  for (const auto& [tag, points] : scalars_) {
    int replica;
    std::string count;
    if (ParseReplicaTag(tag, &replica, &count)) {
      counts[replica][count] = points.back().second;
    } else {
      curves.Add(tag, CurveJson(points));
    }
  }
  std::vector<std::string> replicas;
  for (auto& [replica, of] : counts) {
    replicas.push_back(JsonObject()
                           .Add("replica", int64_t{replica})
                           .Add("applied", JsonNumber(of["applied"]))
                           .Add("stale", JsonNumber(of["dropped_as_stale"]))
                           .Add("surplus", JsonNumber(of["dropped_as_surplus"]))
                           .str());
  }
  return JsonObject()
      .Add("interval_ms", int64_t{options_.interval.count()})
      .Add("has_summaries", options_.summaries.empty() ? "false" : "true")
      .Add("tasks", JsonArray(tasks))
      .Add("curves", curves.str())
      .Add("replicas", JsonArray(replicas))
      .str();
}

std::string Dashboard::Page() { return kDashboardPage; }

}  // namespace sluice
