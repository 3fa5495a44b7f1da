// Kernels of convolutions and their gradients, for images with any number of spatial dimensions,
// and of convolutions with fused_ops.
#include <optional>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/conv/conv_geometry.h"
#include "ops/conv/convolve.h"
#include "ops/loops/image_tensor.h"
#include "ops/loops/int_tensor.h"
#include "ops/matmul/epilogue.h"

namespace sluice {
namespace {

absl::StatusOr<WindowAttrs> AttrsOf(const Node& node) {
  const auto format = node.AttrOr<std::string>("data_format", "");
  const auto filter_format = node.AttrOr<std::string>("filter_format", "HWIO");
  if (format == "NCHW_VECT_C" || filter_format != "HWIO") {
    return absl::UnimplementedError(
        StrCat(node.op(), " supports data formats NHWC and NCHW and filters HWIO, got ", format,
               " and ", filter_format));
  }
  // Conv3DBackpropInput and Conv3DBackpropFilter, the first versions, have no data_format.
  SLUICE_ASSIGN_OR_RETURN(
      WindowAttrs attrs, WindowAttrs::Of(node, node.op().starts_with("Conv3D") ? "NDHWC" : "NHWC"));
  SLUICE_RETURN_IF_ERROR(attrs.CheckOnlySpatial());
  return attrs;
}

// Returns the shape in `sizes`, the first input of a gradient with respect to the images. For
// Conv2D, it may consist of the spatial sizes only: then `grad` gives the batch and `filter` the
// channels.
absl::StatusOr<TensorShape> ImageSizes(const WindowAttrs& attrs, const Tensor& sizes,
                                       const Tensor& filter, const Tensor& grad) {
  SLUICE_INVALID_IF(!sizes.shape().IsVector(), attrs.op, ": input_sizes input must be 1-dim, not ",
                    sizes.rank());
  const ImageLayout& layout = attrs.layout;
  const auto rank = static_cast<size_t>(layout.rank());
  Ints dims = IntsOf(sizes);
  const bool may_be_spatial = attrs.op == "Conv2DBackpropInput";
  if (may_be_spatial && dims.size() == 2 && filter.rank() == 4 && grad.rank() == 4) {
    Ints all(rank, grad.dim(0));
    all[layout.channel()] = filter.dim(2);
    all[layout.height()] = dims[0];
    all[layout.width()] = dims[1];
    dims = std::move(all);
  }
  SLUICE_INVALID_IF(dims.size() != rank, attrs.op, " requires input_sizes to contain ", rank,
                    " values", may_be_spatial ? " or 2 values" : "", ", but got: ", dims.size());
  return TensorShape::Make(dims);
}

// Parses the attributes of the node once.
class ConvKernelBase : public Kernel {
 public:
  explicit ConvKernelBase(const KernelInit& init) : attrs_(AttrsOf(init.node())) {}
  absl::Status Compute(KernelContext& c) final {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    return Run(c, *attrs_, ChannelsOf(attrs_->layout));
  }

 private:
  virtual absl::Status Run(KernelContext& c, const WindowAttrs& attrs, Channels channels) = 0;

  const absl::StatusOr<WindowAttrs> attrs_;
};

template <typename T>
class ConvKernel : public ConvKernelBase {
 public:
  explicit ConvKernel(const KernelInit& init) : ConvKernelBase(init), made_of_filter_(init, 1) {
    if (init.node().FindAttr<std::vector<std::string>>("fused_ops")) epilogue_.emplace(init);
  }

 private:
  absl::Status Run(KernelContext& c, const WindowAttrs& attrs, Channels channels) override {
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g,
                            ConvGeometryOf(attrs, in.shape(), filter.shape()));
    if (epilogue_) SLUICE_RETURN_IF_ERROR(epilogue_->Check(c, 2, g.out_channels));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, attrs.OutputShape(g));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    const KeptFilter kept{filter, made_of_filter_};
    return WithImages<T>(c, {{in, channels}, {filter}}, out, channels,
                         [&](const auto* x, const auto* w, auto* y) -> absl::Status {
                           SLUICE_RETURN_IF_ERROR(Convolve(c, g, x, w, y, &kept));
                           if constexpr (!std::is_integral_v<T>) {
                             if (epilogue_) {
                               return epilogue_->template Apply<T>(c, 2, g.positions(),
                                                                   g.out_channels, y);
                             }
                           }
                           return absl::OkStatus();
                         });
  }

  MadeOfConstant made_of_filter_;
  std::optional<Epilogue> epilogue_;
};
using FloatsAndInt32 = TypeList<half, bfloat16, float, double, int32_t>;
using FloatsOf32 = TypeList<half, bfloat16, float>;
KERNELS(Conv2D, "T", ConvKernel, FloatsAndInt32);
KERNELS(Conv3D, "T", ConvKernel, FloatList);
KERNELS(DepthwiseConv2dNative, "T", ConvKernel, FloatList);
KERNELS(_FusedConv2D, "T", ConvKernel, FloatList);
KERNELS(_FusedConv3D, "T", ConvKernel, FloatsOf32);
KERNELS(_FusedDepthwiseConv2dNative, "T", ConvKernel, FloatsOf32);

template <typename T>
class ConvBackpropInputKernel : public ConvKernelBase {
 public:
  using ConvKernelBase::ConvKernelBase;

