#include <cmath>
#include <limits>

#include "executor/kernel/scratch.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"
#include "ops/nn/batch_norm_loops.h"

namespace sluice {
namespace {

// The attributes of the forward op and of the gradient op.
struct NormAttrs {
  explicit NormAttrs(KernelInit& init)
      : epsilon(init.attr<float>("epsilon")),
        is_training(init.attr<bool>("is_training")),
        rank(static_cast<int>(init.attr<std::string>("data_format").size())),
        channels(init.attr<std::string>("data_format").starts_with("NC") ? Channels::kFirst
                                                                         : Channels::kLast) {}
  int64_t ChannelsIn(const TensorShape& x) const {
    return x.dim(channels == Channels::kFirst ? 1 : x.rank() - 1);
  }
  absl::Status CheckImages(const char* what, const Tensor& t) const {
    if (t.rank() == 4 || t.rank() == rank) return absl::OkStatus();
    return InvalidArgument(what, " must be ", rank, "-dimensional", t.shape().ToString());
  }

  const float epsilon;
  const bool is_training;
  const int rank;
  const Channels channels;
};

absl::Status CheckVector(const char* what, const Tensor& t) {
  if (t.shape().IsVector()) return absl::OkStatus();
  return InvalidArgument(what, " must be 1-dimensional", t.shape().ToString());
}

absl::Status CheckSize(std::string_view when, const char* what, const Tensor& t, int64_t channels) {
  if (t.num_elements() == channels) return absl::OkStatus();
  return InvalidArgument(when, what,
                         " must have the same number of elements as the channels of x, ", "got ",
                         t.num_elements(), " and ", channels);
}

template <typename T>
class BatchNormKernel : public Kernel {
 public:
  explicit BatchNormKernel(KernelInit& init)
      : attrs_(init),
        new_share_(init.attr<float>("exponential_avg_factor")),
        activation_(init.AttrOr<std::string>("activation_mode", "Identity")) {}

  absl::Status Compute(KernelContext& context) override {
    SLUICE_RETURN_IF_ERROR(Check(context));
    const Tensor& x = context.input(0);
    const int64_t n = attrs_.ChannelsIn(x.shape());
    Tensor* stats[4];
    SLUICE_ASSIGN_OR_RETURN(Tensor * y, context.AllocateOutput(0, x.shape()));
    for (int i = 0; i < 4; ++i) {
      SLUICE_ASSIGN_OR_RETURN(stats[i], context.AllocateOutput(i + 1, {n}));
    }
    if (context.num_outputs() == 6) {
      SLUICE_ASSIGN_OR_RETURN(Tensor * unused, context.AllocateOutput(5, {}));
      unused->scalar<float>() = 0;
    }
    if (x.num_elements() == 0) {
      for (int i = 0; i < 4; ++i) {
        std::fill_n(stats[i]->data<float>(), n,
                    i < 2 ? std::numeric_limits<float>::quiet_NaN() : 0.0f);
      }
      return absl::OkStatus();
    }
    ReadImages<T> in;
    WrittenImages<T> out;
    SLUICE_RETURN_IF_ERROR(in.Open(context, x, attrs_.channels));
    SLUICE_RETURN_IF_ERROR(out.Open(context, y, attrs_.channels));
    const int64_t rows = x.num_elements() / n;
    float* mean = stats[2]->data<float>();
    float* variance = stats[3]->data<float>();
    if (attrs_.is_training) {
      SLUICE_RETURN_IF_ERROR(Measure(context, in.data(), rows, n, mean, variance));
      MixStatistics(context, rows, n, mean, variance, stats[0]->data<float>(),
                    stats[1]->data<float>());
    } else {
      for (int i = 0; i < 4; ++i) {
        std::copy_n(context.input(3 + i % 2).data<float>(), n, stats[i]->data<float>());
      }
    }
    Apply(context, in.data(), rows, n, mean, variance, out.data());
    SLUICE_RETURN_IF_ERROR(AddSideInput(context, rows * n, out.data()));
    return out.Close(context);
  }

