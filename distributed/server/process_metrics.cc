#include "distributed/server/process_metrics.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "distributed/message/counters.h"
#include "executor/device/pool_allocator.h"
#include "executor/trace/metrics.h"
#include "executor/wait/stalls.h"

namespace sluice {
namespace {

double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string ProcessMetrics(const std::string& task) {
  std::vector<Metric> metrics = Metrics::Global().ReadAll();
  const auto add = [&](const char* name, double value) {
    metrics.push_back({name, "", "", value});
  };
  const std::string stalls = Stalls::AllToString();
  const WireCounters& wire = WireCounters::Global();
  metrics.push_back({"sluice_task_info", "task", task, 1});
  add("sluice_waiting_ops", static_cast<double>(std::count(stalls.begin(), stalls.end(), '\n')));
  add("sluice_tensor_sent_bytes_total", static_cast<double>(wire.sent.load()));
  add("sluice_tensor_received_bytes_total", static_cast<double>(wire.received.load()));
  add("sluice_resident_memory_bytes", ResidentBytes());
  add("sluice_pool_memory_bytes", static_cast<double>(PoolAllocator::Global().SystemBytes()));
  return Metrics::ToText(metrics);
}

}  // namespace sluice
