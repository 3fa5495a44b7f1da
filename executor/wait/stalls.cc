#include "executor/wait/stalls.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "graph/strings.h"

namespace sluice {
namespace {

// The tables of the process. Never destroyed: sessions may outlive static objects.
struct Tables {
  Mutex mutex;
  std::set<Stalls*> all ABSL_GUARDED_BY(mutex);
};
Tables& AllTables() {
  static Tables* tables = new Tables;
  return *tables;
}

std::string LineOf(const Stalls::Report& r) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f s", r.seconds);
  return StrCat("'", r.node, "' (", r.op, ") has waited ", seconds, " for ", r.resource,
                r.state.empty() ? "" : ": ", r.state, "\n");
}

}  // namespace

Stalls::Stalls() {
  Tables& tables = AllTables();
  ScopedLock lock(&tables.mutex);
  tables.all.insert(this);
}

Stalls::~Stalls() {
  Tables& tables = AllTables();
  ScopedLock lock(&tables.mutex);
  tables.all.erase(this);
}

Stalls& Stalls::Global() {
  static Stalls* stalls = new Stalls;
  return *stalls;
}

Stalls::Entry Stalls::Open(Stall stall) {
  ScopedLock lock(&mutex_);
  const Entry entry = next_++;
  waiting_.emplace(entry, Waiting{std::move(stall), std::chrono::steady_clock::now()});
  return entry;
}

void Stalls::Close(Entry entry) {
  ScopedLock lock(&mutex_);
  auto it = waiting_.find(entry);
  if (it == waiting_.end()) return;
  while (it->second.readers != 0) read_.Wait(&mutex_);
  waiting_.erase(it);
}

std::vector<Stalls::Report> Stalls::Describe(int64_t step_id) {
  std::vector<std::pair<Waiting*, Report>> read;
  const auto now = std::chrono::steady_clock::now();
  {
    ScopedLock lock(&mutex_);
    for (auto& [entry, w] : waiting_) {  // ascending: the longest wait first
      if (step_id != 0 && w.stall.step_id != step_id) continue;
      ++w.readers;
      read.emplace_back(&w, Report{w.stall.step_id, w.stall.node, w.stall.op, w.stall.resource, "",
                                   std::chrono::duration<double>(now - w.since).count()});
    }
  }
  std::vector<Report> reports;
  for (auto& [w, report] : read) {
    if (w->stall.describe) report.state = w->stall.describe();
    reports.push_back(std::move(report));
  }
  ScopedLock lock(&mutex_);
  for (auto& [w, report] : read) --w->readers;
  read_.NotifyAll();
  return reports;
}

std::string Stalls::ToString(int64_t step_id) {
  std::string text;
  for (const Report& r : Describe(step_id)) text += LineOf(r);
  return text;
}

std::string Stalls::AllToString() {
  std::vector<Report> reports;
  Tables& tables = AllTables();
  {
    // Held while the tables are read: none may be destroyed meanwhile.
    ScopedLock lock(&tables.mutex);
    for (Stalls* table : tables.all) {
      for (Report& r : table->Describe()) reports.push_back(std::move(r));
    }
  }
  std::stable_sort(reports.begin(), reports.end(),
                   [](const Report& a, const Report& b) { return a.seconds > b.seconds; });
  std::string text;
  for (const Report& r : reports) StrAppend(&text, "step ", r.step_id, ": ", LineOf(r));
  return text;
}

}  // namespace sluice
