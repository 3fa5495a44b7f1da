#include "ops/loops/row_parts.h"

#include <cstring>

#include "executor/kernel/context.h"

namespace sluice {
namespace {

// Calls copy(offset in the whole, address in the part, bytes) for each row of each part.
template <typename Copy>
void ForRows(KernelContext& context, int64_t rows, absl::Span<const RowPart> parts, Copy copy) {
  constexpr double kCallNs = 5, kByteNs = 0.1;
  size_t row_bytes = 0;
  for (const RowPart& part : parts) row_bytes += part.bytes;
  const double cost =
      kCallNs * static_cast<double>(parts.size()) + kByteNs * static_cast<double>(row_bytes);
  context.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t at = row * static_cast<int64_t>(row_bytes);
      for (const RowPart& part : parts) {
        copy(at, part.data + row * static_cast<int64_t>(part.bytes), part.bytes);
        at += static_cast<int64_t>(part.bytes);
      }
    }
  });
}

}  // namespace

bool SuitRows(int64_t rows, int64_t parts, int64_t row_bytes) {
  constexpr int64_t kLeastRows = 16, kShort = 32, kLong = 16384;
  return rows >= kLeastRows && row_bytes >= kShort * parts && row_bytes <= kLong * parts;
}

void JoinRows(KernelContext& context, int64_t rows, absl::Span<const RowPart> parts, char* whole) {
  ForRows(context, rows, parts, [whole](int64_t at, const char* part, size_t bytes) {
    std::memcpy(whole + at, part, bytes);
  });
}

void SplitRows(KernelContext& context, int64_t rows, const char* whole,
               absl::Span<const RowPart> parts) {
  ForRows(context, rows, parts,
          [whole](int64_t at, char* part, size_t bytes) { std::memcpy(part, whole + at, bytes); });
}

}  // namespace sluice
