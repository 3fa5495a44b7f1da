// Kernels of FractionalMaxPool and FractionalAvgPool, and of their gradients.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/wrapping.h"
#include "ops/random/philox.h"

namespace sluice {
namespace {

// Draws the borders of `parts` pieces of [0, size). Each piece has size / parts elements, rounded
// up or down. Uses random numbers in the same order as TensorFlow.
class Borders {
 public:
  explicit Borders(Philox generator) : generator_(generator) {}

  std::vector<int64_t> Draw(int64_t size, int64_t parts, bool is_pseudo_random) {
    std::vector<int64_t> sizes(static_cast<size_t>(parts), size / parts);
    // Like TensorFlow, draws numbers even if all pieces have the same size.
    if (is_pseudo_random) {
      PseudoRandom(size, &sizes);
    } else {
      Random(size, &sizes);
    }
    std::vector<int64_t> borders = {0};
    for (int64_t s : sizes) borders.push_back(borders.back() + s);
    return borders;
  }

 private:
  // Puts the larger and the smaller pieces in a random order.
  void Random(int64_t size, std::vector<int64_t>* sizes) {
    const auto n = sizes->size();
    for (size_t i = 0; i < static_cast<size_t>(size) % n; ++i) ++(*sizes)[i];
    Philox own = generator_;
    generator_.Skip((n + 3) / 4);
    SingleNumbers next(&own);
    for (size_t i = 0; i + 1 < n; ++i) {
      std::swap((*sizes)[i], (*sizes)[i + next() % static_cast<uint32_t>(n - i)]);
    }
  }

  // Sets border i to ceil(ratio * (i + u)). Only the offset u is random. It is bounded so that the
  // first and the last piece have a valid size.
  void PseudoRandom(int64_t size, std::vector<int64_t>* sizes) {
    const auto n = static_cast<int64_t>(sizes->size());
    const double ratio = static_cast<double>(size) / static_cast<double>(n);
    const auto small = static_cast<double>(size / n);
    const double first_fits = (small + 2) / ratio - 1;
    const double last_fits =
        (static_cast<double>(size) + 1 - small) / ratio - static_cast<double>(n - 1);
    Philox own = generator_;
    generator_.Skip(1);
    const Philox::Results numbers = own();
    const uint64_t bits = (uint64_t{numbers[0] & 0xfffffu} << 32) | numbers[1];
    const double unit = std::bit_cast<double>(bits | (uint64_t{1023} << 52)) - 1.0;
    const double u = unit * std::min(first_fits, last_fits);
    int64_t last = 1;
    for (int64_t i = 1; i <= n; ++i) {
      const int64_t border =
          i == n ? size + 1 : static_cast<int64_t>(std::ceil(ratio * (static_cast<double>(i) + u)));
      (*sizes)[static_cast<size_t>(i - 1)] = border - last;
      last = border;
    }
  }

  Philox generator_;
};

// The cells along one dimension. Cell i is [First(i), Last(i)).
struct Cells {
  const int64_t* borders;
  bool overlap;  // whether a cell includes the first element of the next one
  int64_t size;  // of the image

  int64_t First(int64_t i) const { return borders[i]; }
  int64_t Last(int64_t i) const { return std::min(borders[i + 1] + (overlap ? 1 : 0), size); }
};

// Calls f(pixel, cell) for each pixel of each cell. Both are numbered over the whole batch.
template <typename F>
void ForCells(int64_t batch, const Cells& rows, int64_t out_rows, const Cells& columns,
              int64_t out_columns, const F& f) {
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < out_rows; ++i) {
      for (int64_t j = 0; j < out_columns; ++j) {
        const int64_t cell = (b * out_rows + i) * out_columns + j;
        for (int64_t y = rows.First(i); y < rows.Last(i); ++y) {
          for (int64_t x = columns.First(j); x < columns.Last(j); ++x) {
            f((b * rows.size + y) * columns.size + x, cell);
          }
        }
      }
    }
  }
}

