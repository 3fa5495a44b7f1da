#include "ops/conv/direct_conv.h"

#include <algorithm>

#include "graph/status.h"
#include "ops/conv/patches.h"
#include "ops/loops/add_to.h"
#include "ops/matmul/product_rows.h"

namespace sluice::direct_conv {
namespace {

// An image with its padding.
struct Padded {
  int64_t height, width, channels;
  int64_t line() const { return width * channels; }
  int64_t size() const { return height * line(); }
};
Padded PaddedOf(const ConvGeometry& g) {
  const int64_t height =
      (g.out_height - 1) * g.stride_height + (g.filter_height - 1) * g.dilation_height + 1;
  const int64_t width = (g.out_width - 1) * g.stride_width + g.filter_width;
  return {height, width, g.in_channels};
}

// Lines and columns that no filter reaches are left out.
void Pad(const ConvGeometry& g, const Padded& p, const float* image, float* to) {
  // Padding may reach beyond what the filters do.
  const int64_t pad = std::min(g.pad_left, p.width);
  const int64_t c = p.channels, left = pad * c;
  const int64_t inside = std::clamp<int64_t>(g.in_width, 0, p.width - pad) * c;
  for (int64_t y = 0; y < p.height; ++y, to += p.line()) {
    const int64_t from = y - g.pad_top;
    if (from < 0 || from >= g.in_height) {
      std::fill_n(to, p.line(), 0.0f);
      continue;
    }
    std::fill_n(to, left, 0.0f);
    std::copy_n(image + from * g.in_width * c, inside, to + left);
    std::fill_n(to + left + inside, p.line() - left - inside, 0.0f);
  }
}

// Sums of products over two depths: element (r, i, j) is a[r * row_step + i * a_outer + j *
// a_inner], and the vectors of (i, j) begin at b[i * b_outer + j * b_inner].
struct Depths {
  int64_t outer, inner;
  int64_t a_outer, a_inner;
  int64_t b_outer, b_inner;
};

template <int kRows, int kVecs, bool kAdd>
SLUICE_INLINE_IN_CLONES void Rows(const float* a, int64_t row_step, const float* b, const Depths& s,
                                  float* to, int64_t to_step) {
  Vec sums[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      if constexpr (kAdd) {
        sums[r][v] = VecAt(to + r * to_step + v * kVecLanes);
      } else {
        sums[r][v] = Vec{};
      }
    }
  }
  for (int64_t i = 0; i < s.outer; ++i) {
    const float* x = a + i * s.a_outer;
    const float* y = b + i * s.b_outer;
    for (int64_t j = 0; j < s.inner; ++j, x += s.a_inner, y += s.b_inner) {
      Vec of_b[kVecs];
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) of_b[v] = VecAt(y + v * kVecLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVecs; ++v) sums[r][v] += x[r * row_step] * of_b[v];
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) VecAt(to + r * to_step + v * kVecLanes) = sums[r][v];
  }
}

// `rows` rows of `columns`, a multiple of 16.
template <int kRows, int kVecs, bool kAdd>
SLUICE_INLINE_IN_CLONES void AllRows(const float* a, int64_t row_step, int64_t rows, const float* b,
                                     int64_t columns, const Depths& s, float* to) {
  for (int64_t c = 0; c < columns; c += kVecs * kVecLanes) {
    int64_t r = 0;
    for (; r + kRows <= rows; r += kRows) {
      Rows<kRows, kVecs, kAdd>(a + r * row_step, row_step, b + c, s, to + r * columns + c, columns);
    }
    for (; r + 5 <= rows; r += 5) {
      Rows<5, kVecs, kAdd>(a + r * row_step, row_step, b + c, s, to + r * columns + c, columns);
    }
    for (; r + 3 <= rows; r += 3) {
      Rows<3, kVecs, kAdd>(a + r * row_step, row_step, b + c, s, to + r * columns + c, columns);
    }
    for (; r < rows; ++r) {
      Rows<1, kVecs, kAdd>(a + r * row_step, row_step, b + c, s, to + r * columns + c, columns);
    }
  }
}

template <int kRows, int kVecs>
SLUICE_INLINE_IN_CLONES void ImageForward(const ConvGeometry& g, const Padded& p,
                                          const float* padded, const float* filter, float* out) {
  const int64_t line = g.filter_width * g.in_channels, columns = g.out_channels;
  const Depths s{.outer = g.filter_height,
                 .inner = line,
                 .a_outer = g.dilation_height * p.line(),
                 .a_inner = 1,
                 .b_outer = line * columns,
                 .b_inner = columns};
  for (int64_t y = 0; y < g.out_height; ++y) {
    AllRows<kRows, kVecs, false>(padded + y * g.stride_height * p.line(),
                                 g.stride_width * g.in_channels, g.out_width, filter, columns, s,
                                 out + y * g.out_width * columns);
  }
}

