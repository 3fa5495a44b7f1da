#include "ops/matmul/epilogue.h"

#include <cmath>
#include <map>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/ir/graph.h"

namespace sluice {

Epilogue::Epilogue(const KernelInit& init)
    : op_(init.node().op()),
      names_(init.attr<std::vector<std::string>>("fused_ops")),
      epsilon_(init.attr<float>("epsilon")),
      slope_(init.attr<float>("leakyrelu_alpha")) {
  static const std::map<std::string, Linear> kLinear = {{"BiasAdd", Linear::kBias},
                                                        {"FusedBatchNorm", Linear::kBatchNorm}};
  static const std::map<std::string, Activation> kActivations = {
      {"Relu", Activation::kRelu},
      {"Relu6", Activation::kRelu6},
      {"Elu", Activation::kElu},
      {"LeakyRelu", Activation::kLeakyRelu},
      {"Tanh", Activation::kTanh},
      {"Sigmoid", Activation::kSigmoid},
      {"GeluApproximate", Activation::kGelu},
      {"GeluExact", Activation::kGeluErf}};
  // The names are a linear op and, optionally, an activation after it.
  size_t next = 0;
  if (next < names_.size()) {
    if (auto it = kLinear.find(names_[next]); it != kLinear.end()) {
      linear_ = it->second;
      ++next;
    }
  }
  if (next < names_.size()) {
    if (auto it = kActivations.find(names_[next]); it != kActivations.end()) {
      activation_ = it->second;
      ++next;
    }
  }
  is_known_ = next == names_.size() && linear_ != Linear::kNone;
}

absl::Status Epilogue::Check(KernelContext& context, int first, int64_t channels) const {
  SLUICE_INVALID_IF(names_.empty(), "Fused ", absl::StripPrefix(op_, "_Fused"),
                    " must have at least one fused op");
  if (!is_known_) {
    return absl::UnimplementedError(
        StrCat("Fusion is not implemented: [", absl::StrJoin(names_, ","), "]"));
  }
  const int expected = linear_ == Linear::kBias ? 1 : 4;
  SLUICE_INVALID_IF(context.num_inputs() - first != expected, "Fused ", names_[0], " must have ",
                    expected, " arguments, got ", context.num_inputs() - first);
  for (int i = first; i < context.num_inputs(); ++i) {
    const Tensor& t = context.input(i);
    if (t.rank() == 1 && t.dim(0) == channels) continue;
    return InvalidArgument("argument ", i - first, " must be a vector of ", channels,
                           " elements, got shape ", t.shape().ToString());
  }
  return absl::OkStatus();
}

template <typename F>
F Epilogue::Activate(F x) const {
  switch (activation_) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < F(0) ? F(0) : x;
    case Activation::kRelu6:
      return x < F(0) ? F(0) : x > F(6) ? F(6) : x;
    case Activation::kElu:
      return x < F(0) ? std::expm1(x) : x;
    case Activation::kLeakyRelu:
      return x < F(0) ? x * static_cast<F>(slope_) : x;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return F(1) / (F(1) + std::exp(-x));
    case Activation::kGelu:  // 0.7978… is sqrt(2 / pi)
      return F(0.5) * x * (F(1) + std::tanh(F(0.7978845608028654) * (x + F(0.044715) * x * x * x)));
    case Activation::kGeluErf:  // 0.7071… is 1 / sqrt(2)
      return F(0.5) * x * (F(1) + std::erf(x * F(0.7071067811865476)));
  }
  return x;
}

template <typename T, typename F>
absl::Status Epilogue::Apply(KernelContext& context, int first, int64_t rows, int64_t channels,
                             F* data) const {
  SLUICE_RETURN_IF_ERROR(Check(context, first, channels));
  // Computes both kinds of linear ops as y * factor + shift.
  std::vector<F> factor(static_cast<size_t>(channels), F(1)), shift(static_cast<size_t>(channels));
  for (int64_t k = 0; k < channels; ++k) {
    const auto arg = [&](int i) { return static_cast<F>(context.input(first + i).data<T>()[k]); };
    if (linear_ == Linear::kBias) {
      shift[k] = arg(0);
    } else {
      factor[k] = arg(0) / std::sqrt(arg(3) + static_cast<F>(epsilon_));
      shift[k] = arg(1) - arg(2) * factor[k];
    }
  }
  const double cost = activation_ <= Activation::kRelu6 ? 0.5 : 5.0;
  context.ParallelFor(rows, cost * static_cast<double>(channels), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      F* row = data + r * channels;
      for (int64_t k = 0; k < channels; ++k) {
        row[k] = Activate(row[k] * factor[k] + shift[k]);
      }
    }
  });
  return absl::OkStatus();
}

template absl::Status Epilogue::Apply<half, float>(KernelContext&, int, int64_t, int64_t,
                                                   float*) const;
template absl::Status Epilogue::Apply<bfloat16, float>(KernelContext&, int, int64_t, int64_t,
                                                       float*) const;
template absl::Status Epilogue::Apply<float, float>(KernelContext&, int, int64_t, int64_t,
                                                    float*) const;
template absl::Status Epilogue::Apply<double, double>(KernelContext&, int, int64_t, int64_t,
                                                      double*) const;

}  // namespace sluice
