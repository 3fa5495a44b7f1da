// Reads what servers tell of themselves (executor/trace/metrics.h).
#ifndef SLUICE_TOOLS_COMMANDS_METRICS_TEXT_H_
#define SLUICE_TOOLS_COMMANDS_METRICS_TEXT_H_

#include <map>
#include <string>
#include <string_view>

namespace sluice {

class MetricValues {
 public:
  // Lines that are no metric are left out.
  explicit MetricValues(std::string_view text);

  // Over all labels; 0 where it is not there.
  double Sum(const std::string& name) const;
  // By label.
  std::map<std::string, double> Of(const std::string& name) const;
  // The first.
  std::string Label(const std::string& name) const;

 private:
  std::map<std::string, std::map<std::string, double>> values_;  // by name and label
};

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_METRICS_TEXT_H_
