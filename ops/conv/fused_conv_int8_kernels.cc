// Kernel of _FusedConv2D for 8-bit integers: round(scale * conv + side_scale * side + bias),
// clamped to the type's range, and to at least 0 with Relu.
#include <algorithm>
#include <cmath>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/conv/conv_geometry.h"
#include "ops/conv/convolve.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

// The inputs are images, filters, bias, side (may be empty), scale and side_scale.
class FusedConvInt8Kernel : public Kernel {
 public:
  explicit FusedConvInt8Kernel(const KernelInit& init)
      : attrs_(WindowAttrs::Of(init.node())),
        names_(init.attr<std::vector<std::string>>("fused_ops")),
        is_nhwc_(init.attr<std::string>("data_format") == "NHWC"),
        is_hwio_(init.attr<std::string>("filter_format") == "HWIO") {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    SLUICE_RETURN_IF_ERROR(attrs_->CheckOnlySpatial());
    SLUICE_RETURN_IF_ERROR(CheckAttrs());
    const Tensor &in = c.input(0), &filter = c.input(1);
    SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g,
                            ConvGeometryOf(*attrs_, in.shape(), filter.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, attrs_->OutputShape(g));
    SLUICE_RETURN_IF_ERROR(CheckArguments(c, shape));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const Tensor x, Widened(c, in));
    SLUICE_ASSIGN_OR_RETURN(const Tensor w, Widened(c, filter));
    SLUICE_ASSIGN_OR_RETURN(Tensor sums, c.AllocateTemp(DT_FLOAT, shape));
    SLUICE_RETURN_IF_ERROR(
        Convolve(c, g, x.data<float>(), w.data<float>(), sums.data<float>(), nullptr));
    Finish(c, sums, out);
    return absl::OkStatus();
  }

 private:
  bool has_relu() const { return names_.size() == 2; }

  absl::Status CheckAttrs() const {
    const bool is_known = !names_.empty() && names_.size() <= 2 && names_[0] == "BiasAdd" &&
                          (names_.size() == 1 || names_[1] == "Relu");
    if (!is_known) {
      return absl::UnimplementedError(
          "Fused conv implementation for int8/qint8 on CPU only supports BiasAdd + None or "
          "BiasAdd + Relu.");
    }
    if (is_nhwc_ && is_hwio_) return absl::OkStatus();
    return absl::UnimplementedError(
        "Fused conv implementation for int8/qint8 on CPU only supports NHWC tensor format and HWIO "
        "filter format.");
  }

  static absl::Status CheckArguments(KernelContext& c, const TensorShape& shape) {
    SLUICE_INVALID_IF(c.num_inputs() != 6, "int8 takes a bias, a side input and two scales, got ",
                      c.num_inputs() - 2, " arguments");
    const int64_t channels = shape.dim(3);
    const auto has = [&](int i, DataType dtype, int64_t elements) {
      return c.input(i).dtype() == dtype && c.input(i).num_elements() == elements;
    };
    const Tensor& side = c.input(3);
    const bool fits_side =
        side.dtype() == c.input(0).dtype() && (side.num_elements() == 0 || side.shape() == shape);
    if (has(2, DT_FLOAT, channels) && fits_side && has(5, DT_FLOAT, 1) &&
        (has(4, DT_FLOAT, 1) || has(4, DT_FLOAT, channels))) {
      return absl::OkStatus();
    }
    return InvalidArgument("bias, side input and scales must fit the output ", shape.ToString());
  }

  void Finish(KernelContext& c, const Tensor& sums, Tensor* out) const {
    const float *bias = c.input(2).data<float>(), *scale = c.input(4).data<float>();
    const auto* side =
        c.input(3).num_elements() == 0 ? nullptr : static_cast<const int8_t*>(c.input(3).raw());
    const float side_scale = *c.input(5).data<float>();
    const int64_t n = c.input(2).num_elements(), step = c.input(4).num_elements() == 1 ? 0 : 1;
    auto* to = static_cast<int8_t*>(out->raw());
    for (int64_t i = 0; i < out->num_elements(); ++i) {
      float v = sums.data<float>()[i] * scale[i % n * step];
      if (side != nullptr && side_scale != 0) v = std::fma(side[i], side_scale, v);
      v += bias[i % n];
      to[i] =
          static_cast<int8_t>(std::clamp(std::nearbyint(v), has_relu() ? 0.0f : -128.0f, 127.0f));
    }
  }

  static absl::StatusOr<Tensor> Widened(KernelContext& c, const Tensor& t) {
    SLUICE_ASSIGN_OR_RETURN(Tensor wide, c.AllocateTemp(DT_FLOAT, t.shape()));
    ConvertElements(static_cast<const int8_t*>(t.raw()), wide.data<float>(), t.num_elements());
    return wide;
  }

  const absl::StatusOr<WindowAttrs> attrs_;
  const std::vector<std::string> names_;
  const bool is_nhwc_, is_hwio_;
};
KERNEL(_FusedConv2D, FusedConvInt8Kernel, {"T", {DT_INT8, DT_QINT8}});

}  // namespace
}  // namespace sluice