 private:
  absl::Status Run(KernelContext& c, const WindowAttrs& attrs, Channels channels) override {
    const Tensor &filter = c.input(1), &grad = c.input(2);
    TensorShape shape = c.input(0).shape();
    if (attrs.op != "Conv3DBackpropInput") {
      SLUICE_ASSIGN_OR_RETURN(shape, ImageSizes(attrs, c.input(0), filter, grad));
    }
    SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g,
                            ConvGeometryOf(attrs, shape, filter.shape(), grad.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    if (filter.num_elements() == 0 || grad.num_elements() == 0) return FillWithZeros(out);
    return WithImages<T>(c, {{grad, channels}, {filter}}, out, channels,
                         [&](const auto* dy, const auto* w, auto* dx) {
                           return ConvBackpropInput(c, g, dy, w, dx);
                         });
  }
};
KERNELS(Conv2DBackpropInput, "T", ConvBackpropInputKernel, FloatsAndInt32);
KERNELS(Conv3DBackpropInput, "T", ConvBackpropInputKernel, FloatList);
KERNELS(Conv3DBackpropInputV2, "T", ConvBackpropInputKernel, FloatList);
KERNELS(DepthwiseConv2dNativeBackpropInput, "T", ConvBackpropInputKernel, FloatList);

template <typename T>
class ConvBackpropFilterKernel : public ConvKernelBase {
 public:
  using ConvKernelBase::ConvKernelBase;

 private:
  absl::Status Run(KernelContext& c, const WindowAttrs& attrs, Channels channels) override {
    const Tensor &in = c.input(0), &sizes = c.input(1), &grad = c.input(2);
    TensorShape shape = sizes.shape();
    if (attrs.op != "Conv3DBackpropFilter") {
      SLUICE_INVALID_IF(!sizes.shape().IsVector(), attrs.op,
                        ": filter_sizes input must be 1-dim, not ", sizes.rank());
      SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(IntsOf(sizes)));
    }
    SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g,
                            ConvGeometryOf(attrs, in.shape(), shape, grad.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    if (in.num_elements() == 0 || grad.num_elements() == 0) return FillWithZeros(out);
    return WithImages<T>(c, {{in, channels}, {grad, channels}}, out, Channels::kLast,
                         [&](const auto* x, const auto* dy, auto* dw) {
                           return ConvBackpropFilter(c, g, x, dy, dw);
                         });
  }
};
KERNELS(Conv2DBackpropFilter, "T", ConvBackpropFilterKernel, FloatList);
KERNELS(Conv3DBackpropFilter, "T", ConvBackpropFilterKernel, FloatList);
KERNELS(Conv3DBackpropFilterV2, "T", ConvBackpropFilterKernel, FloatList);
KERNELS(DepthwiseConv2dNativeBackpropFilter, "T", ConvBackpropFilterKernel, FloatList);

// The kernel of Conv, which merges all batch dimensions into one.
template <typename T>
class AnyConvKernel : public Kernel {
 public:
  explicit AnyConvKernel(const KernelInit& init)
      : channels_first_(init.attr<std::string>("data_format") == "CHANNELS_FIRST"),
        batch_dims_(init.attr<int64_t>("batch_dims")),
        groups_(init.attr<int64_t>("groups")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_RETURN_IF_ERROR(CheckRanks(in.shape(), filter.shape()));
    const ImageLayout layout{.space = filter.rank() - 2, .channels_first = channels_first_};
    SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs, WindowAttrs::Of(c.node(), layout));
    SLUICE_RETURN_IF_ERROR(attrs.CheckOnlySpatial());
    const auto batch = in.shape().dims().subspan(0, static_cast<size_t>(batch_dims_));
    Ints dims = {TensorShape(batch).num_elements()};
    for (int d = static_cast<int>(batch_dims_); d < in.rank(); ++d) dims.push_back(in.dim(d));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape images, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g, ConvGeometryOf(attrs, images, filter.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape convolved, attrs.OutputShape(g));
    dims.assign(batch.begin(), batch.end());
    dims.insert(dims.end(), convolved.dims().begin() + 1, convolved.dims().end());
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    Tensor merged_out = out->Reshaped(convolved);
    return WithImages<T>(
        c, {{in.Reshaped(images), ChannelsOf(layout)}, {filter}}, &merged_out, ChannelsOf(layout),
        [&](const auto* x, const auto* w, auto* y) { return Convolve(c, g, x, w, y); });
  }

 private:
  absl::Status CheckRanks(const TensorShape& in, const TensorShape& filter) const {
    if (groups_ != 1) {
      return absl::UnimplementedError("Grouped/Depthwise Convolutions are not supported yet.");
    }
    SLUICE_INVALID_IF(batch_dims_ < 0, "batch_dims must not be negative");
    const int64_t space = filter.rank() - 2;
    SLUICE_INVALID_IF(space != 2 && space != 3,
                      "The input must have 2 or 3 spatial dimensions but got ", space);
    if (in.rank() - space - 1 == batch_dims_) return absl::OkStatus();
    return InvalidArgument("input must have ", batch_dims_, " + ", space + 1,
                           " dimensions, got shape ", in.ToString());
  }

  const bool channels_first_;
  const int64_t batch_dims_, groups_;
};
KERNELS(Conv, "T", AnyConvKernel, FloatsAndInt32);

}  // namespace
}  // namespace sluice
