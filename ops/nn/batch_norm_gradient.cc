#include "ops/nn/batch_norm_gradient.h"

#include <string>
#include <vector>

#include "ops/array/concat_builders.h"
#include "ops/array/identity_builders.h"
#include "ops/array/reshape_builders.h"
#include "ops/array/transpose_builders.h"
#include "ops/gradient_nodes.h"
#include "ops/math/arithmetic_builders.h"
#include "ops/math/cast_builders.h"
#include "ops/math/power_builders.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

struct Gradients3 {
  Output x, scale, offset;
};

Gradients3 GradOp(Backprop& b, Output y_grad, Output x, Output mean, Output variance,
                  const std::string& data_format) {
  const std::string version = b.op().op().substr(sizeof("FusedBatchNorm") - 1);
  OutputList inputs = {y_grad, x, b.Value("scale"), mean, variance};
  if (version == "V3") inputs.push_back(b.Value("reserve_space_3"));
  const OutputList outputs =
      SiblingOutputs(b, "FusedBatchNormGrad" + version, inputs, {{"data_format", data_format}});
  return {outputs[0], outputs[1], outputs[2]};
}

Output Permuted(Output x, const std::vector<int64_t>& order) { return Transpose(x, order); }

// Builds the gradient op from elementary ops, which have gradients themselves.
class Written {
 public:
  explicit Written(Backprop& b)
      : b_(b),
        dtype_(BaseType(b.Value("x").dtype())),
        epsilon_(b.attr<float>("epsilon")),
        format_(b.attr<std::string>("data_format")),
        channels_last_(!format_.starts_with("NC")) {
    const int rank = static_cast<int>(format_.size());
    for (int i = 0; i < rank; ++i) {
      if (i != (channels_last_ ? rank - 1 : 1)) axes_.push_back(i);
    }
  }

  Gradients3 Training(Output y_grad, Output x, Output scale) {
    y_grad = Widened(y_grad);
    x = Widened(x);
    const bool keep = !channels_last_;
    scale = PerChannel(scale);
    Output y_grad_mean = MeanOf(y_grad, keep), x_mean = MeanOf(x, keep);
    Output variance = MeanOf(SquaredDifference(x, StopGradient(x_mean)), keep);
    Output x_offset = x - x_mean;
    Output product = y_grad * x_offset;
    Output shifted = variance + epsilon_;
    Output by_x = scale * Rsqrt(shifted) *
                  (y_grad - y_grad_mean - Reciprocal(shifted) * MeanOf(product, keep) * x_offset);
    Output by_scale = Rsqrt(shifted) * SumOf(product, keep);
    if (keep) by_scale = Squeeze(by_scale);
    return {Narrowed(by_x), by_scale, SumOf(y_grad, false)};
  }

  Gradients3 Inference(Output y_grad, Output x, Output scale, Output mean, Output variance) {
    y_grad = Widened(y_grad);
    x = Widened(x);
    mean = PerChannel(mean);
    variance = PerChannel(variance);
    scale = PerChannel(scale);
    Output factor = Rsqrt(variance + epsilon_);
    Output by_scale = SumOf(y_grad * (x - mean) * factor, false);
    return {Narrowed(y_grad * scale * factor), by_scale, SumOf(y_grad, false)};
  }

 private:
  // Converts to float, because sums in 16-bit types would be too imprecise.
  Output Widened(Output x) { return dtype_ == DT_FLOAT ? x : Cast(x, DT_FLOAT); }
  Output Narrowed(Output x) { return dtype_ == DT_FLOAT ? x : Cast(x, dtype_); }
  Output MeanOf(Output x, bool keep) { return ReduceMean(x, axes_, {.keep_dims = keep}); }
  Output SumOf(Output x, bool keep) { return ReduceSum(x, axes_, {.keep_dims = keep}); }
  // Reshapes a vector with an element per channel, so that it broadcasts against x.
  Output PerChannel(Output vector) {
    if (channels_last_) return vector;
    Output one = Constant(b_.graph(), 1, "Reshape/shape/0");
    OutputList shape(format_.size(), one);
    shape[1] = SizeOf(vector);
    return Reshape(vector, Pack(shape, {.name = "Reshape/shape"}));
  }

  Backprop& b_;
  const DataType dtype_;
  const double epsilon_;
  const std::string format_;
  const bool channels_last_;
  std::vector<int64_t> axes_;
};

}  // namespace

void BatchNormGradient(Backprop& b) {
  const std::string format = b.attr<std::string>("data_format");
  Output x = b.Value("x"), y_grad = b.Of("y");
  Gradients3 grads;
  if (b.attr<bool>("is_training")) {
    grads = GradOp(b, y_grad, x, b.Value("reserve_space_1"), b.Value("reserve_space_2"), format);
  } else if (!format.starts_with("NC")) {
    grads = GradOp(b, y_grad, x, b.Value("mean"), b.Value("variance"), format);
  } else {
    const bool volume = format == "NCDHW";
    const std::vector<int64_t> last =
        volume ? std::vector<int64_t>{0, 2, 3, 4, 1} : std::vector<int64_t>{0, 2, 3, 1};
    const std::vector<int64_t> first =
        volume ? std::vector<int64_t>{0, 4, 1, 2, 3} : std::vector<int64_t>{0, 3, 1, 2};
    Output x_last = Permuted(x, last);
    grads = GradOp(b, Permuted(y_grad, last), x_last, b.Value("mean"), b.Value("variance"),
                   volume ? "NDHWC" : "NHWC");
    grads.x = Permuted(grads.x, first);
  }
  b.Into("x", grads.x);
  b.Into("scale", grads.scale);
  b.Into("offset", grads.offset);
}

void BatchNormSecondGradient(Backprop& b) {
  Output y_grad = b.Value("y_backprop"), x = b.Value("x"), scale = b.Value("scale");
  Written written(b);
  const Gradients3 grads = b.attr<bool>("is_training")
                               ? written.Training(y_grad, x, scale)
                               : written.Inference(y_grad, x, scale, b.Value("reserve_space_1"),
                                                   b.Value("reserve_space_2"));
  absl::StatusOr<std::vector<Grad>> second =
      Gradients({grads.x, grads.scale, grads.offset}, {y_grad, x, scale},
                {.grad_ys = {b.Of("x_backprop"), b.Of("scale_backprop"), b.Of("offset_backprop")},
                 .stop_gradients = {y_grad, x, scale}});
  if (!second.ok()) return b.Fail(second.status());
  b.Into("y_backprop", (*second)[0]);
  b.Into("x", (*second)[1]);
  b.Into("scale", (*second)[2]);
}

}  // namespace sluice
