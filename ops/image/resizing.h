// Checks and conversions shared by the kernels that resize images.
//
// Thread safety: values without locks. Errors: INVALID_ARGUMENT.
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
