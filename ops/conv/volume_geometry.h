// The sizes of a window that slides over volumes: positions, paddings, and the checks that tensors
// fit.
//
// Volumes are [batch, depth, height, width, channels] (NDHWC) or [batch, channels, depth, height,
// width] (NCDHW); loops always see the first order. Images are volumes of depth 1.
//
// Errors: INVALID_ARGUMENT; UNIMPLEMENTED for windows over batch or channels.
#ifndef SLUICE_OPS_CONV_VOLUME_GEOMETRY_H_
#define SLUICE_OPS_CONV_VOLUME_GEOMETRY_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "ops/conv/window.h"

namespace sluice {

using Sizes3 = std::array<int64_t, 3>;  // depth, height, width

inline int64_t Product(const Sizes3& s) { return s[0] * s[1] * s[2]; }

// Where a layout has its dimensions.
struct VolumeLayout {
  int space, channel;  // the first dimension of space; the channels
  static VolumeLayout Of(std::string_view data_format) {
    return data_format == "NCDHW" ? VolumeLayout{2, 1} : VolumeLayout{1, 4};
  }
};

struct VolumeGeometry {
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  Sizes3 in = {1, 1, 1}, out = {1, 1, 1};
  Sizes3 window = {1, 1, 1}, stride = {1, 1, 1}, dilation = {1, 1, 1}, pad = {0, 0, 0};

  int64_t positions() const { return batch * Product(out); }
  int64_t patch() const { return Product(window) * in_channels; }
  int64_t in_volume() const { return Product(in) * in_channels; }
  int64_t out_volume() const { return Product(out) * out_channels; }

  // The part of a window of a pool that lies in the volume: [first, last) along dimension d.
  struct Range {
    int64_t first, last;
    int64_t size() const { return last - first; }
  };
  Range Along(int d, int64_t position) const {
    const int64_t begin = position * stride[d] - pad[d];
    return {std::max<int64_t>(begin, 0), std::min(begin + window[d], in[d])};
  }
};

// What a node's attributes say of its window, one entry a dimension of space.
struct VolumeSliding {
  std::array<Sliding, 3> along;
};

// From attributes in the order of the layout: five strides, five dilations. `op` begins messages.
absl::StatusOr<VolumeSliding> VolumeSlidingOf(std::string_view op, std::string_view data_format,
                                              const std::vector<int64_t>& strides,
                                              const std::vector<int64_t>& dilations,
                                              std::string_view padding);

// A convolution of `input` with `filter` [depth, height, width, channels in, channels out].
absl::StatusOr<VolumeGeometry> ConvolutionOf(std::string_view op, const VolumeLayout& layout,
                                             const VolumeSliding& sliding, const TensorShape& input,
                                             const TensorShape& filter);
// The same, and that `grad` has the output's shape.
absl::StatusOr<VolumeGeometry> ConvolutionOf(std::string_view op, const VolumeLayout& layout,
                                             const VolumeSliding& sliding, const TensorShape& input,
                                             const TensorShape& filter, const TensorShape& grad);

// A pool over `input` with windows of `ksize`, five sizes.
absl::StatusOr<VolumeGeometry> PoolOf(std::string_view op, const VolumeLayout& layout,
                                      const VolumeSliding& sliding,
                                      const std::vector<int64_t>& ksize, const TensorShape& input);

// The output's shape, as far as it is known, in the layout.
absl::StatusOr<PartialShape> ConvolvedVolume(const VolumeLayout& layout,
                                             const VolumeSliding& sliding,
                                             const PartialShape& input, const PartialShape& filter);

// The output's shape in the layout. INVALID_ARGUMENT where it has more elements than can be
// counted.
absl::StatusOr<TensorShape> OutputShape(const VolumeLayout& layout, const VolumeGeometry& g);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_VOLUME_GEOMETRY_H_
