#include <algorithm>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/conv/window.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

// Sizes of a pool over images [batch, height, width, channels].
struct Geometry {
  int64_t batch, in_height, in_width, channels, out_height, out_width;
  int64_t window_height, window_width, stride_height, stride_width, pad_top, pad_left;

  int64_t in_image() const { return in_height * in_width * channels; }
  int64_t out_image() const { return out_height * out_width * channels; }
  TensorShape Pooled() const { return TensorShape({batch, out_height, out_width, channels}); }
};

class ArgmaxAttrs {
 public:
  explicit ArgmaxAttrs(const KernelInit& init)
      : ksize_(init.attr<std::vector<int64_t>>("ksize")),
        strides_(init.attr<std::vector<int64_t>>("strides")),
        padding_(init.attr<std::string>("padding")),
        counts_batch_(init.attr<bool>("include_batch_in_index")) {}

  absl::StatusOr<Geometry> Of(const TensorShape& in) const {
    if (in.rank() != 4) {
      return InvalidArgument("tensor_in must be 4-dimensional, got shape ", in.ToString());
    }
    if (ksize_.size() != 4 || strides_.size() != 4) {
      return InvalidArgument("ksize and strides must specify 4 dimensions, got ", ksize_.size(),
                             " and ", strides_.size());
    }
    if (*std::min_element(ksize_.begin(), ksize_.end()) <= 0) {
      return InvalidArgument("Sliding window ksize must be positive");
    }
    if (ksize_[0] != 1 || strides_[0] != 1) {
      return absl::UnimplementedError("Pooling is not yet supported on the batch dimension.");
    }
    if (ksize_[3] != 1 || strides_[3] != 1) {
      return absl::UnimplementedError(
          "MaxPoolWithArgmax is not yet supported on the depth dimension.");
    }
    const Padding padding = PaddingOf(padding_);
    SLUICE_ASSIGN_OR_RETURN(
        const Window height,
        SlideWindow(in.dim(1), ksize_[1], {.stride = strides_[1], .padding = padding}));
    SLUICE_ASSIGN_OR_RETURN(
        const Window width,
        SlideWindow(in.dim(2), ksize_[2], {.stride = strides_[2], .padding = padding}));
    return Geometry{in.dim(0), in.dim(1), in.dim(2),   in.dim(3),   height.outputs, width.outputs,
                    ksize_[1], ksize_[2], strides_[1], strides_[2], height.before,  width.before};
  }
  // What is added to places in image b.
  int64_t Base(const Geometry& g, int64_t b) const { return counts_batch_ ? b * g.in_image() : 0; }

 private:
  const std::vector<int64_t> ksize_, strides_;
  const std::string padding_;
  const bool counts_batch_;
};

template <typename T, typename Index>
class MaxPoolWithArgmaxKernel : public Kernel {
 public:
  explicit MaxPoolWithArgmaxKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    if (in.num_elements() == 0) {
      return InvalidArgument("tensor_in must not be empty, got shape ", in.shape().ToString());
    }
    SLUICE_ASSIGN_OR_RETURN(const Geometry g, attrs_.Of(in.shape()));
    Tensor *out, *places;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, g.Pooled(), &out));
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(1, g.Pooled(), &places));
    const double cost = static_cast<double>(g.window_height) * static_cast<double>(g.window_width) *
                        static_cast<double>(g.channels);
    c.ParallelFor(g.batch * g.out_height, cost * static_cast<double>(g.out_width),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t line = begin; line < end; ++line) {
                      const int64_t b = line / g.out_height;
                      for (int64_t x = 0; x < g.out_width; ++x) {
                        const int64_t to = (line * g.out_width + x) * g.channels;
                        Window(g, in.data<T>() + b * g.in_image(), line % g.out_height, x,
                               attrs_.Base(g, b), out->data<T>() + to, places->data<Index>() + to);
                      }
                    }
                  });
    return absl::OkStatus();
  }

 private:
  // The first greatest element of each channel, and where it lies.
  static void Window(const Geometry& g, const T* image, int64_t out_y, int64_t out_x, int64_t base,
                     T* greatest, Index* place) {
    const int64_t top = out_y * g.stride_height - g.pad_top;
    const int64_t left = out_x * g.stride_width - g.pad_left;
    bool is_first = true;
    for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + g.window_height, g.in_height);
         ++y) {
      for (int64_t x = std::max<int64_t>(left, 0); x < std::min(left + g.window_width, g.in_width);
           ++x) {
        const int64_t at = (y * g.in_width + x) * g.channels;
        for (int64_t k = 0; k < g.channels; ++k) {
          if (!is_first && !(greatest[k] < image[at + k])) continue;
          greatest[k] = image[at + k];
          place[k] = static_cast<Index>(base + at + k);
        }
        is_first = false;
      }
    }
  }

  const ArgmaxAttrs attrs_;
};
template <typename T>
using WithInt32 = MaxPoolWithArgmaxKernel<T, int32_t>;
template <typename T>
using WithInt64 = MaxPoolWithArgmaxKernel<T, int64_t>;

template <typename T>
class MaxPoolGradWithArgmaxKernel : public Kernel {
 public:
  explicit MaxPoolGradWithArgmaxKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &grad = c.input(1), &places = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const Geometry g, attrs_.Of(in.shape()));
    for (const Tensor* t : {&grad, &places}) {
      if (t->shape() == g.Pooled()) continue;
      return InvalidArgument("Expected ", t == &grad ? "grad" : "argmax", " shape to be ",
                             g.Pooled().ToString(), ", but got ", t->shape().ToString());
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, in.shape(), &out));
    T* to = out->data<T>();
    std::fill_n(to, out->num_elements(), T(0));
    if (grad.num_elements() == 0) return absl::OkStatus();  // however many images
    for (int64_t b = 0; b < g.batch; ++b) {
      for (int64_t i = b * g.out_image(); i < (b + 1) * g.out_image(); ++i) {
        const int64_t at = places.data<int64_t>()[i], base = attrs_.Base(g, b);
        if (at < base || at - base >= g.in_image()) {
          return InvalidArgument("argmax must be in its image of ", g.in_image(), " elements, got ",
                                 at);
        }
        T* sum = to + b * g.in_image() + (at - base);
        *sum = WrappingAdd(*sum, grad.data<T>()[i]);
      }
    }
    return absl::OkStatus();
  }

 private:
  const ArgmaxAttrs attrs_;
};

#define SLUICE_ARGMAX(T)                                                                 \
  KERNEL(MaxPoolWithArgmax, WithInt32<T>, {"T", kDataTypeOf<T>}, {"Targmax", DT_INT32}); \
  KERNEL(MaxPoolWithArgmax, WithInt64<T>, {"T", kDataTypeOf<T>}, {"Targmax", DT_INT64}); \
  KERNEL(MaxPoolGradWithArgmax, MaxPoolGradWithArgmaxKernel<T>, {"T", kDataTypeOf<T>},   \
         {"Targmax", DT_INT64})
SLUICE_ARGMAX(half);
SLUICE_ARGMAX(bfloat16);
SLUICE_ARGMAX(float);
SLUICE_ARGMAX(double);
SLUICE_ARGMAX(int8_t);
SLUICE_ARGMAX(int16_t);
SLUICE_ARGMAX(int32_t);
SLUICE_ARGMAX(int64_t);
SLUICE_ARGMAX(uint8_t);
SLUICE_ARGMAX(uint16_t);
SLUICE_ARGMAX(uint32_t);
SLUICE_ARGMAX(uint64_t);
#undef SLUICE_ARGMAX

}  // namespace
}  // namespace sluice
