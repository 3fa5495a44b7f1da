// What the kernels share that change the size of images: where positions of the result lie in the
// image, and the checks of their inputs.
//
// Thread safety: values without locks. Errors: INVALID_ARGUMENT.
#ifndef SLUICE_OPS_IMAGE_RESIZING_H_
#define SLUICE_OPS_IMAGE_RESIZING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/loops/cast_loops.h"

namespace sluice {

// How positions of one dimension of the result lie in the image.
struct Scaling {
  int64_t in, out;
  float scale;
  bool half_pixel;

  Scaling(int64_t from, int64_t to, bool align_corners, bool half_pixel_centers)
      : in(from),
        out(to),
        scale(align_corners && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                      : static_cast<float>(from) / static_cast<float>(to)),
        half_pixel(half_pixel_centers) {}

  float At(int64_t x) const {
    return half_pixel ? (static_cast<float>(x) + 0.5f) * scale - 0.5f
                      : static_cast<float>(x) * scale;
  }
  // The pixels at both sides, and how far behind the first one.
  struct Between {
    int64_t lower, upper;
    float lerp;
  };
  Between Neighbours(int64_t x) const {
    const float at = At(x), floor = std::floor(at);
    // So many pixels that the scale is rounded lead beyond the last one.
    return {std::clamp(static_cast<int64_t>(floor), int64_t{0}, in - 1),
            std::min(static_cast<int64_t>(std::ceil(at)), in - 1), at - floor};
  }
  int64_t Nearest(int64_t x, bool align_corners) const {
    const float at =
        half_pixel ? (static_cast<float>(x) + 0.5f) * scale : static_cast<float>(x) * scale;
    const float whole = align_corners ? std::roundf(at) : std::floor(at);
    return std::clamp(static_cast<int64_t>(whole), int64_t{0}, in - 1);
  }
};

struct ResizeSettings {
  explicit ResizeSettings(const KernelInit& init)
      : align_corners(init.attr<bool>("align_corners")),
        half_pixel(init.AttrOr<bool>("half_pixel_centers", false)) {}
  bool align_corners, half_pixel;

  // Both do not go together.
  absl::Status Check() const;
};

// Four dimensions, at least one pixel and one channel.
absl::Status CheckImages(const Tensor& t);

// The result's shape from the images' and the two sizes in `size`.
absl::StatusOr<TensorShape> ResizedShape(const Tensor& images, const Tensor& size);

// That `grads` belongs to images like `original`.
absl::Status CheckResizedGrads(const Tensor& grads, const Tensor& original);

// `t` in type T; itself where it is so already.
template <typename T>
absl::StatusOr<Tensor> ElementsAs(KernelContext& c, const Tensor& t) {
  if (t.dtype() == kDataTypeOf<T>) return t;
  SLUICE_ASSIGN_OR_RETURN(Tensor converted, c.AllocateTemp(kDataTypeOf<T>, t.shape()));
  FindCastLoop(t.dtype(), kDataTypeOf<T>, false)(t.raw(), converted.raw(), t.num_elements());
  return converted;
}

// A gradient's sums, in double until they are done.
class DoubleSums {
 public:
  absl::Status Open(KernelContext& c, Tensor* out) {
    out_ = out;
    SLUICE_ASSIGN_OR_RETURN(sums_, c.AllocateTemp(DT_DOUBLE, out->shape()));
    std::fill_n(sums_.data<double>(), sums_.num_elements(), 0.0);
    return absl::OkStatus();
  }
  double* data() { return sums_.data<double>(); }
  void Close() {
    FindCastLoop(DT_DOUBLE, out_->dtype(), false)(sums_.raw(), out_->raw(), out_->num_elements());
  }

 private:
  Tensor* out_ = nullptr;
  Tensor sums_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_RESIZING_H_
