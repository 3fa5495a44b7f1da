// Kernels that crop boxes of images and resize them, and their gradients.
#include <cmath>
#include <vector>

#include "ops/image/resizing.h"

namespace sluice {
namespace {

// Checks the boxes, and that `owners` has the number of an image for each box.
absl::Status CheckBoxes(const Tensor& boxes, const Tensor& owners, int64_t batch) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(boxes, 2, "boxes must be 2-D, got shape "));
  SLUICE_INVALID_IF(boxes.dim(1) != 4, "boxes must have 4 columns, got ", boxes.dim(1));
  SLUICE_INVALID_IF(owners.rank() != 1 || owners.dim(0) != boxes.dim(0),
                    "box_index has incompatible shape: expected one element per box, got shape ",
                    owners.shape().ToString(), " for ", boxes.dim(0), " boxes");
  for (float coordinate : boxes.flat<float>()) {
    SLUICE_INVALID_IF(!std::isfinite(coordinate),
                      "Boxes contains at least one element that is not finite");
  }
  for (int32_t owner : owners.flat<int32_t>()) {
    if (owner < 0 || owner >= batch) {
      return absl::OutOfRangeError(
          StrCat("box_index has values outside [0, batch_size): ", owner, " of ", batch));
    }
  }
  return absl::OkStatus();
}

// The positions of a crop along one dimension of its image.
struct Span {
  float first, last;  // as fractions of the image's size
  int64_t image, crop;

  float scale() const {
    return crop > 1 ? (last - first) * static_cast<float>(image - 1) / static_cast<float>(crop - 1)
                    : 0;
  }
  float At(int64_t i) const {
    return crop > 1 ? first * static_cast<float>(image - 1) + static_cast<float>(i) * scale()
                    : 0.5f * (first + last) * static_cast<float>(image - 1);
  }
  // Returns whether the position is inside the image. Compares the integer too, because the float
  // `image - 1` may be rounded up.
  bool Has(float at) const {
    return at >= 0 && at <= static_cast<float>(image - 1) &&
           static_cast<int64_t>(std::ceil(at)) < image;
  }
};

// The four pixels of an image around a position, from which a pixel of a crop is interpolated.
struct Point {
  int64_t top, bottom, left, right;  // first elements of the lines, and of the pixels in a line
  float y_lerp, x_lerp;
  int64_t nearest;
};

struct Crops {
  const Tensor& boxes;
  const Tensor& owners;
  TensorShape images;
  int64_t height, width;

  int64_t channels() const { return images.dim(3); }
  Span Rows(int64_t b) const {
    const float* box = boxes.data<float>() + 4 * b;
    return {box[0], box[2], images.dim(1), height};
  }
  Span Columns(int64_t b) const {
    const float* box = boxes.data<float>() + 4 * b;
    return {box[1], box[3], images.dim(2), width};
  }

  // Calls f(box, y, x, index of the crop's pixel, point) for all pixels of crops [first, last). The
  // point is null if the pixel is outside the image.
  template <typename F>
  void ForPixels(int64_t first, int64_t last, const F& f) const {
    if (first == last || channels() == 0) return;  // avoids loops over huge sizes
    const int64_t line = images.dim(2) * channels();
    for (int64_t b = first; b < last; ++b) {
      const Span rows = Rows(b), columns = Columns(b);
      const int64_t image = owners.data<int32_t>()[b] * images.dim(1) * line;
      for (int64_t y = 0; y < height; ++y) {
        const float at_y = rows.At(y);
        for (int64_t x = 0; x < width; ++x) {
          const float at_x = columns.At(x);
          const int64_t pixel = (b * height + y) * width + x;
          if (!rows.Has(at_y) || !columns.Has(at_x)) {
            f(b, y, x, pixel, static_cast<const Point*>(nullptr));
            continue;
          }
          auto row = [&](float v) { return image + static_cast<int64_t>(v) * line; };
          auto column = [&](float v) { return static_cast<int64_t>(v) * channels(); };
          const Point p{row(std::floor(at_y)),
                        row(std::ceil(at_y)),
                        column(std::floor(at_x)),
                        column(std::ceil(at_x)),
                        at_y - std::floor(at_y),
                        at_x - std::floor(at_x),
                        row(std::roundf(at_y)) + column(std::roundf(at_x))};
          f(b, y, x, pixel, &p);
        }
      }
    }
  }
};

