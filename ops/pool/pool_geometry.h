// The sizes of one pool over images, and the checks that its tensors fit.
#ifndef SLUICE_OPS_POOL_POOL_GEOMETRY_H_
#define SLUICE_OPS_POOL_POOL_GEOMETRY_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "ops/conv/window.h"

namespace sluice {

struct PoolGeometry {
  int64_t batch = 0, channels = 0;
  int64_t in_height = 0, in_width = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t window_height = 1, window_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t channel_window = 1;  // > 1: the pool is over channels and not over space

  int64_t in_image() const { return in_height * in_width * channels; }
  int64_t out_image() const { return out_height * out_width * out_channels(); }
  int64_t out_channels() const { return channels / channel_window; }
  // Elements under the windows of a row of outputs. A window may be larger than any tensor.
  double line_elements() const {
    return static_cast<double>(window_height) * static_cast<double>(window_width) *
           static_cast<double>(channels) * static_cast<double>(out_width);
  }

  // The part of a window that lies in the image: [first, last) of rows and columns.
  struct Range {
    int64_t first, last;
    int64_t size() const { return last - first; }
  };
  Range Rows(int64_t out_y) const {
    const int64_t top = out_y * stride_height - pad_top;
    return {std::max<int64_t>(top, 0), std::min(top + window_height, in_height)};
  }
  Range Columns(int64_t out_x) const {
    const int64_t left = out_x * stride_width - pad_left;
    return {std::max<int64_t>(left, 0), std::min(left + window_width, in_width)};
  }
};

// The attributes of a pool's node; ksize and strides may be tensors instead.
class PoolAttrs {
 public:
  explicit PoolAttrs(const KernelInit& init);

  // For images of `shape`. Reads ksize and strides from inputs `first` and the next where they are
  // not attributes.
  absl::StatusOr<PoolGeometry> Geometry(KernelContext& context, const TensorShape& shape,
                                        int first) const;
  // The output's shape in the layout of the node. INVALID_ARGUMENT where paddings make it too
  // large.
  absl::StatusOr<TensorShape> OutputShape(const PoolGeometry& g) const;
  const ImageLayout& layout() const { return layout_; }
  const std::string& op() const { return op_; }

 private:
  std::string op_;
  std::string data_format_;
  std::string padding_;
  ImageLayout layout_;
  std::vector<int64_t> ksize_, strides_, explicit_paddings_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_POOL_POOL_GEOMETRY_H_
