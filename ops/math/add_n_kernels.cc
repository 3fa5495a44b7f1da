#include "executor/kernel/elementwise_loops.h"
#include "executor/kernel/running_sum.h"
#include "ops/loops/add_to.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_TARGET_CLONES void AddLoop(const T* x, const T* y, T* sum, int64_t n) {
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) sum[i] = WrappingAdd(x[i], y[i]);
}

// All inputs are summed tile by tile, so that the sum stays in the L1 cache.
constexpr int64_t kTile = 2048;

template <typename T>
class AddNKernel : public SumKernel, public GroupLoops {
 public:
  const ElementwiseLoops* LoopsInGroup() const override {
    if constexpr (kIsFloat16<T>) return nullptr;  // the sum of floats is rounded only once
    static const ElementwiseLoops loops = {
        .both =
            [](const void* x, const void* y, void* sum, int64_t n) {
              AddLoop(static_cast<const T*>(x), static_cast<const T*>(y), static_cast<T*>(sum), n);
            },
        .is_sum = true,
        .in_size = sizeof(T),
        .out_size = sizeof(T),
        .cost = 0.1};
    return &loops;
  }
  absl::Status SumOf(KernelContext& context, int count) override {
    const TensorShape shape = context.input(0).shape();
    absl::InlinedVector<const T*, 32> inputs(count);
    for (int i = 0; i < count; ++i) {
      SLUICE_INVALID_IF(context.input(i).shape() != shape,
                        "Inputs to operation AddN of type AddN must have the same size and "
                        "shape.  Input 0: ",
                        shape.ToString(), " != input ", i, ": ",
                        context.input(i).shape().ToString());
      inputs[i] = context.input(i).template data<T>();
    }
    if (count == 1) {
      context.set_output(0, context.input(0));
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0}, 0, shape));
    T* sum = output->template data<T>();
    const size_t bytes = (static_cast<size_t>(count) + 1) * sizeof(T);
    ForBlocks(context, shape.num_elements(), 0.2 * count, bytes, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kTile) {
        const int64_t n = std::min(kTile, end - i);
        if constexpr (kIsFloat16<T>) {
          SumWide(inputs, sum, i, n);
        } else {
          AddLoop(inputs[0] + i, inputs[1] + i, sum + i, n);
          for (int k = 2; k < count; ++k) AddTo(sum + i, inputs[k] + i, n);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  // Adds in float, and rounds the sum once.
  static void SumWide(absl::Span<const T* const> inputs, T* sum, int64_t begin, int64_t n) {
    if constexpr (kIsFloat16<T>) {
      float total[kTile], wide[kTile];
      elementwise::Widen(inputs[0] + begin, total, n);
      for (size_t k = 1; k < inputs.size(); ++k) {
        elementwise::Widen(inputs[k] + begin, wide, n);
        AddTo(total, wide, n);
      }
      elementwise::Narrow(total, sum + begin, n);
    }
  }
};
KERNELS(AddN, "T", AddNKernel, NumberList);
KERNELS(AccumulateNV2, "T", AddNKernel, NumberList);

}  // namespace
}  // namespace sluice
