#include "benchmarks/graphs/manifest.h"

#include <fstream>

#include "absl/strings/str_split.h"
#include "graph/status.h"
#include "graph/strings.h"

namespace sluice {
namespace {

// "-" is an empty list.
std::vector<std::string> ListOf(const std::string& text, char separator) {
  if (text == "-") return {};
  return absl::StrSplit(text, separator, absl::SkipEmpty());
}

GraphCase CaseOf(const std::string& folder, const std::vector<std::string>& columns) {
  GraphCase c;
  c.section = columns[0];
  c.bench = columns[1];
  c.name = columns[2];
  c.graph = folder + columns[3];
  c.init = ListOf(columns[4], ',');
  for (const std::string& feed : ListOf(columns[5], ';')) {
    c.feeds.push_back(absl::StrSplit(feed, absl::MaxSplits('=', 1)));
  }
  c.fetches = ListOf(columns[6], ',');
  c.targets = ListOf(columns[7], ',');
  c.items = std::stod(columns[8]);
  c.unit = columns[9];
  c.flops = std::stod(columns[10]);
  c.bytes = std::stod(columns[11]);
  c.options = columns[12];
  return c;
}

}  // namespace

absl::StatusOr<std::vector<GraphCase>> ReadManifest(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(StrCat("no manifest at '", path, "'"));
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::vector<GraphCase> cases;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    if (columns.size() >= 13 && columns[0] != "section") cases.push_back(CaseOf(folder, columns));
  }
  return cases;
}

}  // namespace sluice