template <typename T, bool kMax>
class FractionalPoolKernel : public Kernel {
 public:
  explicit FractionalPoolKernel(KernelInit& init)
      : ratio_(init.attr<std::vector<float>>("pooling_ratio")),
        is_pseudo_random_(init.attr<bool>("pseudo_random")),
        overlap_(init.attr<bool>("overlapping")),
        is_deterministic_(init.attr<bool>("deterministic")),
        seed_(init.attr<int64_t>("seed")),
        seed2_(init.attr<int64_t>("seed2")) {
    if (is_deterministic_ && seed_ == 0 && seed2_ == 0) {
      seed_ = NewSeed();
      seed2_ = NewSeed();
    }
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_RETURN_IF_ERROR(Check(in));
    int64_t sizes[4];
    for (int d = 0; d < 4; ++d) {
      // There must not be more cells than elements. But floats beyond 2^24 are rounded, so the
      // quotient may exceed the size.
      const float size = std::floor(static_cast<float>(in.dim(d)) / ratio_[d]);
      const bool is_whole = ratio_[d] == 1 || size >= static_cast<float>(in.dim(d));
      sizes[d] = is_whole ? in.dim(d) : static_cast<int64_t>(size);
      SLUICE_INVALID_IF(sizes[d] <= 0, "output size must be positive, got ", sizes[d],
                        " for dimension ", d, " of ", in.shape().ToString());
    }
    const bool is_fixed = seed_ != 0 || seed2_ != 0;
    Borders draw(is_fixed
                     ? Philox(static_cast<uint64_t>(seed_), static_cast<uint64_t>(seed2_))
                     : Philox(static_cast<uint64_t>(NewSeed()), static_cast<uint64_t>(NewSeed())));
    const std::vector<int64_t> rows = draw.Draw(in.dim(1), sizes[1], is_pseudo_random_);
    const std::vector<int64_t> columns = draw.Draw(in.dim(2), sizes[2], is_pseudo_random_);
    SLUICE_ASSIGN_OR_RETURN(
        Tensor * out, c.AllocateOutput(0, TensorShape({sizes[0], sizes[1], sizes[2], sizes[3]})));
    Pool({rows.data(), overlap_, in.dim(1)}, {columns.data(), overlap_, in.dim(2)}, in, out);
    c.set_output(1, Tensor::Vector<int64_t>(rows));
    c.set_output(2, Tensor::Vector<int64_t>(columns));
    return absl::OkStatus();
  }

 private:
  static int64_t NewSeed() {
    static thread_local std::mt19937_64 random(std::random_device{}());
    return static_cast<int64_t>(random() | 1);
  }

  absl::Status Check(const Tensor& in) const {
    SLUICE_INVALID_IF(ratio_.size() != 4, "pooling_ratio field must specify 4 dimensions, got ",
                      ratio_.size());
    for (float r : ratio_) {
      SLUICE_INVALID_IF(!(r >= 1), "pooling_ratio cannot be smaller than 1, got: ", r);
    }
    if (ratio_[0] != 1 || ratio_[3] != 1) {
      return absl::UnimplementedError(
          StrCat("Fractional ", kMax ? "max" : "average",
                 " pooling is not yet supported on the batch nor channel dimension."));
    }
    SLUICE_INVALID_IF(!is_deterministic_ && (seed_ != 0 || seed2_ != 0),
                      "Both seed and seed2 should be 0 if deterministic is false.");
    if (in.rank() == 4) return absl::OkStatus();
    return InvalidArgument("tensor_in must be 4-dimensional, got shape ", in.shape().ToString());
  }

  static void Pool(const Cells& rows, const Cells& columns, const Tensor& in, Tensor* out) {
    const int64_t n = in.dim(3), cells = out->num_elements() / std::max<int64_t>(n, 1);
    const T* x = in.data<T>();
    T* y = out->data<T>();
    std::fill_n(y, out->num_elements(), kMax ? std::numeric_limits<T>::lowest() : T(0));
    std::vector<int64_t> counts(static_cast<size_t>(cells));
    ForCells(in.dim(0), rows, out->dim(1), columns, out->dim(2), [&](int64_t pixel, int64_t cell) {
      ++counts[static_cast<size_t>(cell)];
      for (int64_t k = 0; k < n; ++k) {
        T& to = y[cell * n + k];
        to = kMax ? std::max(to, x[pixel * n + k]) : WrappingAdd(to, x[pixel * n + k]);
      }
    });
    if (kMax) return;
    for (int64_t i = 0; i < out->num_elements(); ++i) {
      y[i] /= static_cast<T>(counts[static_cast<size_t>(i / n)]);
    }
  }

  const std::vector<float> ratio_;
  const bool is_pseudo_random_, overlap_, is_deterministic_;
  int64_t seed_, seed2_;
};
template <typename T>
using FractionalMaxPoolKernel = FractionalPoolKernel<T, true>;
template <typename T>
using FractionalAvgPoolKernel = FractionalPoolKernel<T, false>;
using PoolTypes = TypeList<float, double, int32_t, int64_t>;
KERNELS(FractionalMaxPool, "T", FractionalMaxPoolKernel, PoolTypes);
KERNELS(FractionalAvgPool, "T", FractionalAvgPoolKernel, PoolTypes);

// Checks that borders increase within an image of `size`, and that there is one more border than
// cells.
absl::Status CheckBorders(const Tensor& borders, int64_t cells, int64_t size) {
  SLUICE_INVALID_IF(borders.rank() != 1 || borders.num_elements() - 1 != cells,
                    "pooling sequences must have one element more than the output's ", cells,
                    ", got shape ", borders.shape().ToString());
  const int64_t* b = borders.data<int64_t>();
  for (int64_t i = 0; i <= cells; ++i) {
    SLUICE_INVALID_IF(b[i] < 0 || b[i] > size || (i > 0 && b[i] <= b[i - 1]),
                      "pooling sequences must rise from 0 to the size of the image, ", size,
                      ", got ", b[i], " at ", i);
  }
  return absl::OkStatus();
}