 private:
  absl::Status Check(KernelContext& context) const {
    const Tensor& x = context.input(0);
    SLUICE_INVALID_IF(activation_ != "Identity" && activation_ != "Relu",
                      "expected activation_mode Identity or Relu, got '", activation_, "'");
    SLUICE_INVALID_IF(context.num_inputs() > 6, "FusedBatchNorm accepts at most one side input.");
    SLUICE_INVALID_IF(context.num_inputs() == 6 && !(context.input(5).shape() == x.shape()),
                      "side_input shape must be equal to input shape: ",
                      context.input(5).shape().ToString(), " != ", x.shape().ToString());
    static constexpr const char* kNames[] = {"", "scale", "offset", "mean", "variance"};
    SLUICE_RETURN_IF_ERROR(attrs_.CheckImages("input", x));
    for (int i = 1; i < 5; ++i) {
      SLUICE_RETURN_IF_ERROR(CheckVector(kNames[i], context.input(i)));
    }
    const int64_t n = attrs_.ChannelsIn(x.shape());
    for (int i = 1; i < 3; ++i) {
      SLUICE_RETURN_IF_ERROR(CheckSize("", kNames[i], context.input(i), n));
    }
    for (int i = 3; i < 5; ++i) {
      if (!attrs_.is_training) {
        SLUICE_RETURN_IF_ERROR(
            CheckSize("When is_training=false, ", kNames[i], context.input(i), n));
      } else if (new_share_ != 1) {
        SLUICE_RETURN_IF_ERROR(
            CheckSize("When exponential_avg_factor != 1, ", kNames[i], context.input(i), n));
      }
    }
    return absl::OkStatus();
  }

  // Computes the mean and the biased variance of each channel. Merges the results of blocks of rows
  // (Chan et al., 1979).
  static absl::Status Measure(KernelContext& context, const float* x, int64_t rows, int64_t n,
                              float* mean, float* variance) {
    const batch_norm::Blocks blocks(rows);
    SLUICE_ASSIGN_OR_RETURN(
        const Tensor partial,
        batch_norm::SumBlocks(context, blocks, 3 * n, 0.2 * static_cast<double>(n),
                              [&](int64_t first, int64_t count, float* sums) {
                                batch_norm::AddMoments(x + first * n, count, n, sums, sums + n,
                                                       sums + 2 * n);
                              }));
    const float* sums = partial.data<float>();
    const double all = static_cast<double>(rows);
    for (int64_t i = 0; i < n; ++i) {
      double total = 0, squares = 0;
      for (int64_t b = 0; b < blocks.count; ++b) {
        total += static_cast<double>(sums[b * 3 * n + i]);
      }
      for (int64_t b = 0; b < blocks.count; ++b) {
        const float* of = sums + b * 3 * n;
        const double away = static_cast<double>(of[n + i]) - total / all;
        // Corrects the effect of rounding the block's mean, about which the squares were summed.
        const double beside =
            static_cast<double>(of[i]) -
            static_cast<double>(of[n + i]) * static_cast<double>(blocks.rows_of(b));
        squares += static_cast<double>(of[2 * n + i]) +
                   away * (static_cast<double>(blocks.rows_of(b)) * away + 2 * beside);
      }
      mean[i] = static_cast<float>(total / all);
      variance[i] = static_cast<float>(squares / all);
    }
    return absl::OkStatus();
  }

  // Sets outputs batch_mean and batch_variance: makes the variance unbiased, and mixes both with
  // the old values.
  void MixStatistics(KernelContext& context, int64_t rows, int64_t n, const float* mean,
                     const float* variance, float* out_mean, float* out_variance) const {
    const float unbias =
        static_cast<float>(rows) / static_cast<float>(std::max<int64_t>(rows - 1, 1));
    for (int64_t i = 0; i < n; ++i) {
      out_mean[i] = mean[i];
      out_variance[i] = variance[i] * unbias;
    }
    if (new_share_ == 1) return;
    const float* old_mean = context.input(3).data<float>();
    const float* old_variance = context.input(4).data<float>();
    for (int64_t i = 0; i < n; ++i) {
      out_mean[i] = (1 - new_share_) * old_mean[i] + new_share_ * out_mean[i];
      out_variance[i] = (1 - new_share_) * old_variance[i] + new_share_ * out_variance[i];
    }
  }

