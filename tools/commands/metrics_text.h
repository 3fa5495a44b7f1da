// MetricValues parses the metrics that a server reports in the text format of Prometheus
// (executor/trace/metrics.h). A metric has at most one label.
#ifndef SLUICE_TOOLS_COMMANDS_METRICS_TEXT_H_
#define SLUICE_TOOLS_COMMANDS_METRICS_TEXT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class MetricValues {
 public:
  // Skips lines that are no metric.
  explicit MetricValues(std::string_view text);

  // The sum over all labels; 0 without such a metric.
  double Sum(const std::string& name) const;
  // The values of the metric, by label ("" without a label). Empty without such a metric.
  std::map<std::string, double> Of(const std::string& name) const;
  // The first label of the metric, or "" without such a metric.
  std::string Label(const std::string& name) const;

 private:
  std::map<std::string, std::map<std::string, double>> values_;  // by name and label
};

// A part of an embedding table on a task (docs/embedding_tables.md).
struct TableMetrics {
  std::string name;
  double keys, bytes;
  double admitted, filtered, evicted;  // since the part was made
};
// Returns the parts of tables, ordered by name.
std::vector<TableMetrics> TablesOf(const MetricValues& metrics);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_METRICS_TEXT_H_
