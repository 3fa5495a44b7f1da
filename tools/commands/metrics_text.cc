#include "tools/commands/metrics_text.h"

#include <cstdlib>

namespace sluice {
namespace {

// The text in the first quotes. `rest` becomes the text after them.
std::string Unquoted(std::string_view* rest) {
  std::string label;
  size_t at = rest->find('"');
  for (++at; at < rest->size() && (*rest)[at] != '"'; ++at) {
    if ((*rest)[at] == '\\' && at + 1 < rest->size()) {
      ++at;
      label.push_back((*rest)[at] == 'n' ? '\n' : (*rest)[at]);
    } else {
      label.push_back((*rest)[at]);
    }
  }
  rest->remove_prefix(std::min(at + 1, rest->size()));
  return label;
}

}  // namespace

MetricValues::MetricValues(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    const size_t end = line.find_first_of("{ ");
    if (end == std::string_view::npos) continue;
    const std::string name(line.substr(0, end));
    const bool has_label = line[end] == '{';
    line.remove_prefix(end);
    const std::string label = has_label ? Unquoted(&line) : "";
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    values_[name][label] += std::atof(std::string(line.substr(space + 1)).c_str());
  }
}

double MetricValues::Sum(const std::string& name) const {
  double sum = 0;
  for (const auto& [label, value] : Of(name)) sum += value;
  return sum;
}

std::map<std::string, double> MetricValues::Of(const std::string& name) const {
  auto it = values_.find(name);
  return it == values_.end() ? std::map<std::string, double>() : it->second;
}

std::string MetricValues::Label(const std::string& name) const {
  auto it = values_.find(name);
  return it == values_.end() || it->second.empty() ? "" : it->second.begin()->first;
}

std::vector<TableMetrics> TablesOf(const MetricValues& metrics) {
  std::vector<TableMetrics> tables;
  for (const auto& [name, keys] : metrics.Of("sluice_embedding_table_keys")) {
    const auto of = [&, &table = name](const char* metric) {
      return metrics.Of(std::string("sluice_embedding_table_").append(metric))[table];
    };
    tables.push_back({name, keys, of("bytes"), of("admitted"), of("filtered"), of("evicted")});
  }
  return tables;
}

}  // namespace sluice
