// Kernel of IsotonicRegression, by the pool-adjacent-violators algorithm.
// Reference: M. J. Best and N. Chakravarti, "Active set algorithms for isotonic regression; a
// unifying framework", Mathematical Programming 47, 1990.
#include <algorithm>
#include <limits>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Columns [begin, end) of a row. The best constant for them is their mean.
template <typename F>
struct Segment {
  int32_t begin, end;
  F sum, mean;

  // Adds the next segment to this one. For 16-bit types, each result is rounded.
  void Append(const Segment& next) {
    end = next.end;
    sum = F(sum + next.sum);
    mean = F(sum / F(end - begin));
  }
};

template <typename T, typename F>
void Regress(const T* x, int32_t n, std::vector<Segment<F>>& segments, F* y, int32_t* number) {
  segments.clear();
  for (int32_t i = 0; i < n; ++i) {
    segments.push_back({i, i + 1, F(x[i]), F(x[i])});
    while (segments.size() > 1 && segments.back().mean > segments.end()[-2].mean) {
      segments.end()[-2].Append(segments.back());
      segments.pop_back();
    }
  }
  for (size_t s = 0; s < segments.size(); ++s) {
    std::fill(y + segments[s].begin, y + segments[s].end, segments[s].mean);
    std::fill(number + segments[s].begin, number + segments[s].end, static_cast<int32_t>(s));
  }
}

template <typename T, typename F>
absl::Status IsotonicRegression(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int64_t n = in.rank() == 0 ? 1 : in.dim(in.rank() - 1);
  const int64_t rows = n == 0 ? 0 : in.num_elements() / n;
  SLUICE_INVALID_IF(std::max(n, rows) >= std::numeric_limits<int32_t>::max(),
                    "IsotonicRegression node '", c.name(), "': Tensor too large, got shape ",
                    in.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * numbers, c.AllocateOutput(1, in.shape()));
  c.ParallelFor(rows, 10.0 * static_cast<double>(n), [&](int64_t begin, int64_t end) {
    std::vector<Segment<F>> segments;
    segments.reserve(static_cast<size_t>(n));
    for (int64_t r = begin; r < end; ++r) {
      Regress(in.data<T>() + r * n, static_cast<int32_t>(n), segments, out->data<F>() + r * n,
              numbers->data<int32_t>() + r * n);
    }
  });
  return absl::OkStatus();
}

template <typename T, typename F>
bool RegisterIsotonic() {
  KernelRegistry::Global().Add(
      {.op = "IsotonicRegression",
       .constraints = {{"T", TypeSet(kDataTypeOf<T>)}, {"output_dtype", TypeSet(kDataTypeOf<F>)}},
       .make = &kernel_internal::MakeKernel<FunctionKernel<IsotonicRegression<T, F>>>});
  return true;
}
const bool kRegistered = RegisterIsotonic<float, float>() && RegisterIsotonic<double, double>() &&
                         RegisterIsotonic<half, half>() && RegisterIsotonic<bfloat16, bfloat16>() &&
                         RegisterIsotonic<int8_t, float>() && RegisterIsotonic<int16_t, float>() &&
                         RegisterIsotonic<int32_t, double>() && RegisterIsotonic<int64_t, double>();

}  // namespace
}  // namespace sluice
