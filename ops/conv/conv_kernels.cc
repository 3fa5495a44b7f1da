#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/conv/conv_compute.h"
#include "ops/loops/image_tensor.h"
#include "ops/loops/int_tensor.h"

namespace sluice {
namespace {

// What all three ops share: the attributes, kept from the node.
class ConvKernel : public Kernel {
 public:
  explicit ConvKernel(ConvAttrs attrs) : attrs_(std::move(attrs)) {}

 protected:
  // `Make` for the kernel registry.
  template <typename K>
  static absl::StatusOr<std::unique_ptr<Kernel>> MakeOf(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(ConvAttrs attrs, ConvAttrs::Of(init));
    return std::unique_ptr<Kernel>(new K(std::move(attrs)));
  }

  const ConvAttrs attrs_;
};

template <typename T>
class Conv2DKernel : public ConvKernel {
 public:
  Conv2DKernel(const KernelInit& init, ConvAttrs attrs)
      : ConvKernel(std::move(attrs)), made_of_filter_(init, 1) {}
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(ConvAttrs attrs, ConvAttrs::Of(init));
    return std::make_unique<Conv2DKernel>(init, std::move(attrs));
  }

  absl::Status Compute(KernelContext& context) override {
    const Tensor &in = context.input(0), &filter = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g,
                            ConvGeometryOf(attrs_, in.shape(), filter.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ConvOutputShape(attrs_, g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, w;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(context, in, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(w.Open(context, filter));
    SLUICE_RETURN_IF_ERROR(y.Open(context, out, ChannelsOf(attrs_.layout)));
    const KeptFilter kept{filter, made_of_filter_};
    SLUICE_RETURN_IF_ERROR(ConvForward(context, g, x.data(), w.data(), y.data(), &kept));
    return y.Close(context);
  }

 private:
  MadeOfConstant made_of_filter_;
};
using ConvList = TypeList<half, bfloat16, float, double, int32_t>;
KERNELS(Conv2D, "T", Conv2DKernel, ConvList);

template <typename T>
class Conv2DBackpropInputKernel : public ConvKernel {
 public:
  using ConvKernel::ConvKernel;
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeOf<Conv2DBackpropInputKernel>(init);
  }

  absl::Status Compute(KernelContext& context) override {
    const Tensor &filter = context.input(1), &grad = context.input(2);
    const bool known = filter.rank() == 4 && grad.rank() == 4;
    SLUICE_ASSIGN_OR_RETURN(
        const TensorShape shape,
        ImageSizes(attrs_, context.input(0), known ? grad.dim(attrs_.layout.batch) : 0,
                   known ? filter.dim(2) : 0));
    SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g,
                            ConvGeometryOf(attrs_, shape, filter.shape(), grad.shape()));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    if (filter.num_elements() == 0 || grad.num_elements() == 0) return FillWithZeros(out);
    ReadImages<T> dy, w;
    WrittenImages<T> dx;
    SLUICE_RETURN_IF_ERROR(dy.Open(context, grad, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(w.Open(context, filter));
    SLUICE_RETURN_IF_ERROR(dx.Open(context, out, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(ConvByInput(context, g, dy.data(), w.data(), dx.data()));
    return dx.Close(context);
  }
};
KERNELS(Conv2DBackpropInput, "T", Conv2DBackpropInputKernel, ConvList);

template <typename T>
class Conv2DBackpropFilterKernel : public ConvKernel {
 public:
  using ConvKernel::ConvKernel;
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeOf<Conv2DBackpropFilterKernel>(init);
  }

  absl::Status Compute(KernelContext& context) override {
    const Tensor &in = context.input(0), &sizes = context.input(1), &grad = context.input(2);
    if (!sizes.shape().IsVector()) {
      return InvalidArgument(attrs_.op, ": filter_sizes input must be 1-dim, not ", sizes.rank());
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(sizes)));
    SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g,
                            ConvGeometryOf(attrs_, in.shape(), shape, grad.shape()));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    if (in.num_elements() == 0 || grad.num_elements() == 0) return FillWithZeros(out);
    ReadImages<T> x, dy;
    WrittenImages<T> dw;
    SLUICE_RETURN_IF_ERROR(x.Open(context, in, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(dy.Open(context, grad, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(dw.Open(context, out));
    SLUICE_RETURN_IF_ERROR(ConvByFilter(context, g, x.data(), dy.data(), dw.data()));
    return dw.Close(context);
  }
};
KERNELS(Conv2DBackpropFilter, "T", Conv2DBackpropFilterKernel, FloatList);

}  // namespace
}  // namespace sluice