absl::Status CheckCropped(const Tensor& images) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(images, 4, "input image must be 4-D, got shape "));
  SLUICE_INVALID_IF(images.dim(1) <= 0 || images.dim(2) <= 0,
                    "image dimensions must be positive, got shape ", images.shape().ToString());
  return absl::OkStatus();
}

class CropAndResizeKernel : public Kernel {
 public:
  explicit CropAndResizeKernel(KernelInit& init)
      : nearest_(init.attr<std::string>("method") == "nearest"),
        outside_(init.attr<float>("extrapolation_value")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &images = c.input(0), &size = c.input(3);
    SLUICE_RETURN_IF_ERROR(CheckCropped(images));
    SLUICE_RETURN_IF_ERROR(CheckBoxes(c.input(1), c.input(2), images.dim(0)));
    SLUICE_INVALID_IF(size.rank() != 1 || size.num_elements() != 2,
                      "crop_size must be 1-D with two elements, got shape ",
                      size.shape().ToString());
    const int32_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
    SLUICE_INVALID_IF(height <= 0 || width <= 0, "crop dimensions must be positive");
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make({c.input(1).dim(0), height, width, images.dim(3)}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();  // avoids loops over huge sizes
    SLUICE_ASSIGN_OR_RETURN(const Tensor wide, ElementsAs<float>(c, images));
    const Crops crops{c.input(1), c.input(2), images.shape(), height, width};
    const int64_t n = images.dim(3);
    const float* from = wide.data<float>();
    c.ParallelFor(shape.dim(0), 5.0 * static_cast<double>(n * height * width),
                  [&](int64_t begin, int64_t end) {
                    crops.ForPixels(begin, end,
                                    [&](int64_t, int64_t, int64_t, int64_t pixel, const Point* p) {
                                      float* to = out->data<float>() + pixel * n;
                                      if (p == nullptr) {
                                        std::fill_n(to, n, outside_);
                                      } else if (nearest_) {
                                        std::copy_n(from + p->nearest, n, to);
                                      } else {
                                        for (int64_t k = 0; k < n; ++k) to[k] = Blend(from + k, *p);
                                      }
                                    });
                  });
    return absl::OkStatus();
  }

 private:
  static float Blend(const float* image, const Point& p) {
    const float top_left = image[p.top + p.left], bottom_left = image[p.bottom + p.left];
    const float top = top_left + (image[p.top + p.right] - top_left) * p.x_lerp;
    const float bottom = bottom_left + (image[p.bottom + p.right] - bottom_left) * p.x_lerp;
    return top + (bottom - top) * p.y_lerp;
  }

  const bool nearest_;
  const float outside_;
};
KERNEL(CropAndResize, CropAndResizeKernel, {"T", RealTypes()});

absl::Status CheckGrads(const Tensor& grads, int64_t boxes, int64_t channels) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(grads, 4, "grads image must be 4-D, got shape "));
  SLUICE_INVALID_IF(grads.dim(1) <= 0 || grads.dim(2) <= 0, "grads dimensions must be positive");
  SLUICE_INVALID_IF(grads.dim(0) != boxes || grads.dim(3) != channels,
                    "boxes and grads have incompatible shape, or depths of image and grads "
                    "are not the same: ",
                    grads.shape().ToString(), ", boxes: ", boxes, ", channels: ", channels);
  return absl::OkStatus();
}

