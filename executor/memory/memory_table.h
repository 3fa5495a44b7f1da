// Formats the table of tensors in reports of memory: a line for each tensor, the largest first.
//
// Thread safety: a pure function.
#ifndef SLUICE_EXECUTOR_MEMORY_MEMORY_TABLE_H_
#define SLUICE_EXECUTOR_MEMORY_MEMORY_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// One line of the table.
struct MemoryRow {
  int64_t bytes = -1;    // -1: unknown
  std::string lifetime;  // "3 to 17": numbers of nodes in the step's order
  bool at_peak = false;
  std::string tensor;  // "dense/MatMul:0 (MatMul)"
};

// Returns the text of the table. It begins with a line break.
std::string MemoryTable(const std::vector<MemoryRow>& rows);
// Returns a number of bytes as text: "12 MB", "800 B"; "?" for -1.
std::string MemoryText(int64_t bytes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_MEMORY_MEMORY_TABLE_H_
