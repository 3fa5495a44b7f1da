#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/conv/conv3d_compute.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

// What all ops share: the attributes, kept from the node. The older ops have no data_format.
struct VolumeConvAttrs {
  std::string op;
  VolumeLayout layout;
  VolumeSliding sliding;

  static absl::StatusOr<VolumeConvAttrs> Of(const KernelInit& init) {
    VolumeConvAttrs a;
    a.op = init.node().op();
    const std::string format = init.AttrOr<std::string>("data_format", "NDHWC");
    a.layout = VolumeLayout::Of(format);
    SLUICE_ASSIGN_OR_RETURN(
        a.sliding, VolumeSlidingOf(a.op, format, init.attr<std::vector<int64_t>>("strides"),
                                   init.attr<std::vector<int64_t>>("dilations"),
                                   init.attr<std::string>("padding")));
    return a;
  }
  Channels channels() const { return layout.channel == 1 ? Channels::kFirst : Channels::kLast; }
};

class VolumeConvKernel : public Kernel {
 public:
  explicit VolumeConvKernel(KernelInit& init) : attrs_(VolumeConvAttrs::Of(init)) {}
  absl::Status Compute(KernelContext& context) final {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    return Run(context, *attrs_);
  }

 private:
  virtual absl::Status Run(KernelContext& context, const VolumeConvAttrs& attrs) const = 0;
  const absl::StatusOr<VolumeConvAttrs> attrs_;
};

// A shape from an input: sizes in a vector where `input_is_sizes`, else the input's own.
absl::StatusOr<TensorShape> ShapeFrom(const Tensor& t, bool input_is_sizes, const char* name) {
  if (!input_is_sizes) return t.shape();
  if (!t.shape().IsVector()) {
    return InvalidArgument(name, " must be 1-dimensional, got shape ", t.shape().ToString());
  }
  std::vector<int64_t> sizes(static_cast<size_t>(t.num_elements()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = t.dtype() == DT_INT64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i];
  }
  return TensorShape::Make(sizes);
}

template <typename T>
class Conv3DKernel : public VolumeConvKernel {
 public:
  using VolumeConvKernel::VolumeConvKernel;

 private:
  absl::Status Run(KernelContext& c, const VolumeConvAttrs& a) const override {
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g,
                            ConvolutionOf(a.op, a.layout, a.sliding, in.shape(), filter.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, OutputShape(a.layout, g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, w;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(c, in, a.channels()));
    SLUICE_RETURN_IF_ERROR(w.Open(c, filter));
    SLUICE_RETURN_IF_ERROR(y.Open(c, out, a.channels()));
    SLUICE_RETURN_IF_ERROR(Convolve(c, g, x.data(), w.data(), y.data()));
    return y.Close(c);
  }
};
KERNELS(Conv3D, "T", Conv3DKernel, FloatList);

template <typename T>
class Conv3DByInputKernel : public VolumeConvKernel {
 public:
  explicit Conv3DByInputKernel(KernelInit& init)
      : VolumeConvKernel(init), has_sizes_(init.node().op() == "Conv3DBackpropInputV2") {}

 private:
  absl::Status Run(KernelContext& c, const VolumeConvAttrs& a) const override {
    const Tensor &filter = c.input(1), &grad = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            ShapeFrom(c.input(0), has_sizes_, "input_sizes"));
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g, ConvolutionOf(a.op, a.layout, a.sliding, shape,
                                                                  filter.shape(), grad.shape()));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> dy, w;
    WrittenImages<T> dx;
    SLUICE_RETURN_IF_ERROR(dy.Open(c, grad, a.channels()));
    SLUICE_RETURN_IF_ERROR(w.Open(c, filter));
    SLUICE_RETURN_IF_ERROR(dx.Open(c, out, a.channels()));
    SLUICE_RETURN_IF_ERROR(ConvolveByInput(c, g, dy.data(), w.data(), dx.data()));
    return dx.Close(c);
  }

  const bool has_sizes_;
};
KERNELS(Conv3DBackpropInput, "T", Conv3DByInputKernel, FloatList);
KERNELS(Conv3DBackpropInputV2, "T", Conv3DByInputKernel, FloatList);

