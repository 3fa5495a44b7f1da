#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/conv/window.h"

namespace sluice {
namespace {

class PatchesKernel : public Kernel {
 public:
  explicit PatchesKernel(const KernelInit& init)
      : attrs_(WindowAttrs::Of(init.node(),
                               init.node().op() == "ExtractVolumePatches" ? "NDHWC" : "NHWC")),
        sizes_(init.attr<std::vector<int64_t>>("ksizes")) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    const Tensor& in = c.input(0);
    SLUICE_INVALID_IF(in.rank() != attrs_->layout.rank(), "input must be ", attrs_->layout.rank(),
                      "-dimensional ", in.shape().ToString());
    SLUICE_RETURN_IF_ERROR(attrs_->CheckLength("ksizes", sizes_.size()));
    SLUICE_RETURN_IF_ERROR(CheckSpatial("ksizes", sizes_));
    SLUICE_RETURN_IF_ERROR(CheckSpatial("strides", attrs_->strides));
    SLUICE_RETURN_IF_ERROR(CheckSpatial("rates", attrs_->dilations));
    SLUICE_ASSIGN_OR_RETURN(WindowGeometry g, attrs_->Slide(in.shape(), attrs_->SpaceOf(sizes_)));
    int64_t elements = 1;
    for (int d = 0; d < 3; ++d) elements = SaturatedProduct(elements, g.window[d]);
    g.out_channels = SaturatedProduct(g.in_channels, elements);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, attrs_->OutputShape(g));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    const int64_t pixel = g.in_channels * static_cast<int64_t>(DataTypeSize(in.dtype()));
    const auto* from = static_cast<const char*>(in.raw());
    auto* to = static_cast<char*>(out->raw());
    c.ParallelFor(g.positions(), 0.3 * static_cast<double>(elements * pixel),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const int64_t image = i / g.out.count();
                      CopyPatch(g, i % g.out.count(), from + image * g.in.count() * pixel, pixel,
                                to + i * elements * pixel);
                    }
                  });
    return absl::OkStatus();
  }

 private:
  static absl::Status CheckSpatial(const char* what, const std::vector<int64_t>& sizes) {
    if (sizes.front() == 1 && sizes.back() == 1) return absl::OkStatus();
    return absl::UnimplementedError(StrCat("Only support ", what, " across space."));
  }

  // Copies the patch at an output position. `pixel` is the size of a pixel in bytes.
  static void CopyPatch(const WindowGeometry& g, int64_t position, const char* image, int64_t pixel,
                        char* to) {
    const int64_t line = position / g.out.width;
    const int64_t front = g.First(0, line / g.out.height), top = g.First(1, line % g.out.height);
    const int64_t left = g.First(2, position % g.out.width);
    const auto has = [&](int d, int64_t at) { return at >= 0 && at < g.in[d]; };
    for (int64_t kz = 0; kz < g.window.depth; ++kz) {
      const int64_t z = front + kz * g.dilation.depth;
      for (int64_t ky = 0; ky < g.window.height; ++ky) {
        const int64_t y = top + ky * g.dilation.height;
        for (int64_t kx = 0; kx < g.window.width; ++kx, to += pixel) {
          const int64_t x = left + kx * g.dilation.width;
          if (has(0, z) && has(1, y) && has(2, x)) {
            const int64_t at = (z * g.in.height + y) * g.in.width + x;
            std::memcpy(to, image + at * pixel, static_cast<size_t>(pixel));
          } else {
            std::memset(to, 0, static_cast<size_t>(pixel));
          }
        }
      }
    }
  }

  const absl::StatusOr<WindowAttrs> attrs_;
  const std::vector<int64_t> sizes_;
};
KERNEL(ExtractImagePatches, PatchesKernel, {"T", RealTypes() | ComplexTypes() | DT_BOOL});
KERNEL(ExtractVolumePatches, PatchesKernel, {"T", RealTypes()});

}  // namespace
}  // namespace sluice
