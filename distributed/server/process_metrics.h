// The metrics that a server reports.
#ifndef SLUICE_DISTRIBUTED_SERVER_PROCESS_METRICS_H_
#define SLUICE_DISTRIBUTED_SERVER_PROCESS_METRICS_H_

#include <string>

namespace sluice {

// Returns all metrics of this process in Prometheus' text format. `task` is the name of the
// server's task: "/job:ps/replica:0/task:0".
std::string ProcessMetrics(const std::string& task);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_PROCESS_METRICS_H_