template <typename T>
class Conv3DByFilterKernel : public VolumeConvKernel {
 public:
  explicit Conv3DByFilterKernel(KernelInit& init)
      : VolumeConvKernel(init), has_sizes_(init.node().op() == "Conv3DBackpropFilterV2") {}

 private:
  absl::Status Run(KernelContext& c, const VolumeConvAttrs& a) const override {
    const Tensor &in = c.input(0), &grad = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            ShapeFrom(c.input(1), has_sizes_, "filter_sizes"));
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g, ConvolutionOf(a.op, a.layout, a.sliding,
                                                                  in.shape(), shape, grad.shape()));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (in.num_elements() == 0 || grad.num_elements() == 0) return FillWithZeros(out);
    ReadImages<T> x, dy;
    WrittenImages<T> dw;
    SLUICE_RETURN_IF_ERROR(x.Open(c, in, a.channels()));
    SLUICE_RETURN_IF_ERROR(dy.Open(c, grad, a.channels()));
    SLUICE_RETURN_IF_ERROR(dw.Open(c, out));
    SLUICE_RETURN_IF_ERROR(ConvolveByFilter(c, g, x.data(), dy.data(), dw.data()));
    return dw.Close(c);
  }

  const bool has_sizes_;
};
KERNELS(Conv3DBackpropFilter, "T", Conv3DByFilterKernel, FloatList);
KERNELS(Conv3DBackpropFilterV2, "T", Conv3DByFilterKernel, FloatList);

