// Checks and conversions shared by the kernels that resize images.
//
// Thread safety: const methods may be called from any thread. Errors: INVALID_ARGUMENT if inputs or
// attributes do not fit.
#ifndef SLUICE_OPS_IMAGE_RESIZING_H_
#define SLUICE_OPS_IMAGE_RESIZING_H_

#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/image/scaling.h"
#include "ops/loops/cast_loops.h"

namespace sluice {

struct ResizeSettings {
  explicit ResizeSettings(const KernelInit& init)
      : align_corners(init.attr<bool>("align_corners")),
        half_pixel(init.AttrOr<bool>("half_pixel_centers", false)) {}
  bool align_corners, half_pixel;

  Scaling ScalingOf(const Tensor& image, const Tensor& result, int dim) const {
    return Scaling(image.dim(dim), result.dim(dim), align_corners, half_pixel);
  }
  // INVALID_ARGUMENT if both settings are true.
  absl::Status Check() const;
};

// Requires four dimensions, at least one pixel and one channel.
absl::Status CheckImages(const Tensor& t);

// The shape of `images` after a resize to the height and width in `size`.
absl::StatusOr<TensorShape> ResizedShape(const Tensor& images, const Tensor& size);

// Checks input 0 (images) and input 1 (sizes), and allocates output 0, the resized images. If
// output 0 has no elements, the caller must return without further work, because the images may
// then be so high or wide that the caller's arithmetic would overflow.
absl::StatusOr<Tensor*> AllocateResized(KernelContext& c, const ResizeSettings& settings);

// INVALID_ARGUMENT unless `grads`, the gradient with respect to the resized images, and `original`,
// the images before the resize, pass CheckImages and have equal numbers of images and channels.
absl::Status CheckResizedGrads(const Tensor& grads, const Tensor& original);

template <absl::Status (*kFunction)(KernelContext&, const ResizeSettings&)>
class ResizeKernel : public Kernel {
 public:
  explicit ResizeKernel(KernelInit& init) : settings_(init) {}
  absl::Status Compute(KernelContext& c) override { return kFunction(c, settings_); }

 private:
  const ResizeSettings settings_;
};

// `t` converted to type T.
template <typename T>
absl::StatusOr<Tensor> ElementsAs(KernelContext& c, const Tensor& t) {
  if (t.dtype() == kDataTypeOf<T>) return t;
  SLUICE_ASSIGN_OR_RETURN(Tensor converted, c.AllocateTemp(kDataTypeOf<T>, t.shape()));
  FindCastLoop(t.dtype(), kDataTypeOf<T>, false)(t.raw(), converted.raw(), t.num_elements());
  return converted;
}

// Calls `sum` with a zeroed buffer of doubles, one per element of `out`, to which `sum` adds. Then
// converts the sums to `out`.
template <typename F>
absl::Status SumInDouble(KernelContext& c, Tensor* out, const F& sum) {
  SLUICE_ASSIGN_OR_RETURN(Tensor sums, c.AllocateTemp(DT_DOUBLE, out->shape()));
  std::fill_n(sums.data<double>(), sums.num_elements(), 0.0);
  sum(sums.data<double>());
  FindCastLoop(DT_DOUBLE, out->dtype(), false)(sums.raw(), out->raw(), out->num_elements());
  return absl::OkStatus();
}

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_RESIZING_H_
