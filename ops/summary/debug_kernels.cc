// Kernels of the ops that TensorFlow's debugger adds.
#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/cast_loops.h"
#include "ops/summary/debug_dump.h"

namespace sluice {
namespace {

absl::Status Copy(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (!in.IsInitialized() || !IsPlainBytes(in.dtype())) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor copy, in.Clone(*c.step().allocator));
  c.set_output(0, std::move(copy));
  return absl::OkStatus();
}
KERNEL(Copy, FunctionKernel<Copy>);
KERNEL(CopyHost, FunctionKernel<Copy>);

using Dump = Prepared<DebugDump::Of>;

absl::Status OutputNothing(KernelContext& c) { return c.AllocateOutput(0, {0}).status(); }

absl::Status DebugIdentity(KernelContext& c, const Dump& dump) {
  if (!dump->is_open()) return OutputNothing(c);
  SLUICE_RETURN_IF_ERROR(dump->Write(c.input(0)));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}
KERNEL(DebugIdentity, FunctionKernel<DebugIdentity>);
KERNEL(DebugIdentityV3, FunctionKernel<DebugIdentity>);

absl::Status DebugIdentityV2(KernelContext& c,
                             const Attr<std::vector<std::string>, "debug_urls">& urls) {
  for (const std::string& url : urls.value) {
    if (!url.starts_with("file://")) {
      return absl::InternalError(StrCat("Unsupported debug URL schema in: ", url));
    }
    return absl::UnimplementedError(
        StrCat("DebugIdentityV2 node '", c.name(), "': expected no debug_urls, got ", url));
  }
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}
KERNEL(DebugIdentityV2, FunctionKernel<DebugIdentityV2>);

// The number of elements of each kind in a tensor.
struct Kinds {
  int64_t nan = 0, negative_infinite = 0, negative = 0, zero = 0, positive = 0,
          positive_infinite = 0;

  bool AreFinite() const { return nan + negative_infinite + positive_infinite == 0; }
  // Counts `x`. Numbers up to `low` and from `high` on count as infinite.
  void Count(double x, double low, double high) {
    if (std::isnan(x)) {
      ++nan;
    } else if (x <= low) {
      ++negative_infinite;
    } else if (x >= high) {
      ++positive_infinite;
    } else {
      ++(x < 0 ? negative : x > 0 ? positive : zero);
    }
  }
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

absl::StatusOr<Tensor> InDouble(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (!in.IsInitialized()) return Tensor(DT_DOUBLE, {0});
  SLUICE_ASSIGN_OR_RETURN(Tensor wide, c.AllocateTemp(DT_DOUBLE, in.shape()));
  FindCastLoop(in.dtype(), DT_DOUBLE, false)(in.raw(), wide.raw(), in.num_elements());
  return wide;
}

absl::Status DebugNanCount(KernelContext& c, const Dump& dump) {
  if (!dump->is_open()) return OutputNothing(c);
  SLUICE_ASSIGN_OR_RETURN(const Tensor x, InDouble(c));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {1}));
  const auto numbers = x.flat<double>();
  *out->data<int64_t>() =
      std::count_if(numbers.begin(), numbers.end(), [](double v) { return std::isnan(v); });
  return dump->Write(*out);
}
constexpr TypeSet kReals = RealTypes();
KERNEL(DebugNanCount, FunctionKernel<DebugNanCount>, {"T", kReals});

