#include "executor/kernel/scratch.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"
#include "ops/loops/wrapping.h"
#include "ops/pool/max_pool_loops.h"

namespace sluice {
namespace {

// Images of 16-bit types stay in their type here: elements are only compared and copied.
template <typename T>
class Images {
 public:
  absl::Status Read(KernelContext& context, const Tensor& t, Channels channels) {
    data_ = t.data<T>();
    if (channels == Channels::kLast) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(copy_, context.AllocateTemp(kDataTypeOf<T>, t.shape()));
    TransposeMatrices(context, t.dim(0), t.dim(1), SpaceOf(t), data_, copy_.data<T>());
    data_ = copy_.template data<T>();
    return absl::OkStatus();
  }
  const T* data() const { return data_; }

 private:
  Tensor copy_;
  const T* data_ = nullptr;
};

template <typename T>
class Target {
 public:
  absl::Status Open(KernelContext& context, Tensor* t, Channels channels) {
    target_ = t;
    if (channels == Channels::kLast) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(copy_, context.AllocateTemp(kDataTypeOf<T>, t->shape()));
    return absl::OkStatus();
  }
  T* data() { return copy_.IsInitialized() ? copy_.data<T>() : target_->data<T>(); }
  void Close(KernelContext& context) {
    if (!copy_.IsInitialized()) return;
    TransposeMatrices(context, target_->dim(0), SpaceOf(*target_), target_->dim(1), copy_.data<T>(),
                      target_->data<T>());
  }

 private:
  Tensor* target_ = nullptr;
  Tensor copy_;
};

double WindowCost(const PoolGeometry& g) { return 0.3 * g.line_elements(); }

template <typename T>
class MaxPoolKernel : public Kernel {
 public:
  explicit MaxPoolKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& in = context.input(0);
    SLUICE_ASSIGN_OR_RETURN(const PoolGeometry g, attrs_.Geometry(context, in.shape(), 1));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape pooled, attrs_.OutputShape(g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, pooled, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    Images<T> x;
    Target<T> y;
    SLUICE_RETURN_IF_ERROR(x.Read(context, in, ChannelsOf(attrs_.layout())));
    SLUICE_RETURN_IF_ERROR(y.Open(context, out, ChannelsOf(attrs_.layout())));
    T* to = y.data();
    if (g.channel_window > 1) {
      context.ParallelFor(out->num_elements(), static_cast<double>(g.channel_window),
                          [&](int64_t begin, int64_t end) {
                            max_pool::OverChannels(g.channel_window, x.data(), to, begin, end);
                          });
    } else {
      context.ParallelFor(g.batch * g.out_height, WindowCost(g), [&](int64_t begin, int64_t end) {
        max_pool::Forward(g, x.data(), to, begin, end);
      });
    }
    y.Close(context);
    return absl::OkStatus();
  }

 private:
  const PoolAttrs attrs_;
};
KERNELS(MaxPool, "T", MaxPoolKernel, RealList);
KERNELS(MaxPoolV2, "T", MaxPoolKernel, RealList);

absl::Status CheckShape(const char* what, const Tensor& t, const TensorShape& expected) {
  if (t.shape() == expected) return absl::OkStatus();
  return InvalidArgument("Expected ", what, " shape to be ", expected.ToString(), ", but got ",
                         t.shape().ToString());
}

// MaxPoolGrad sends gradients of outputs to the greatest elements of the windows, MaxPoolGradGrad
// fetches them from there.
template <typename T, bool kSecond>
class MaxPoolGradBase : public Kernel {
 public:
  explicit MaxPoolGradBase(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor &in = context.input(0), &grad = context.input(2);
    SLUICE_ASSIGN_OR_RETURN(const PoolGeometry g, attrs_.Geometry(context, in.shape(), 3));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape pooled, attrs_.OutputShape(g));
    const TensorShape full = in.shape();
    SLUICE_RETURN_IF_ERROR(CheckShape("orig_output", context.input(1), pooled));
    SLUICE_RETURN_IF_ERROR(CheckShape("grad", grad, kSecond ? full : pooled));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, kSecond ? pooled : full, &out));
    if (full.num_elements() == 0 || pooled.num_elements() == 0) {
      std::fill_n(out->data<T>(), out->num_elements(), T(0));  // however many images
      return absl::OkStatus();
    }
    if (g.in_height * g.in_width > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("images of ", g.in_height, " x ", g.in_width, " are too large");
    }
    Images<T> x, dy;
    Target<T> y;
    SLUICE_RETURN_IF_ERROR(x.Read(context, in, ChannelsOf(attrs_.layout())));
    SLUICE_RETURN_IF_ERROR(dy.Read(context, grad, ChannelsOf(attrs_.layout())));
    SLUICE_RETURN_IF_ERROR(y.Open(context, out, ChannelsOf(attrs_.layout())));
    T* to = y.data();
    context.ParallelFor(
        g.batch, 2 * WindowCost(g) * static_cast<double>(g.out_height),
        [&](int64_t begin, int64_t end) { Run(context, g, x.data(), dy.data(), to, begin, end); });
    y.Close(context);
    return absl::OkStatus();
  }

 private:
  static void Run(const KernelContext& context, const PoolGeometry& g, const T* in, const T* grad,
                  T* out, int64_t begin, int64_t end) {
    auto best = Scratch<T>(context, g.channels);
    auto where = Scratch<int32_t>(context, g.channels);
    for (int64_t i = begin; i < end; ++i) {
      const T* image = in + i * g.in_image();
      if constexpr (kSecond) {
        const T* from = grad + i * g.in_image();
        T* to = out + i * g.out_image();
        max_pool::ForGreatest(g, image, best.data(), where.data(),
                              [&](int64_t output, int64_t input) { to[output] = from[input]; });
      } else {
        const T* from = grad + i * g.out_image();
        T* to = out + i * g.in_image();
        if constexpr (std::is_floating_point_v<T>) {
          if (max_pool::AreQuarters<T>(g)) {
            max_pool::SendQuarters(g, image, from, to);
            continue;
          }
        }
        std::fill_n(to, g.in_image(), T(0));
        max_pool::ForGreatest(g, image, best.data(), where.data(),
                              [&](int64_t output, int64_t input) {
                                to[input] = WrappingAdd(to[input], from[output]);
                              });
      }
    }
  }

  const PoolAttrs attrs_;
};
template <typename T>
using MaxPoolGrad = MaxPoolGradBase<T, false>;
template <typename T>
using MaxPoolGradGrad = MaxPoolGradBase<T, true>;
KERNELS(MaxPoolGrad, "T", MaxPoolGrad, RealList);
KERNELS(MaxPoolGradV2, "T", MaxPoolGrad, RealList);
KERNELS(MaxPoolGradGrad, "T", MaxPoolGradGrad, RealList);
KERNELS(MaxPoolGradGradV2, "T", MaxPoolGradGrad, RealList);

}  // namespace
}  // namespace sluice