absl::Status CheckPooled(const Tensor& in, const Tensor& pooled, const Tensor& grad) {
  for (const Tensor* t : {&in, &pooled, &grad}) {
    SLUICE_INVALID_IF(t->rank() != 4,
                      t == &in       ? "orig_input"
                      : t == &pooled ? "orig_output"
                                     : "out_backprop",
                      " should be a tensor of rank 4, got shape ", t->shape().ToString());
  }
  SLUICE_INVALID_IF(
      !(pooled.shape() == grad.shape()) || pooled.dim(0) != in.dim(0) || pooled.dim(3) != in.dim(3),
      "tensor_out_dup is not the same as tensor_out, or has another batch or channels than the "
      "input: out_backprop of shape ",
      grad.shape().ToString(), ", orig_output of shape ", pooled.shape().ToString(),
      " and orig_input of shape ", in.shape().ToString());
  return absl::OkStatus();
}

template <typename T>
absl::Status FractionalMaxPoolGrad(KernelContext& c, Attr<bool, "overlapping"> overlap) {
  const Tensor &in = c.input(0), &pooled = c.input(1), &grad = c.input(2);
  SLUICE_RETURN_IF_ERROR(CheckPooled(in, pooled, grad));
  SLUICE_RETURN_IF_ERROR(CheckBorders(c.input(3), pooled.dim(1), in.dim(1)));
  SLUICE_RETURN_IF_ERROR(CheckBorders(c.input(4), pooled.dim(2), in.dim(2)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  std::fill_n(out->data<T>(), out->num_elements(), T(0));
  if (pooled.num_elements() == 0) return absl::OkStatus();  // avoids loops over huge sizes
  const int64_t n = in.dim(3);
  std::vector<int64_t> places(static_cast<size_t>(pooled.num_elements()), -1);
  const T* x = in.data<T>();
  ForCells(in.dim(0), {c.input(3).data<int64_t>(), overlap, in.dim(1)}, pooled.dim(1),
           {c.input(4).data<int64_t>(), overlap, in.dim(2)}, pooled.dim(2),
           [&](int64_t pixel, int64_t cell) {
             for (int64_t k = 0; k < n; ++k) {
               int64_t& place = places[static_cast<size_t>(cell * n + k)];
               if (place < 0 || x[place] < x[pixel * n + k]) place = pixel * n + k;
             }
           });
  for (int64_t i = 0; i < pooled.num_elements(); ++i) {
    const int64_t place = places[static_cast<size_t>(i)];
    SLUICE_INVALID_IF(x[place] != pooled.data<T>()[i],
                      "orig_output must hold the greatest elements of orig_input's cells");
    T& sum = out->data<T>()[place];
    sum = WrappingAdd(sum, grad.data<T>()[i]);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(FractionalMaxPoolGrad, "T", FractionalMaxPoolGrad, PoolTypes);

template <typename T>
absl::Status FractionalAvgPoolGrad(KernelContext& c, Attr<bool, "overlapping"> overlap) {
  const Tensor &sizes = c.input(0), &grad = c.input(1);
  SLUICE_INVALID_IF(!sizes.shape().IsVector() || sizes.num_elements() != 4,
                    "original input tensor shape must be 1-dimensional and 4 elements");
  SLUICE_RETURN_IF_ERROR(ExpectRank(grad, 4, "out_backprop must be 4-dimensional, got shape "));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(sizes)));
  SLUICE_INVALID_IF(grad.dim(0) != shape.dim(0) || grad.dim(3) != shape.dim(3),
                    "out_backprop must have the batch and channels of the input, got ",
                    grad.shape().ToString(), " for ", shape.ToString());
  SLUICE_RETURN_IF_ERROR(CheckBorders(c.input(2), grad.dim(1), shape.dim(1)));
  SLUICE_RETURN_IF_ERROR(CheckBorders(c.input(3), grad.dim(2), shape.dim(2)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const int64_t count = out->num_elements();
  std::fill_n(out->data<T>(), count, T(0));
  if (grad.num_elements() == 0) return absl::OkStatus();  // avoids loops over huge sizes
  SLUICE_ASSIGN_OR_RETURN(Tensor in_double, c.AllocateTemp(DT_DOUBLE, shape));
  double* sums = in_double.data<double>();
  std::fill_n(sums, count, 0.0);
  const Cells rows{c.input(2).data<int64_t>(), overlap, shape.dim(1)};
  const Cells columns{c.input(3).data<int64_t>(), overlap, shape.dim(2)};
  const int64_t n = shape.dim(3);
  ForCells(shape.dim(0), rows, grad.dim(1), columns, grad.dim(2), [&](int64_t pixel, int64_t cell) {
    const int64_t i = cell / grad.dim(2) % grad.dim(1), j = cell % grad.dim(2);
    const auto size =
        static_cast<double>((rows.Last(i) - rows.First(i)) * (columns.Last(j) - columns.First(j)));
    for (int64_t k = 0; k < n; ++k) {
      sums[pixel * n + k] += static_cast<double>(grad.data<T>()[cell * n + k]) / size;
    }
  });
  std::transform(sums, sums + count, out->data<T>(), [](double v) { return static_cast<T>(v); });
  return absl::OkStatus();
}
FUNCTION_KERNELS(FractionalAvgPoolGrad, "T", FractionalAvgPoolGrad, PoolTypes);

}  // namespace
}  // namespace sluice
