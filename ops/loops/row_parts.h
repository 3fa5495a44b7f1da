// Matrices that lie side by side as columns of a larger one: what concatenations join and splits
// take apart along an inner dimension.
//
// Each thread copies whole rows of all parts, the same rows as loops over elements give it, so that
// what it made or will read comes from its own cache. Memory: the caller's; nothing overlaps.
#ifndef SLUICE_OPS_LOOPS_ROW_PARTS_H_
#define SLUICE_OPS_LOOPS_ROW_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace sluice {

class KernelContext;

struct RowPart {
  char* data;    // its first row; the others follow
  size_t bytes;  // of a row
};

// Whether copies by rows of `row_bytes` in so many parts are the better ones: rows are many, and
// parts of them neither so short that a call for each is what they cost, nor so long that threads
// could share one.
bool SuitRows(int64_t rows, int64_t parts, int64_t row_bytes);

// `whole` has `rows` rows, each as long as those of all parts together.
void JoinRows(KernelContext& context, int64_t rows, absl::Span<const RowPart> parts, char* whole);
void SplitRows(KernelContext& context, int64_t rows, const char* whole,
               absl::Span<const RowPart> parts);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ROW_PARTS_H_
