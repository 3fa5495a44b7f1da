#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

// Computes y = g if x > 0, and alpha * g otherwise. For the activation itself, g is x.
template <typename T>
SLUICE_TARGET_CLONES void Leak(const T* g, const T* x, T* y, int64_t n, float alpha) {
  using Wide = elementwise::Wide<T>;
  const Wide a = static_cast<Wide>(T(alpha));
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const Wide v = static_cast<Wide>(g[i]);
    y[i] = T(static_cast<Wide>(x[i]) > 0 ? v : v * a);
  }
}

// The kernel of LeakyRelu, which has one input, and of LeakyReluGrad, which has the incoming
// gradients before it.
template <typename T>
class LeakyReluKernel : public Kernel {
 public:
  explicit LeakyReluKernel(KernelInit& init) : alpha_(init.attr<float>("alpha")) {}

  absl::Status Compute(KernelContext& context) override {
    const bool is_gradient = context.num_inputs() == 2;
    const Tensor& g = context.input(0);
    const Tensor& x = context.input(is_gradient ? 1 : 0);
    SLUICE_INVALID_IF(!(g.shape() == x.shape()), "Inputs to operation ", context.name(),
                      " of type ", context.node().op(),
                      " must have the same size and shape.  Input 0: ", g.shape().ToString(),
                      " != input 1: ", x.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor * y, context.AllocateOutput(0, x.shape()));
    ForBlocks(context, x.num_elements(), 0.3, 3 * sizeof(T), [&](int64_t begin, int64_t end) {
      Leak(g.data<T>() + begin, x.data<T>() + begin, y->data<T>() + begin, end - begin, alpha_);
    });
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const float alpha_;
};
KERNELS(LeakyRelu, "T", LeakyReluKernel, FloatList);
KERNELS(LeakyReluGrad, "T", LeakyReluKernel, FloatList);

}  // namespace
}  // namespace sluice