// Conv: images or volumes behind any number of batch dimensions. They are seen as volumes of one
// batch dimension, images as of depth 1.
template <typename T>
class ConvKernel : public Kernel {
 public:
  explicit ConvKernel(KernelInit& init)
      : strides_(init.attr<std::vector<int64_t>>("strides")),
        dilations_(init.attr<std::vector<int64_t>>("dilations")),
        paddings_(init.attr<std::vector<int64_t>>("explicit_paddings")),
        padding_(init.attr<std::string>("padding")),
        is_channels_first_(init.attr<std::string>("data_format") == "CHANNELS_FIRST"),
        batch_dims_(init.attr<int64_t>("batch_dims")),
        groups_(init.attr<int64_t>("groups")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_RETURN_IF_ERROR(Check(in.shape(), filter.shape()));
    const int space = filter.rank() - 2, batch = static_cast<int>(batch_dims_);
    int64_t images = 1;
    for (int d = 0; d < batch; ++d) images *= in.dim(d);
    const int first = batch + (is_channels_first_ ? 1 : 0);  // of the dimensions of space
    TensorShape volumes({images, 1, 1, 1, in.dim(is_channels_first_ ? batch : in.rank() - 1)});
    TensorShape filters({1, 1, 1, filter.dim(space), filter.dim(space + 1)});
    for (int d = 0; d < space; ++d) {
      volumes.set_dim(4 - space + d, in.dim(first + d));
      filters.set_dim(3 - space + d, filter.dim(d));
    }
    SLUICE_ASSIGN_OR_RETURN(const VolumeSliding sliding, SlidingOf(space));
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g, ConvolutionOf("Conv", VolumeLayout::Of("NDHWC"),
                                                                  sliding, volumes, filters));
    std::vector<int64_t> dims(in.shape().dims().begin(), in.shape().dims().end());
    for (int d = 0; d < space; ++d) dims[first + d] = g.out[3 - space + d];
    dims[is_channels_first_ ? batch : in.rank() - 1] = g.out_channels;
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, w;
    WrittenImages<T> y;
    // ReadImages takes one batch dimension.
    SLUICE_ASSIGN_OR_RETURN(const Tensor flat_in, Flat(in, images, g.in_channels));
    SLUICE_ASSIGN_OR_RETURN(Tensor flat_out, Flat(*out, images, g.out_channels));
    const Channels channels = is_channels_first_ ? Channels::kFirst : Channels::kLast;
    SLUICE_RETURN_IF_ERROR(x.Open(c, flat_in, channels));
    SLUICE_RETURN_IF_ERROR(w.Open(c, filter));
    SLUICE_RETURN_IF_ERROR(y.Open(c, &flat_out, channels));
    SLUICE_RETURN_IF_ERROR(Convolve(c, g, x.data(), w.data(), y.data()));
    return y.Close(c);
  }

 private:
  absl::Status Check(const TensorShape& in, const TensorShape& filter) const {
    if (groups_ != 1) {
      return absl::UnimplementedError("Grouped/Depthwise Convolutions are not supported yet.");
    }
    if (batch_dims_ < 0) return InvalidArgument("batch_dims must not be negative");
    const int64_t space = filter.rank() - 2;
    if (space != 2 && space != 3) {
      return InvalidArgument("The input must have 2 or 3 spatial dimensions but got ", space);
    }
    if (in.rank() - space - 1 != batch_dims_) {
      return InvalidArgument("input must have ", batch_dims_, " + ", space + 1,
                             " dimensions, got shape ", in.ToString());
    }
    const auto all = static_cast<size_t>(space + 2);
    if (strides_.size() != all) {
      return InvalidArgument("Sliding window strides field must specify ", all, " dimensions, got ",
                             strides_.size());
    }
    if (!dilations_.empty() && dilations_.size() != all) {
      return InvalidArgument("Dilation rates field must specify ", all, " dimensions, got ",
                             dilations_.size());
    }
    if (padding_ == "EXPLICIT" && paddings_.size() != 2 * all) {
      return InvalidArgument("explicit_paddings must have ", 2 * all, " values, got ",
                             paddings_.size());
    }
    if (padding_ != "EXPLICIT" && !paddings_.empty()) {
      return InvalidArgument("explicit_paddings must be empty if padding is not EXPLICIT");
    }
    for (size_t d : {size_t{0}, is_channels_first_ ? size_t{1} : all - 1}) {
      if (strides_[d] != 1 || (!dilations_.empty() && dilations_[d] != 1)) {
        return InvalidArgument(
            "Current implementation does not support strides or dilations in the batch and depth "
            "dimensions.");
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<VolumeSliding> SlidingOf(int space) const {
    VolumeSliding sliding;
    const int first = is_channels_first_ ? 2 : 1;
    for (int d = 0; d < space; ++d) {
      Sliding& along = sliding.along[3 - space + d];
      along.stride = strides_[first + d];
      if (!dilations_.empty()) along.dilation = dilations_[first + d];
      along.padding = PaddingOf(padding_);
      if (along.padding == Padding::kExplicit) {
        along.before = paddings_[2 * (first + d)];
        along.after = paddings_[2 * (first + d) + 1];
        if (along.before < 0 || along.after < 0) {
          return InvalidArgument("explicit_paddings must not be negative");
        }
      }
    }
    return sliding;
  }

  absl::StatusOr<Tensor> Flat(const Tensor& t, int64_t images, int64_t channels) const {
    const int64_t space = images * channels == 0 ? 0 : t.num_elements() / (images * channels);
    return t.Reshaped(is_channels_first_ ? TensorShape({images, channels, space})
                                         : TensorShape({images, space, channels}));
  }

  const std::vector<int64_t> strides_, dilations_, paddings_;
  const std::string padding_;
  const bool is_channels_first_;
  const int64_t batch_dims_, groups_;
};
using ConvTypes = TypeList<half, bfloat16, float, double, int32_t>;
KERNELS(Conv, "T", ConvKernel, ConvTypes);

}  // namespace
}  // namespace sluice
