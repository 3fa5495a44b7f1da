#include <algorithm>
#include <cmath>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/conv/conv3d_compute.h"
#include "ops/conv/conv_compute.h"
#include "ops/loops/image_tensor.h"
#include "ops/matmul/epilogue.h"

namespace sluice {
namespace {

// _FusedConv2D and _FusedDepthwiseConv2dNative.
absl::StatusOr<ConvAttrs> AttrsOf(const KernelInit& init) {
  ConvAttrs a;
  a.op = init.node().op();
  a.data_format = init.attr<std::string>("data_format");
  if (a.data_format == "NCHW_VECT_C" ||
      init.AttrOr<std::string>("filter_format", "HWIO") != "HWIO") {
    return absl::UnimplementedError(
        StrCat(a.op, " supports data formats NHWC and NCHW and filters HWIO, got ", a.data_format,
               " and ", init.AttrOr<std::string>("filter_format", "HWIO")));
  }
  a.layout = ImageLayout::Of(a.data_format);
  SLUICE_ASSIGN_OR_RETURN(
      a.sliding, ImageSlidingOf(a.op, a.data_format, init.attr<std::vector<int64_t>>("strides"),
                                init.attr<std::vector<int64_t>>("dilations"),
                                init.attr<std::string>("padding"),
                                init.AttrOr<std::vector<int64_t>>("explicit_paddings", {})));
  return a;
}

template <typename T>
class FusedConvKernel : public Kernel {
 public:
  explicit FusedConvKernel(KernelInit& init)
      : attrs_(AttrsOf(init)),
        epilogue_(init),
        is_depthwise_(init.node().op() == "_FusedDepthwiseConv2dNative"),
        made_of_filter_(init, 1) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    const Tensor &in = c.input(0), &filter = c.input(1);
    TensorShape filters = filter.shape();
    if (is_depthwise_ && filters.rank() == 4) {
      // Output channel c * m + q is channel c under filter q: groups of one channel.
      if (in.rank() == 4 && in.dim(attrs_->layout.channel) != filters.dim(2)) {
        return InvalidArgument("input and filter must have the same depth: ",
                               in.dim(attrs_->layout.channel), " vs ", filters.dim(2));
      }
      const int64_t outputs = MultiplyWithoutOverflow(filters.dim(2), filters.dim(3));
      SLUICE_ASSIGN_OR_RETURN(filters,
                              TensorShape::Make({filters.dim(0), filters.dim(1), 1, outputs}));
    }
    SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g, ConvGeometryOf(*attrs_, in.shape(), filters));
    SLUICE_RETURN_IF_ERROR(epilogue_.Check(c, 2, g.out_channels));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ConvOutputShape(*attrs_, g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, w;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(c, in, ChannelsOf(attrs_->layout)));
    SLUICE_RETURN_IF_ERROR(w.Open(c, filter));
    SLUICE_RETURN_IF_ERROR(y.Open(c, out, ChannelsOf(attrs_->layout)));
    const KeptFilter kept{filter, made_of_filter_};
    SLUICE_RETURN_IF_ERROR(ConvForward(c, g, x.data(), w.data(), y.data(), &kept));
    SLUICE_RETURN_IF_ERROR(
        epilogue_.template Apply<T>(c, 2, g.positions(), g.out_channels, y.data()));
    return y.Close(c);
  }

 private:
  const absl::StatusOr<ConvAttrs> attrs_;
  const Epilogue epilogue_;
  const bool is_depthwise_;
  MadeOfConstant made_of_filter_;
};
KERNEL(_FusedConv2D, FusedConvKernel<half>, {"T", DT_HALF});
KERNEL(_FusedConv2D, FusedConvKernel<bfloat16>, {"T", DT_BFLOAT16});
KERNEL(_FusedConv2D, FusedConvKernel<float>, {"T", DT_FLOAT});
KERNEL(_FusedConv2D, FusedConvKernel<double>, {"T", DT_DOUBLE});
using FloatsOf32 = TypeList<half, bfloat16, float>;
KERNELS(_FusedDepthwiseConv2dNative, "T", FusedConvKernel, FloatsOf32);