  void Apply(KernelContext& context, const float* x, int64_t rows, int64_t n, const float* mean,
             const float* variance, float* y) const {
    const float* scale = context.input(1).data<float>();
    const float* offset = context.input(2).data<float>();
    auto factor = Scratch<float>(context, n);
    for (int64_t i = 0; i < n; ++i) {
      factor[i] = scale[i] / std::sqrt(variance[i] + attrs_.epsilon);
    }
    batch_norm::ForRows(context, rows, n, 0.15, [&](int64_t first, int64_t count) {
      batch_norm::Normalize(x + first * n, mean, factor.data(), offset, count, n, y + first * n);
    });
  }

  // Does the additional work of _FusedBatchNormEx: adds the side input and applies the activation.
  absl::Status AddSideInput(KernelContext& context, int64_t count, float* y) const {
    ReadImages<T> side;
    if (context.num_inputs() == 6) {
      SLUICE_RETURN_IF_ERROR(side.Open(context, context.input(5), attrs_.channels));
    }
    const float* added = context.num_inputs() == 6 ? side.data() : nullptr;
    const bool is_relu = activation_ == "Relu";
    if (added == nullptr && !is_relu) return absl::OkStatus();
    context.ParallelFor(count, 0.3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float sum = added == nullptr ? y[i] : y[i] + added[i];
        y[i] = is_relu && sum < 0 ? 0.0f : sum;
      }
    });
    return absl::OkStatus();
  }

  const NormAttrs attrs_;
  const float new_share_;
  const std::string activation_;
};

