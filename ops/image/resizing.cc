#include "ops/image/resizing.h"

namespace sluice {

absl::Status ResizeSettings::Check() const {
  if (!align_corners || !half_pixel) return absl::OkStatus();
  return InvalidArgument("If half_pixel_centers is True, align_corners must be False.");
}

absl::Status CheckImages(const Tensor& t) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(t, 4, "input must be 4-dimensional, got shape "));
  SLUICE_INVALID_IF(t.dim(3) <= 0, "image must have at least one channel");
  SLUICE_INVALID_IF(t.dim(1) <= 0 || t.dim(2) <= 0,
                    "input image must be of non-zero size, got shape ", t.shape().ToString());
  return absl::OkStatus();
}

absl::StatusOr<TensorShape> ResizedShape(const Tensor& images, const Tensor& size) {
  SLUICE_INVALID_IF(size.rank() != 1 || size.num_elements() != 2,
                    "shape_t must have two elements, got shape ", size.shape().ToString());
  const int32_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
  SLUICE_INVALID_IF(height <= 0 || width <= 0, "output dimensions must be positive, got ", height,
                    " and ", width);
  return TensorShape::Make({images.dim(0), height, width, images.dim(3)});
}

absl::StatusOr<Tensor*> AllocateResized(KernelContext& c, const ResizeSettings& settings) {
  SLUICE_RETURN_IF_ERROR(settings.Check());
  SLUICE_RETURN_IF_ERROR(CheckImages(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ResizedShape(c.input(0), c.input(1)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  return out;
}

absl::Status CheckResizedGrads(const Tensor& grads, const Tensor& original) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(grads, 4, "input_grad must be 4-dimensional, got shape "));
  SLUICE_RETURN_IF_ERROR(CheckImages(grads));
  SLUICE_RETURN_IF_ERROR(CheckImages(original));
  if (grads.dim(0) == original.dim(0) && grads.dim(3) == original.dim(3)) return absl::OkStatus();
  return InvalidArgument("grads and original_image must have the same batch and channels, got ",
                         grads.shape().ToString(), " and ", original.shape().ToString());
}

}  // namespace sluice