// Whole numbers of 8 bits: round(scale * conv + side_scale * side + bias), cut at the type's ends
// (or at 0, with Relu). Inputs: images, filters, bias, side (may be empty), scale, side_scale.
class FusedConvInt8Kernel : public Kernel {
 public:
  explicit FusedConvInt8Kernel(KernelInit& init)
      : attrs_(AttrsOf(init)), names_(init.attr<std::vector<std::string>>("fused_ops")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    const bool has_relu = names_.size() == 2 && names_[1] == "Relu";
    if (names_.empty() || names_[0] != "BiasAdd" || (names_.size() > 1 && !has_relu) ||
        names_.size() > 2) {
      return absl::UnimplementedError(
          "Fused conv implementation for int8/qint8 on CPU only supports BiasAdd + None or "
          "BiasAdd + Relu.");
    }
    if (attrs_->data_format != "NHWC") {
      return absl::UnimplementedError(
          "Fused conv implementation for int8/qint8 on CPU only supports NHWC tensor format.");
    }
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g,
                            ConvGeometryOf(*attrs_, in.shape(), filter.shape()));
    if (c.num_inputs() != 6) {
      return InvalidArgument("int8 takes a bias, a side input and two scales, got ",
                             c.num_inputs() - 2, " arguments");
    }
    const Tensor &bias = c.input(2), &side = c.input(3), &scale = c.input(4);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ConvOutputShape(*attrs_, g));
    if (bias.dtype() != DT_FLOAT || bias.num_elements() != g.out_channels ||
        side.dtype() != in.dtype() || (side.num_elements() != 0 && !(side.shape() == shape)) ||
        (scale.num_elements() != 1 && scale.num_elements() != g.out_channels) ||
        c.input(5).num_elements() != 1 || scale.dtype() != DT_FLOAT ||
        c.input(5).dtype() != DT_FLOAT) {
      return InvalidArgument("bias, side input and scales must fit the output ", shape.ToString());
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const Tensor x, Wide(c, in));
    SLUICE_ASSIGN_OR_RETURN(const Tensor w, Wide(c, filter));
    SLUICE_ASSIGN_OR_RETURN(Tensor sums, c.AllocateTemp(DT_FLOAT, shape));
    SLUICE_RETURN_IF_ERROR(ConvForward(c, g, x.data<float>(), w.data<float>(), sums.data<float>()));
    const auto* from_side =
        side.num_elements() == 0 ? nullptr : static_cast<const int8_t*>(side.raw());
    const float side_scale = *c.input(5).data<float>();
    const int64_t n = g.out_channels, step = scale.num_elements() == 1 ? 0 : 1;
    auto* to = static_cast<int8_t*>(out->raw());
    for (int64_t i = 0; i < out->num_elements(); ++i) {
      float v = sums.data<float>()[i] * scale.data<float>()[i % n * step];
      if (from_side != nullptr && side_scale != 0) v = std::fma(from_side[i], side_scale, v);
      v += bias.data<float>()[i % n];
      to[i] = static_cast<int8_t>(std::clamp(std::nearbyint(v), has_relu ? 0.0f : -128.0f, 127.0f));
    }
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<Tensor> Wide(KernelContext& c, const Tensor& t) {
    SLUICE_ASSIGN_OR_RETURN(Tensor wide, c.AllocateTemp(DT_FLOAT, t.shape()));
    ConvertElements(static_cast<const int8_t*>(t.raw()), wide.data<float>(), t.num_elements());
    return wide;
  }

  const absl::StatusOr<ConvAttrs> attrs_;
  const std::vector<std::string> names_;
};
KERNEL(_FusedConv2D, FusedConvInt8Kernel, {"T", {DT_INT8, DT_QINT8}});

template <typename T>
class FusedConv3DKernel : public Kernel {
 public:
  explicit FusedConv3DKernel(KernelInit& init)
      : op_(init.node().op()),
        layout_(VolumeLayout::Of(init.attr<std::string>("data_format"))),
        sliding_(VolumeSlidingOf(
            op_, init.attr<std::string>("data_format"), init.attr<std::vector<int64_t>>("strides"),
            init.attr<std::vector<int64_t>>("dilations"), init.attr<std::string>("padding"))),
        epilogue_(init) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(sliding_.status());
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g,
                            ConvolutionOf(op_, layout_, *sliding_, in.shape(), filter.shape()));
    SLUICE_RETURN_IF_ERROR(epilogue_.Check(c, 2, g.out_channels));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, OutputShape(layout_, g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    const Channels channels = layout_.channel == 1 ? Channels::kFirst : Channels::kLast;
    ReadImages<T> x, w;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(c, in, channels));
    SLUICE_RETURN_IF_ERROR(w.Open(c, filter));
    SLUICE_RETURN_IF_ERROR(y.Open(c, out, channels));
    SLUICE_RETURN_IF_ERROR(Convolve(c, g, x.data(), w.data(), y.data()));
    SLUICE_RETURN_IF_ERROR(
        epilogue_.template Apply<T>(c, 2, g.positions(), g.out_channels, y.data()));
    return y.Close(c);
  }

 private:
  const std::string op_;
  const VolumeLayout layout_;
  const absl::StatusOr<VolumeSliding> sliding_;
  const Epilogue epilogue_;
};
KERNELS(_FusedConv3D, "T", FusedConv3DKernel, FloatsOf32);

}  // namespace
}  // namespace sluice