template <int kRows, int kVecs>
SLUICE_INLINE_IN_CLONES void ImageByFilter(const ConvGeometry& g, const Padded& p,
                                           const float* padded, const float* out_grad,
                                           float* sums) {
  const int64_t line = g.filter_width * g.in_channels, columns = g.out_channels;
  const Depths s{.outer = g.out_height,
                 .inner = g.out_width,
                 .a_outer = g.stride_height * p.line(),
                 .a_inner = g.stride_width * g.in_channels,
                 .b_outer = g.out_width * columns,
                 .b_inner = columns};
  for (int64_t y = 0; y < g.filter_height; ++y) {
    AllRows<kRows, kVecs, true>(padded + y * g.dilation_height * p.line(), 1, line, out_grad,
                                columns, s, sums + y * line * columns);
  }
}

using ImageLoop = void (*)(const ConvGeometry& g, const Padded& p, const float* padded,
                           const float* b, float* to);
// Where the outputs are a multiple of 32, and else.
SLUICE_AVX512 void WideForward(const ConvGeometry& g, const Padded& p, const float* padded,
                               const float* filter, float* out) {
  ImageForward<12, 2>(g, p, padded, filter, out);
}
SLUICE_AVX512 void NarrowForward(const ConvGeometry& g, const Padded& p, const float* padded,
                                 const float* filter, float* out) {
  ImageForward<12, 1>(g, p, padded, filter, out);
}
SLUICE_AVX512 void WideByFilter(const ConvGeometry& g, const Padded& p, const float* padded,
                                const float* out_grad, float* sums) {
  ImageByFilter<12, 2>(g, p, padded, out_grad, sums);
}
SLUICE_AVX512 void NarrowByFilter(const ConvGeometry& g, const Padded& p, const float* padded,
                                  const float* out_grad, float* sums) {
  ImageByFilter<12, 1>(g, p, padded, out_grad, sums);
}

bool IsNarrow(const ConvGeometry& g) { return g.out_channels % (2 * kVecLanes) != 0; }

// Nanoseconds of an image.
double ImageCost(const ConvGeometry& g) {
  return static_cast<double>(g.out_height * g.out_width) * static_cast<double>(g.patch()) *
         static_cast<double>(g.out_channels) / 40;
}

}  // namespace

bool Fits(const ConvGeometry& g) {
  constexpr int64_t kPaddedMax = 1 << 18;  // elements
  if (!HasAvx512()) return false;
  if (g.groups != 1 || g.dilation_width != 1 || g.out_channels % kVecLanes != 0) return false;
  if (g.out_height < 1 || g.out_width < 4 || g.pad_left < 0) return false;
  // What is not shared between images is one thread's. Each side is looked at first: strides and
  // paddings can make them so large that there is no product.
  const Padded p = PaddedOf(g);
  return g.batch >= 4 && std::max({p.height, p.width, p.channels}) <= kPaddedMax &&
         p.size() <= kPaddedMax;
}

absl::Status Forward(KernelContext& context, const ConvGeometry& g, const float* in,
                     const float* filter, float* out) {
  const Padded p = PaddedOf(g);
  const ImageLoop loop = IsNarrow(g) ? NarrowForward : WideForward;
  const int64_t in_size = g.in_height * g.in_width * g.in_channels;
  const int64_t out_size = g.out_height * g.out_width * g.out_channels;
  LoopScratch scratch;
  context.ParallelFor(g.batch, ImageCost(g), [&](int64_t begin, int64_t end) {
    float* padded = scratch.Get<float>(p.size());
    if (padded == nullptr) return;
    for (int64_t i = begin; i < end; ++i) {
      Pad(g, p, in + i * in_size, padded);
      loop(g, p, padded, filter, out + i * out_size);
    }
  });
  return scratch.status();
}

absl::Status ByFilter(KernelContext& context, const ConvGeometry& g, const float* in,
                      const float* out_grad, float* filter_grad) {
  constexpr int64_t kPartsMax = 8;  // each with sums of its own
  const Padded p = PaddedOf(g);
  const ImageLoop loop = IsNarrow(g) ? NarrowByFilter : WideByFilter;
  const int64_t in_size = g.in_height * g.in_width * g.in_channels;
  const int64_t out_size = g.out_height * g.out_width * g.out_channels;
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
        Pad(g, p, in + i * in_size, padded);
        loop(g, p, padded, out_grad + i * out_size, sums + part * size);
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
