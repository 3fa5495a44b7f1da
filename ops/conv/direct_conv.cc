#include "ops/conv/direct_conv.h"

#include <algorithm>

#include "graph/status.h"
#include "ops/conv/loop_scratch.h"
#include "ops/loops/add_to.h"
#include "ops/matmul/product_rows.h"

namespace sluice::direct_conv {
namespace {

// The sizes of an image with its padding.
struct Padded {
  int64_t height, width, channels;
  int64_t line() const { return width * channels; }
  int64_t size() const { return height * line(); }
};
Padded PaddedOf(const WindowGeometry& g) {
  const int64_t height =
      (g.out.height - 1) * g.stride.height + (g.window.height - 1) * g.dilation.height + 1;
  const int64_t width = (g.out.width - 1) * g.stride.width + g.window.width;
  return {height, width, g.in_channels};
}

// Copies an image with its padding. Omits lines and columns that no filter reaches.
void Pad(const WindowGeometry& g, const Padded& p, const float* image, float* to) {
  const int64_t pad = std::min(g.pad.width, p.width);  // padding that filters reach
  const int64_t c = p.channels, left = pad * c;
  const int64_t inside = std::clamp<int64_t>(g.in.width, 0, p.width - pad) * c;
  for (int64_t y = 0; y < p.height; ++y, to += p.line()) {
    const int64_t from = y - g.pad.height;
    if (from < 0 || from >= g.in.height) {
      std::fill_n(to, p.line(), 0.0f);
      continue;
    }
    std::fill_n(to, left, 0.0f);
    std::copy_n(image + from * g.in.width * c, inside, to + left);
    std::fill_n(to + left + inside, p.line() - left - inside, 0.0f);
  }
}

// Computes `rows` rows of `columns` columns of the result. `columns` is a multiple of 16.
template <int kVecs, bool kAdd>
SLUICE_INLINE_IN_CLONES void AllColumns(const float* a, int64_t row_step, int64_t rows,
                                        const float* b, int64_t columns, const SumTerms& terms,
                                        float* to) {
  for (int64_t c = 0; c < columns; c += kVecs * kVecLanes) {
    ProductOfRows<kVecs, kAdd, 12, 5, 3, 1>(a, row_step, rows, b + c, terms, to + c, columns);
  }
}

template <int kVecs>
SLUICE_INLINE_IN_CLONES void ImageForward(const WindowGeometry& g, const Padded& p,
                                          const float* padded, const float* filter, float* out) {
  const int64_t line = g.window.width * g.in_channels, columns = g.out_channels;
  const SumTerms terms{.inner = line,
                       .a_inner = 1,
                       .b_inner = columns,
                       .outer = g.window.height,
                       .a_outer = g.dilation.height * p.line(),
                       .b_outer = line * columns};
  for (int64_t y = 0; y < g.out.height; ++y) {
    AllColumns<kVecs, false>(padded + y * g.stride.height * p.line(),
                             g.stride.width * g.in_channels, g.out.width, filter, columns, terms,
                             out + y * g.out.width * columns);
  }
}

template <int kVecs>
SLUICE_INLINE_IN_CLONES void ImageBackpropFilter(const WindowGeometry& g, const Padded& p,
                                                 const float* padded, const float* out_grad,
                                                 float* sums) {
  const int64_t line = g.window.width * g.in_channels, columns = g.out_channels;
  const SumTerms terms{.inner = g.out.width,
                       .a_inner = g.stride.width * g.in_channels,
                       .b_inner = columns,
                       .outer = g.out.height,
                       .a_outer = g.stride.height * p.line(),
                       .b_outer = g.out.width * columns};
  for (int64_t y = 0; y < g.window.height; ++y) {
    AllColumns<kVecs, true>(padded + y * g.dilation.height * p.line(), 1, line, out_grad, columns,
                            terms, sums + y * line * columns);
  }
}

// Processes one padded image. A forward loop stores the result in `to`. A loop for gradients of
// filters adds them to `to`.
using ImageLoop = void (*)(const WindowGeometry& g, const Padded& p, const float* padded,
                           const float* b, float* to);
// For both filters and outputs, "wide" means that the number of output channels is a multiple of
// 32.
SLUICE_AVX512 void WideForward(const WindowGeometry& g, const Padded& p, const float* padded,
                               const float* filter, float* out) {
  ImageForward<2>(g, p, padded, filter, out);
}
SLUICE_AVX512 void NarrowForward(const WindowGeometry& g, const Padded& p, const float* padded,
                                 const float* filter, float* out) {
  ImageForward<1>(g, p, padded, filter, out);
}
SLUICE_AVX512 void WideBackprop(const WindowGeometry& g, const Padded& p, const float* padded,
                                const float* out_grad, float* sums) {
  ImageBackpropFilter<2>(g, p, padded, out_grad, sums);
}
SLUICE_AVX512 void NarrowBackprop(const WindowGeometry& g, const Padded& p, const float* padded,
                                  const float* out_grad, float* sums) {
  ImageBackpropFilter<1>(g, p, padded, out_grad, sums);
}

bool IsWide(const WindowGeometry& g) { return g.out_channels % (2 * kVecLanes) == 0; }

// Returns the cost of one image in nanoseconds.
double ImageCost(const WindowGeometry& g) {
  return static_cast<double>(g.out.count()) * static_cast<double>(g.patch()) *
         static_cast<double>(g.out_channels) / 40;
}

}  // namespace

bool Fits(const WindowGeometry& g) {
  constexpr int64_t kPaddedMax = 1 << 18;  // elements
  if (!HasAvx512() || !g.is_planar() || g.has_groups()) return false;
  if (g.dilation.width != 1 || g.out_channels % kVecLanes != 0) return false;
  if (g.out.height < 1 || g.out.width < 4 || g.pad.width < 0) return false;
  // One thread computes an image, so there must be several images. The sides are checked before
  // their product, because huge strides or paddings can make the product overflow.
  const Padded p = PaddedOf(g);
  return g.batch >= 4 && std::max({p.height, p.width, p.channels}) <= kPaddedMax &&
         p.size() <= kPaddedMax;
}

absl::Status Forward(KernelContext& context, const WindowGeometry& g, const float* in,
                     const float* filter, float* out) {
  const Padded p = PaddedOf(g);
  const ImageLoop loop = IsWide(g) ? WideForward : NarrowForward;
  LoopScratch scratch;
  context.ParallelFor(g.batch, ImageCost(g), [&](int64_t begin, int64_t end) {
    float* padded = scratch.Get<float>(p.size());
    if (padded == nullptr) return;
    for (int64_t i = begin; i < end; ++i) {
      Pad(g, p, in + i * g.in_image(), padded);
      loop(g, p, padded, filter, out + i * g.out_image());
    }
  });
  return scratch.status();
}

absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const float* in,
                            const float* out_grad, float* filter_grad) {
  constexpr int64_t kPartsMax = 8;  // each part has sums of its own
  const Padded p = PaddedOf(g);
  const ImageLoop loop = IsWide(g) ? WideBackprop : NarrowBackprop;
  const int64_t size = g.patch() * g.out_channels, parts = std::min(g.batch, kPartsMax);
  SLUICE_ASSIGN_OR_RETURN(Tensor partial, context.AllocateTemp(DT_FLOAT, {parts, size}));
  float* sums = partial.data<float>();
  const double cost = ImageCost(g) * static_cast<double>(g.batch) / static_cast<double>(parts);
  LoopScratch scratch;
  context.ParallelFor(parts, cost, [&](int64_t begin, int64_t end) {
    float* padded = scratch.Get<float>(p.size());
    if (padded == nullptr) return;
    for (int64_t part = begin; part < end; ++part) {
      std::fill_n(sums + part * size, size, 0.0f);
      for (int64_t i = g.batch * part / parts; i < g.batch * (part + 1) / parts; ++i) {
        Pad(g, p, in + i * g.in_image(), padded);
        loop(g, p, padded, out_grad + i * g.out_image(), sums + part * size);
      }
    }
  });
  SLUICE_RETURN_IF_ERROR(scratch.status());
  std::copy_n(sums, size, filter_grad);
  for (int64_t part = 1; part < parts; ++part) {
    AddTo(filter_grad, sums + part * size, size);
  }
  return absl::OkStatus();
}

}  // namespace sluice::direct_conv