absl::Status DebugNumericSummary(KernelContext& c, const Dump& dump, Attr<float, "lower_bound"> low,
                                 Attr<float, "upper_bound"> high,
                                 Attr<bool, "mute_if_healthy"> mutes) {
  if (!dump->is_open()) return OutputNothing(c);
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Tensor x, InDouble(c));
  Kinds kinds;
  int64_t finite = 0;
  double least = kInfinity, most = -kInfinity, sum = 0;
  for (double v : x.flat<double>()) {
    // If a bound is infinite, only infinities count as infinite.
    kinds.Count(v, std::isinf(low) ? -kInfinity : low, std::isinf(high) ? kInfinity : high);
    if (!std::isfinite(v)) continue;
    least = std::min(least, v);
    most = std::max(most, v);
    sum += v;
    ++finite;
  }
  double mean = std::numeric_limits<double>::quiet_NaN(), variance = mean;
  if (finite > 0) {
    mean = sum / static_cast<double>(finite);
    variance = 0;
    for (double v : x.flat<double>()) {
      if (std::isfinite(v)) variance += (v - mean) * (v - mean);
    }
    variance /= static_cast<double>(finite);
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {14 + in.rank()}));
  double* to = out->data<double>();
  for (int64_t n :
       {int64_t{in.IsInitialized()}, x.num_elements(), kinds.nan, kinds.negative_infinite,
        kinds.negative, kinds.zero, kinds.positive, kinds.positive_infinite}) {
    *to++ = static_cast<double>(n);
  }
  for (double v : {least, most, mean, variance}) *to++ = v;
  *to++ = in.dtype();
  *to++ = in.rank();
  for (int64_t size : in.shape().dims()) *to++ = static_cast<double>(size);
  return mutes && kinds.AreFinite() ? absl::OkStatus() : dump->Write(*out);
}
constexpr TypeSet kSummarized = IntTypes() | TypeSet{DT_FLOAT, DT_DOUBLE, DT_BOOL};
KERNEL(DebugNumericSummary, FunctionKernel<DebugNumericSummary>, {"T", kSummarized});

// The values of tensor_debug_mode.
enum Mode { kCurtHealth = 2, kConciseHealth = 3, kFullHealth = 4, kShape = 5, kThreeSlots = 8 };

absl::StatusOr<std::vector<double>> Summary(KernelContext& c, int64_t mode, double id) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Tensor x, InDouble(c));
  Kinds k;
  for (double v : x.flat<double>()) k.Count(v, -kInfinity, kInfinity);
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  const double size = count(in.num_elements()), type = in.dtype(), rank = in.rank();
  switch (mode) {
    case kCurtHealth:
      return std::vector<double>{id, k.AreFinite() ? 0.0 : 1.0};
    case kConciseHealth:
      return std::vector<double>{id, size, count(k.negative_infinite), count(k.positive_infinite),
                                 count(k.nan)};
    case kFullHealth:
      return std::vector<double>{id,
                                 -1,
                                 type,
                                 rank,
                                 size,
                                 count(k.negative_infinite),
                                 count(k.positive_infinite),
                                 count(k.nan),
                                 count(k.negative),
                                 count(k.zero),
                                 count(k.positive)};
    case kShape: {
      // The shape consists of the last six sizes, followed by zeros.
      std::vector<double> values = {id, type, rank, size};
      for (int d = std::max(0, in.rank() - 6); d < in.rank(); ++d) {
        values.push_back(count(in.dim(d)));
      }
      values.resize(10, 0.0);
      return values;
    }
    case kThreeSlots:
      return std::vector<double>{k.negative_infinite > 0 ? -kInfinity : 0.0,
                                 k.positive_infinite > 0 ? kInfinity : 0.0,
                                 k.nan > 0 ? std::numeric_limits<double>::quiet_NaN() : 0.0};
    default:
      return absl::UnimplementedError(StrCat("Unimplemented tensor debug mode: ", mode));
  }
}

template <typename F>
absl::Status DebugNumericSummaryV2(KernelContext& c, Attr<int64_t, "tensor_debug_mode"> mode,
                                   Attr<int64_t, "tensor_id"> id) {
  constexpr int kDigits = std::numeric_limits<F>::digits;
  SLUICE_INVALID_IF(mode != kThreeSlots && id > int64_t{1} << kDigits,
                    "DebugNumericSummaryV2 node '", c.name(),
                    "': DebugNumericSummaryV2Op requires tensor_id to be less than or equal to (2^",
                    kDigits, "). Given tensor_id:", id.value);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<double> values,
                          Summary(c, mode, static_cast<double>(id)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {static_cast<int64_t>(values.size())}));
  std::transform(values.begin(), values.end(), out->data<F>(),
                 [](double v) { return static_cast<F>(v); });
  return absl::OkStatus();
}
constexpr TypeSet kSummarizedV2 = RealTypes() | TypeSet{DT_BOOL};
KERNEL(DebugNumericSummaryV2, FunctionKernel<DebugNumericSummaryV2<float>>, {"T", kSummarizedV2},
       {"output_dtype", DT_FLOAT});
KERNEL(DebugNumericSummaryV2, FunctionKernel<DebugNumericSummaryV2<double>>, {"T", kSummarizedV2},
       {"output_dtype", DT_DOUBLE});

}  // namespace
}  // namespace sluice
