// A TensorSlice is a box of elements of a tensor: a part of a partitioned variable that a
// checkpoint stores, or the part that a restore requests.
//
// Thread safety: values without locks.
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
  static constexpr int64_t kFull = -1;  // stands for the length of the whole dimension
  struct Extent {
    int64_t start = 0;
    int64_t length = kFull;
    bool operator==(const Extent&) const = default;
  };

  TensorSlice() = default;  // the slice of a scalar
  explicit TensorSlice(std::vector<Extent> extents) : extents_(std::move(extents)) {}
  static TensorSlice Full(int rank) { return TensorSlice(std::vector<Extent>(rank)); }
  // Parses "0,2:-": start and length per dimension, or `-` for the whole dimension.
  // INVALID_ARGUMENT with TensorFlow's texts.
  static absl::StatusOr<TensorSlice> Parse(std::string_view text);
  // INVALID_ARGUMENT if numbers are negative or there are too many dimensions.
  static absl::StatusOr<TensorSlice> FromProto(const pb::TensorSliceProto& proto);
  void ToProto(pb::TensorSliceProto* proto) const;

  int rank() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int d) const { return extents_[d]; }
  bool IsFull() const;
  bool operator==(const TensorSlice&) const = default;
  std::string ToString() const;

  // The shape of this slice of a tensor of `shape`. INTERNAL "Extent in dimension 0 out of bounds:
  // …", as in TensorFlow, if the slice exceeds the shape. INTERNAL, too, if the ranks differ.
  absl::StatusOr<TensorShape> ShapeIn(const TensorShape& shape) const;
  // The intersection with a slice of the same rank, or nothing if it is empty. An extent of the
  // result has length kFull only if both extents have it.
  std::optional<TensorSlice> Intersect(const TensorSlice& other) const;

 private:
  std::vector<Extent> extents_;
};

// A shape and a slice of it, as the ops SaveV2 and RestoreV2 take them: "4 2 0,2:-". "" stands for
// the whole tensor.
struct ShapeAndSlice {
  bool is_whole = true;
  TensorShape full_shape;
  TensorSlice slice;
  TensorShape slice_shape;
};
absl::StatusOr<ShapeAndSlice> ParseShapeAndSlice(std::string_view text);

// Returns the key under which a checkpoint's table (table.h) stores a slice of the tensor `name`.
// The bytewise order of keys is that of the names and then that of the positions.
std::string TensorSliceKey(std::string_view name, const TensorSlice& slice);

// `from` and `to` hold two slices of a tensor of `full_shape`. Copies the elements that both slices
// contain from `from` to `to`, and returns the number of these elements.
int64_t CopySlice(const TensorShape& full_shape, const TensorSlice& from_slice, const Tensor& from,
                  const TensorSlice& to_slice, Tensor* to);

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_SLICE_H_
