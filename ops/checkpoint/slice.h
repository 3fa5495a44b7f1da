// Boxes in tensors: what a checkpoint keeps of a partitioned variable, and what a restore asks for.
//
// Thread safety: values.
#ifndef SLUICE_OPS_CHECKPOINT_SLICE_H_
#define SLUICE_OPS_CHECKPOINT_SLICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/proto/tensor_slice.pb.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class TensorSlice {
 public:
  static constexpr int64_t kFull = -1;  // a length: the whole dimension
  struct Extent {
    int64_t start = 0;
    int64_t length = kFull;
    bool operator==(const Extent&) const = default;
  };

  TensorSlice() = default;  // of a scalar
  explicit TensorSlice(std::vector<Extent> extents) : extents_(std::move(extents)) {}
  static TensorSlice Full(int rank) { return TensorSlice(std::vector<Extent>(rank)); }
  // "0,2:-": start and length a dimension, `-` for all of it. INVALID_ARGUMENT with TensorFlow's
  // texts.
  static absl::StatusOr<TensorSlice> Parse(std::string_view text);
  // INVALID_ARGUMENT where numbers are negative.
  static absl::StatusOr<TensorSlice> FromProto(const pb::TensorSliceProto& proto);
  void ToProto(pb::TensorSliceProto* proto) const;

  int rank() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int d) const { return extents_[d]; }
  bool IsFull() const;
  bool operator==(const TensorSlice&) const = default;
  std::string ToString() const;

  // Shape of the box in a tensor of `shape`. INTERNAL "Extent in dimension 0 out of bounds: …"
  // where it does not lie within, as TensorFlow says it.
  absl::StatusOr<TensorShape> ShapeIn(const TensorShape& shape) const;
  // What the two have in common; nothing where one dimension has nothing. Full extents stay full
  // only where both are. The ranks are the same.
  std::optional<TensorSlice> Intersect(const TensorSlice& other) const;

 private:
  std::vector<Extent> extents_;
};

// "4 2 0,2:-": a shape and a box in it, as SaveV2 and RestoreV2 take it; "" asks for all.
struct ShapeAndSlice {
  bool is_whole = true;
  TensorShape full_shape;
  TensorSlice slice;
  TensorShape slice_shape;
};
absl::StatusOr<ShapeAndSlice> ParseShapeAndSlice(std::string_view text);

// The key of a part in a table: sorts by name, then by place.
std::string TensorSliceKey(std::string_view name, const TensorSlice& slice);

// Copies the elements that `from` (a box `from_slice` of a tensor of `full_shape`) and `to` have in
// common. Returns how many there were.
int64_t CopySlice(const TensorShape& full_shape, const TensorSlice& from_slice, const Tensor& from,
                  const TensorSlice& to_slice, Tensor* to);

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_SLICE_H_
