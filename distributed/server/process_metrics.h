// What a server tells monitors: the process's metrics, with what is of no single part of it.
#ifndef SLUICE_DISTRIBUTED_SERVER_PROCESS_METRICS_H_
#define SLUICE_DISTRIBUTED_SERVER_PROCESS_METRICS_H_

#include <string>

namespace sluice {

// Prometheus' text format. `task`: "/job:ps/replica:0/task:0".
std::string ProcessMetrics(const std::string& task);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_PROCESS_METRICS_H_
