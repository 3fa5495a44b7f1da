// Kernels of MaxPoolWithArgmax and of its gradient.
#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/with_type.h"
#include "ops/loops/wrapping.h"
#include "ops/pool/greatest.h"
#include "ops/pool/pool_geometry.h"
#include "ops/pool/pool_windows.h"

namespace sluice {
namespace {

// If `counts_batch` is true, indices count over the batch instead of over the image.
template <typename T>
absl::Status MaxPoolWithArgmax(KernelContext& c, const PoolAttrs& attrs,
                               Attr<bool, "include_batch_in_index"> counts_batch) {
  const Tensor& in = c.input(0);
  SLUICE_INVALID_IF(in.num_elements() == 0, "tensor_in must not be empty, got shape ",
                    in.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs.Of(c, in.shape(), 1));
  const WindowGeometry& g = pool.g;
  SLUICE_RETURN_IF_ERROR(CheckPixels(g));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, pool.pooled));
  SLUICE_ASSIGN_OR_RETURN(Tensor * places, c.AllocateOutput(1, pool.pooled));
  const T* x = in.data<T>();
  T* y = out->data<T>();
  WithType(IndexList(), places->dtype(), [&]<typename Index>() {
    Index* to = places->data<Index>();
    c.ParallelFor(LinesOf(g), ElementsOfLine(g), [&](int64_t begin, int64_t end) {
      ForGreatest(c, g, x, begin, end, [&](int64_t output, int64_t base, int64_t at) {
        y[output] = x[base + at];
        to[output] = static_cast<Index>(counts_batch ? base + at : at);
      });
    });
  });
  return absl::OkStatus();
}
FUNCTION_KERNELS(MaxPoolWithArgmax, "T", MaxPoolWithArgmax, RealList);

// If `counts_batch` is true, indices count over the batch instead of over the image.
template <typename T>
absl::Status MaxPoolGradWithArgmax(KernelContext& c, const PoolAttrs& attrs,
                                   Attr<bool, "include_batch_in_index"> counts_batch) {
  const Tensor &in = c.input(0), &grad = c.input(1), &places = c.input(2);
  SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs.Of(c, in.shape(), 3));
  const WindowGeometry& g = pool.g;
  SLUICE_RETURN_IF_ERROR(CheckShape("grad", grad, pool.pooled));
  SLUICE_RETURN_IF_ERROR(CheckShape("argmax", places, pool.pooled));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  T* to = out->data<T>();
  std::fill_n(to, out->num_elements(), T(0));
  for (int64_t i = 0; i < grad.num_elements(); ++i) {
    const int64_t base = i / g.out_image() * g.in_image(), place = IntAt(places, i);
    const int64_t first = counts_batch ? base : 0;
    SLUICE_INVALID_IF(place < first || place - first >= g.in_image(),
                      "argmax must be in its image of ", g.in_image(), " elements, got ", place);
    T& sum = to[base + place - first];
    sum = WrappingAdd(sum, grad.data<T>()[i]);
  }
  return absl::OkStatus();
}
FUNCTION_KERNELS(MaxPoolGradWithArgmax, "T", MaxPoolGradWithArgmax, RealList);

}  // namespace
}  // namespace sluice
