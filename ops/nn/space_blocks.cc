#include "ops/nn/space_blocks.h"

#include "graph/status.h"
#include "graph/tensor/sizes.h"

namespace sluice {

absl::StatusOr<SpaceBlocks> SpaceBlocks::Make(absl::Span<const int64_t> sizes,
                                              absl::Span<const int64_t> margins, const char* name) {
  SpaceBlocks b{.sizes = {sizes.begin(), sizes.end()}, .before = {}, .after = {}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    SLUICE_INVALID_IF(sizes[i] < 1, "All values in block_shape must be positive, got value, ",
                      sizes[i], " at index ", i, ".");
  }
  for (size_t i = 0; i < margins.size(); i += 2) {
    SLUICE_INVALID_IF(margins[i] < 0 || margins[i + 1] < 0,
                      name == std::string_view("crops") ? "Crops" : "Paddings",
                      " must be non-negative, got ", margins[i], " and ", margins[i + 1]);
    b.before.push_back(margins[i]);
    b.after.push_back(margins[i + 1]);
  }
  return b;
}

int64_t SpaceBlocks::product() const {
  int64_t p = 1;
  for (int64_t size : sizes) p = SaturatedProduct(p, size);
  return p;
}

absl::StatusOr<PartialShape> SpaceBlocks::ToBatch(const PartialShape& in) const {
  PartialShape out = in;
  if (in.dim(0) >= 0) out.set_dim(0, SaturatedProduct(in.dim(0), product()));
  for (int i = 0; i < count(); ++i) {
    const int d = i + 1;
    out.set_dim(d, -1);
    if (before.empty() || in.dim(d) < 0) continue;
    const int64_t padded = SaturatedSum(in.dim(d), SaturatedSum(before[i], after[i]));
    SLUICE_INVALID_IF(padded % sizes[i] != 0, "padded_shape[", i, "]=", padded,
                      " is not divisible by block_shape[", i, "]=", sizes[i]);
    out.set_dim(d, padded / sizes[i]);
  }
  return out;
}

absl::StatusOr<PartialShape> SpaceBlocks::FromBatch(const PartialShape& in) const {
  PartialShape out = in;
  if (in.dim(0) >= 0) {
    SLUICE_INVALID_IF(in.dim(0) % product() != 0, "Input batch dimension (", in.dim(0),
                      ") is not divisible by product of block sizes (", product(),
                      "). Dimension size must be evenly divisible by it");
    out.set_dim(0, in.dim(0) / product());
  }
  for (int i = 0; i < count(); ++i) {
    const int d = i + 1;
    out.set_dim(d, -1);
    if (before.empty() || in.dim(d) < 0) continue;
    const int64_t size = SaturatedProduct(in.dim(d), sizes[i]) - SaturatedSum(before[i], after[i]);
    SLUICE_INVALID_IF(size < 0, "cropped_shape[", i, "]=", size, " must be non-negative");
    out.set_dim(d, size);
  }
  return out;
}

}  // namespace sluice
