// Copies between a matrix and parts of it that are blocks of columns, for concatenations and splits
// along an inner dimension.
//
// Each thread copies whole rows of all parts. Elementwise loops give a thread the same rows, so
// these are in its cache.
// Memory: the caller allocates the parts and the whole matrix, which must not overlap.
#ifndef SLUICE_OPS_LOOPS_ROW_PARTS_H_
#define SLUICE_OPS_LOOPS_ROW_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace sluice {

class KernelContext;

// A part of the matrix: one block of columns. Its rows are contiguous.
struct RowPart {
  char* data;
  size_t bytes;  // per row
};

// Whether copying row by row is faster than copying part by part. `row_bytes` is the size of a row
// of the whole matrix. Copying by rows is faster for many rows, with two exceptions. If a row of a
// part has few bytes, the calls of memcpy take most of the time. If it has many, several threads
// could share the copy of one part.
bool SuitRows(int64_t rows, int64_t parts, int64_t row_bytes);

// JoinRows copies the parts to `whole`, and SplitRows copies back. A row of `whole` consists of the
// rows of all parts, in order.
void JoinRows(KernelContext& context, int64_t rows, absl::Span<const RowPart> parts, char* whole);
void SplitRows(KernelContext& context, int64_t rows, const char* whole,
               absl::Span<const RowPart> parts);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ROW_PARTS_H_
