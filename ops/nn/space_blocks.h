// Computes sizes and shapes for SpaceToBatch and BatchToSpace, which move blocks of pixels between
// the spatial dimensions of a tensor and its batch.
//
// Thread safety: the struct has no lock. Concurrent reads are safe.
// Errors: INVALID_ARGUMENT if sizes do not fit.
#ifndef SLUICE_OPS_NN_SPACE_BLOCKS_H_
#define SLUICE_OPS_NN_SPACE_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/shape.h"

namespace sluice {

struct SpaceBlocks {
  std::vector<int64_t> sizes;          // sizes of a block along the dimensions after the batch
  std::vector<int64_t> before, after;  // paddings or crops at both ends; empty if unknown

  // `margins` are the paddings or crops, a pair for each dimension, or empty if they are unknown.
  // Error messages call them `name`.
  static absl::StatusOr<SpaceBlocks> Make(absl::Span<const int64_t> sizes,
                                          absl::Span<const int64_t> margins, const char* name);

  int count() const { return static_cast<int>(sizes.size()); }
  int64_t product() const;

  // ToBatch returns the shape after the blocks of a tensor of shape `in` have moved to the batch,
  // and FromBatch the shape after they have moved back. Sizes may be unknown (-1).
  absl::StatusOr<PartialShape> ToBatch(const PartialShape& in) const;
  absl::StatusOr<PartialShape> FromBatch(const PartialShape& in) const;
};

}  // namespace sluice

#endif  // SLUICE_OPS_NN_SPACE_BLOCKS_H_
