// A tensor as slices along one axis, each of which is quantised by a range of its own; axis -1
// makes one slice of it all.
#ifndef SLUICE_OPS_QUANTIZE_CHANNELS_H_
#define SLUICE_OPS_QUANTIZE_CHANNELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/status.h"
#include "graph/tensor/shape.h"

namespace sluice {

struct ChannelSlices {
  int64_t before = 1, channels = 1, after = 1;

  // INVALID_ARGUMENT on axes that `shape` does not have.
  static absl::StatusOr<ChannelSlices> Of(const TensorShape& shape, int64_t axis) {
    if (axis < -1) return InvalidArgument("Axis must be at least -1. Found ", axis);
    if (axis >= shape.rank()) {
      return InvalidArgument("Axis must be less than the rank of the input, ", shape.rank(),
                             ", got ", axis);
    }
    ChannelSlices s;
    if (axis == -1) {
      s.after = shape.num_elements();
      return s;
    }
    if (shape.num_elements() == 0) {
      // No stretches, whatever the other sizes are.
      return ChannelSlices{.before = 0, .channels = shape.dim(static_cast<int>(axis)), .after = 0};
    }
    for (int d = 0; d < shape.rank(); ++d) {
      (d < axis ? s.before : d == axis ? s.channels : s.after) *= shape.dim(d);
    }
    return s;
  }

  // f(first element, elements) for the stretches of channel k.
  template <typename F>
  void ForChannel(int64_t k, const F& f) const {
    for (int64_t i = 0; i < before; ++i) f((i * channels + k) * after, after);
  }
};

}  // namespace sluice

#endif  // SLUICE_OPS_QUANTIZE_CHANNELS_H_