template <typename T>
class BatchNormGradKernel : public Kernel {
 public:
  explicit BatchNormGradKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& context) override {
    SLUICE_RETURN_IF_ERROR(Check(context));
    const Tensor &dy = context.input(0), &x = context.input(1);
    const int64_t n = attrs_.ChannelsIn(x.shape());
    SLUICE_ASSIGN_OR_RETURN(Tensor * dx, context.AllocateOutput(0, dy.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * dscale, context.AllocateOutput(1, {n}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * doffset, context.AllocateOutput(2, {n}));
    for (int i : {3, 4}) {
      SLUICE_RETURN_IF_ERROR(context.AllocateOutput(i, {0}).status());
    }
    if (x.num_elements() == 0) {
      std::fill_n(dscale->data<float>(), n, 0.0f);
      std::fill_n(doffset->data<float>(), n, 0.0f);
      return absl::OkStatus();
    }
    ReadImages<T> in, grad;
    WrittenImages<T> out;
    SLUICE_RETURN_IF_ERROR(grad.Open(context, dy, attrs_.channels));
    SLUICE_RETURN_IF_ERROR(in.Open(context, x, attrs_.channels));
    SLUICE_RETURN_IF_ERROR(out.Open(context, dx, attrs_.channels));
    SLUICE_RETURN_IF_ERROR(Run(context, grad.data(), in.data(), x.num_elements() / n, n, out.data(),
                               dscale->data<float>(), doffset->data<float>()));
    return out.Close(context);
  }

 private:
  absl::Status Check(KernelContext& context) const {
    const Tensor &dy = context.input(0), &x = context.input(1);
    SLUICE_RETURN_IF_ERROR(attrs_.CheckImages("input", dy));
    SLUICE_RETURN_IF_ERROR(attrs_.CheckImages("input", x));
    SLUICE_INVALID_IF(!(dy.shape() == x.shape()),
                      "x and y_backprop must have same shape, but x has shape ",
                      x.shape().ToString(), " and y_backprop has shape ", dy.shape().ToString());
    static constexpr const char* kNames[] = {"scale", "saved mean", "saved variance"};
    for (int i = 0; i < 3; ++i) {
      SLUICE_RETURN_IF_ERROR(CheckVector(kNames[i], context.input(2 + i)));
      SLUICE_RETURN_IF_ERROR(
          CheckSize("", kNames[i], context.input(2 + i), attrs_.ChannelsIn(x.shape())));
    }
    return absl::OkStatus();
  }

  absl::Status Run(KernelContext& context, const float* dy, const float* x, int64_t rows, int64_t n,
                   float* dx, float* dscale, float* doffset) const {
    const float* scale = context.input(2).data<float>();
    const float* mean = context.input(3).data<float>();
    const float* variance = context.input(4).data<float>();
    auto dy_sums = Scratch<double>(context, n), products = Scratch<double>(context, n);
    const batch_norm::Blocks blocks(rows);
    SLUICE_ASSIGN_OR_RETURN(
        const Tensor partial,
        batch_norm::SumBlocks(context, blocks, 2 * n, 0.25 * static_cast<double>(n),
                              [&](int64_t first, int64_t count, float* sums) {
                                batch_norm::AddProducts(dy + first * n, x + first * n, mean, count,
                                                        n, sums, sums + n);
                              }));
    for (int64_t b = 0; b < blocks.count; ++b) {
      const float* sums = partial.data<float>() + b * 2 * n;
      for (int64_t i = 0; i < n; ++i) {
        dy_sums[i] += static_cast<double>(sums[i]);
        products[i] += static_cast<double>(sums[n + i]);
      }
    }
    // In inference, mean and variance are constants, so the gradient is only multiplied by the
    // factor.
    auto factor = Scratch<float>(context, n), dy_mean = Scratch<float>(context, n);
    auto slope = Scratch<float>(context, n);
    for (int64_t i = 0; i < n; ++i) {
      const float inverse = 1 / std::sqrt(variance[i] + attrs_.epsilon);
      dscale[i] = static_cast<float>(products[i]) * inverse;
      doffset[i] = static_cast<float>(dy_sums[i]);
      factor[i] = scale[i] * inverse;
      if (!attrs_.is_training) continue;
      dy_mean[i] = static_cast<float>(dy_sums[i] / static_cast<double>(rows));
      slope[i] = static_cast<float>(products[i] / static_cast<double>(rows)) * inverse * inverse;
    }
    batch_norm::ForRows(context, rows, n, 0.2, [&](int64_t first, int64_t count) {
      batch_norm::Backward(dy + first * n, x + first * n, mean, dy_mean.data(), slope.data(),
                           factor.data(), count, n, dx + first * n);
    });
    return absl::OkStatus();
  }

  const NormAttrs attrs_;
};

KERNEL(FusedBatchNorm, BatchNormKernel<float>);
KERNEL(FusedBatchNormGrad, BatchNormGradKernel<float>);
#define SLUICE_BATCH_NORM(T)                                                            \
  KERNEL(FusedBatchNormV2, BatchNormKernel<T>, {"T", kDataTypeOf<T>});                  \
  KERNEL(FusedBatchNormV3, BatchNormKernel<T>, {"T", kDataTypeOf<T>}, {"U", DT_FLOAT}); \
  KERNEL(_FusedBatchNormEx, BatchNormKernel<T>, {"T", kDataTypeOf<T>});                 \
  KERNEL(FusedBatchNormGradV2, BatchNormGradKernel<T>, {"T", kDataTypeOf<T>});          \
  KERNEL(FusedBatchNormGradV3, BatchNormGradKernel<T>, {"T", kDataTypeOf<T>}, {"U", DT_FLOAT})
SLUICE_BATCH_NORM(half);
SLUICE_BATCH_NORM(bfloat16);
SLUICE_BATCH_NORM(float);
#undef SLUICE_BATCH_NORM

}  // namespace
}  // namespace sluice