class GradImageKernel : public Kernel {
 public:
  explicit GradImageKernel(KernelInit& init)
      : nearest_(init.attr<std::string>("method") == "nearest") {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &grads = c.input(0), &size = c.input(3);
    SLUICE_INVALID_IF(size.rank() != 1 || size.num_elements() != 4,
                      "image_size must have 4 elements, got shape ", size.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make(std::vector<int64_t>(size.flat<int32_t>().begin(),
                                                                   size.flat<int32_t>().end())));
    SLUICE_INVALID_IF(shape.dim(1) <= 0 || shape.dim(2) <= 0, "image dimensions must be positive");
    SLUICE_RETURN_IF_ERROR(CheckBoxes(c.input(1), c.input(2), shape.dim(0)));
    SLUICE_RETURN_IF_ERROR(CheckGrads(grads, c.input(1).dim(0), shape.dim(3)));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    const Crops crops{c.input(1), c.input(2), shape, grads.dim(1), grads.dim(2)};
    const int64_t n = shape.dim(3);
    return SumInDouble(c, out, [&](double* to) {
      crops.ForPixels(0, grads.dim(0),
                      [&](int64_t, int64_t, int64_t, int64_t pixel, const Point* p) {
                        if (p == nullptr) return;
                        const float* from = grads.data<float>() + pixel * n;
                        for (int64_t k = 0; k < n; ++k) Spread(from[k], *p, to + k);
                      });
    });
  }

 private:
  void Spread(double grad, const Point& p, double* image) const {
    if (nearest_) {
      image[p.nearest] += grad;
      return;
    }
    const double above = (1 - p.y_lerp) * grad, below = p.y_lerp * grad;
    image[p.top + p.left] += (1 - p.x_lerp) * above;
    image[p.top + p.right] += p.x_lerp * above;
    image[p.bottom + p.left] += (1 - p.x_lerp) * below;
    image[p.bottom + p.right] += p.x_lerp * below;
  }

  const bool nearest_;
};
KERNEL(CropAndResizeGradImage, GradImageKernel, {"T", {DT_HALF, DT_FLOAT, DT_DOUBLE}});

absl::Status GradBoxes(KernelContext& c) {
  const Tensor &grads = c.input(0), &images = c.input(1), &boxes = c.input(2);
  SLUICE_RETURN_IF_ERROR(CheckCropped(images));
  SLUICE_RETURN_IF_ERROR(CheckBoxes(boxes, c.input(3), images.dim(0)));
  SLUICE_RETURN_IF_ERROR(CheckGrads(grads, boxes.dim(0), images.dim(3)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, boxes.shape()));
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide, ElementsAs<float>(c, images));
  const Crops crops{boxes, c.input(3), images.shape(), grads.dim(1), grads.dim(2)};
  const int64_t n = images.dim(3);
  const float* from = wide.data<float>();
  const auto rows = static_cast<double>(images.dim(1) - 1);
  const auto columns = static_cast<double>(images.dim(2) - 1);
  // Returns the position as a fraction: 0 at the first end of the box, 1 at the last one.
  const auto part = [](int64_t at, int64_t size) {
    return size > 1 ? static_cast<double>(at) / static_cast<double>(size - 1) : 0.5;
  };
  return SumInDouble(c, out, [&](double* sums) {
    crops.ForPixels(0, boxes.dim(0),
                    [&](int64_t b, int64_t y, int64_t x, int64_t pixel, const Point* p) {
                      if (p == nullptr) return;
                      double y_grad = 0, x_grad = 0;
                      for (int64_t k = 0; k < n; ++k) {
                        const double grad = grads.data<float>()[pixel * n + k];
                        const double top_left = from[p->top + p->left + k],
                                     top_right = from[p->top + p->right + k];
                        const double bottom_left = from[p->bottom + p->left + k],
                                     bottom_right = from[p->bottom + p->right + k];
                        y_grad += grad * ((1 - p->x_lerp) * (bottom_left - top_left) +
                                          p->x_lerp * (bottom_right - top_right));
                        x_grad += grad * ((1 - p->y_lerp) * (top_right - top_left) +
                                          p->y_lerp * (bottom_right - bottom_left));
                      }
                      double* to = sums + 4 * b;
                      to[0] += y_grad * rows * (1 - part(y, crops.height));
                      to[1] += x_grad * columns * (1 - part(x, crops.width));
                      to[2] += y_grad * rows * part(y, crops.height);
                      to[3] += x_grad * columns * part(x, crops.width);
                    });
  });
}
using GradBoxesKernel = FunctionKernel<GradBoxes>;
KERNEL(CropAndResizeGradBoxes, GradBoxesKernel, {"T", RealTypes()});

}  // namespace
}  // namespace sluice
