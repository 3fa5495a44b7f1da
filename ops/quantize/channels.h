// The slices (channels) of a tensor along one axis, each of which is quantized to its own range.
// For axis -1, the whole tensor is one slice.
//
// Errors: INVALID_ARGUMENT if the shape does not have the axis.
#ifndef SLUICE_OPS_QUANTIZE_CHANNELS_H_
#define SLUICE_OPS_QUANTIZE_CHANNELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/status.h"
#include "graph/tensor/shape.h"

namespace sluice {

// `channels` is the size of the axis. `before` and `after` are the products of the sizes of the
// dimensions before and after the axis. For axis -1, `after` is the size of the tensor, and the
// other two are 1.
struct ChannelSlices {
  int64_t before = 1, channels = 1, after = 1;

  static absl::StatusOr<ChannelSlices> Of(const TensorShape& shape, int64_t axis) {
    SLUICE_INVALID_IF(axis < -1, "Axis must be at least -1. Found ", axis);
    SLUICE_INVALID_IF(axis >= shape.rank(), "Axis must be less than the rank of the input, ",
                      shape.rank(), ", got ", axis);
    ChannelSlices s;
    if (axis == -1) {
      s.after = shape.num_elements();
      return s;
    }
    if (shape.num_elements() == 0) {
      // The product of the other sizes may overflow.
      return ChannelSlices{.before = 0, .channels = shape.dim(static_cast<int>(axis)), .after = 0};
    }
    for (int d = 0; d < shape.rank(); ++d) {
      (d < axis ? s.before : d == axis ? s.channels : s.after) *= shape.dim(d);
    }
    return s;
  }

  // Calls f(index of the first element, number of elements) for each contiguous part of channel k.
  template <typename F>
  void ForChannel(int64_t k, const F& f) const {
    for (int64_t i = 0; i < before; ++i) f((i * channels + k) * after, after);
  }
};

}  // namespace sluice

#endif  // SLUICE_OPS_QUANTIZE_CHANNELS_H_
