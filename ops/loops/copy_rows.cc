#include "ops/loops/copy_rows.h"

#include "executor/cpu/prefetch.h"
#include "executor/cpu/target_clones.h"

namespace sluice {
namespace {

// A cache line, which is copied by the widest registers of the machine.
struct Line {
  char bytes[64];
};

SLUICE_TARGET_CLONES void CopyLines(const char* from, const int64_t* at, int64_t count,
                                    int64_t bytes, char* to) {
  constexpr int64_t kAhead = 16 * sizeof(Line);  // of writes, which processors do not predict
  for (int64_t k = 0; k < count; ++k, to += bytes) {
    const char* row = from + at[k];
    for (int64_t b = 0; b < bytes; b += static_cast<int64_t>(sizeof(Line))) {
      Prefetch<true>(to, b + kAhead);
      std::memcpy(to + b, row + b, sizeof(Line));
    }
  }
}

}  // namespace

void CopyListedRows(const char* from, absl::Span<const int64_t> at, size_t bytes, char* to) {
  constexpr size_t kMostLines = 16;  // memcpy is as fast for longer rows
  const bool is_lines = bytes % sizeof(Line) == 0 && bytes <= kMostLines * sizeof(Line);
  if (is_lines) {
    return CopyLines(from, at.data(), static_cast<int64_t>(at.size()), static_cast<int64_t>(bytes),
                     to);
  }
  for (int64_t offset : at) {
    std::memcpy(to, from + offset, bytes);
    to += bytes;
  }
}

}  // namespace sluice
