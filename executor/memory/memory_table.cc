#include "executor/memory/memory_table.h"

#include <fmt/format.h>

#include <iterator>

#include "graph/strings.h"

namespace sluice {

std::string MemoryText(int64_t bytes) {
  if (bytes < 0) return "?";
  return bytes >= 10 << 20   ? StrCat(bytes >> 20, " MB")
         : bytes >= 10 << 10 ? StrCat(bytes >> 10, " KB")
                             : StrCat(bytes, " B");
}

std::string MemoryTable(const std::vector<MemoryRow>& rows) {
  std::string text = "\n  bytes      nodes          at peak  tensor";
  for (const MemoryRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "\n  {:10} {:14} {:8} {}", MemoryText(row.bytes),
                   row.lifetime, row.at_peak ? "yes" : "", row.tensor);
  }
  return text;
}

}  // namespace sluice
