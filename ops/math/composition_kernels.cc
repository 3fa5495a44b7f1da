#include <cmath>
#include <string>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

// A loop that replaces each of n numbers by a function of it.
template <typename F>
using InPlaceLoop = void (*)(F* x, int64_t n);

// Returns the loop of a function, or null if TensorFlow does not compose the function.
template <typename F>
InPlaceLoop<F> FunctionOf(const std::string& name) {
  struct Entry {
    const char* name;
    InPlaceLoop<F> run;
  };
#define SLUICE_FUNCTION(name, expression)           \
  {                                                 \
#name, [](F* v, int64_t n) {                      \
      for (int64_t i = 0; i < n; ++i) {               \
        const F x = v[i];                             \
        v[i] = expression;                            \
      }                                               \
    } \
  }
  static const Entry kFunctions[] = {
      SLUICE_FUNCTION(Abs, std::abs(x)),
      SLUICE_FUNCTION(Acos, std::acos(x)),
      SLUICE_FUNCTION(Acosh, std::acosh(x)),
      SLUICE_FUNCTION(Asin, std::asin(x)),
      SLUICE_FUNCTION(Asinh, std::asinh(x)),
      SLUICE_FUNCTION(Atan, std::atan(x)),
      SLUICE_FUNCTION(Atanh, std::atanh(x)),
      SLUICE_FUNCTION(Ceil, std::ceil(x)),
      SLUICE_FUNCTION(Cos, std::cos(x)),
      SLUICE_FUNCTION(Cosh, std::cosh(x)),
      SLUICE_FUNCTION(Elu, (x < F(0) ? std::expm1(x) : x)),
      SLUICE_FUNCTION(Exp, std::exp(x)),
      SLUICE_FUNCTION(Expm1, std::expm1(x)),
      SLUICE_FUNCTION(Floor, std::floor(x)),
      SLUICE_FUNCTION(Inv, F(1) / x),
      SLUICE_FUNCTION(Log, std::log(x)),
      SLUICE_FUNCTION(Log1p, std::log1p(x)),
      SLUICE_FUNCTION(Neg, -x),
      SLUICE_FUNCTION(Reciprocal, F(1) / x),
      SLUICE_FUNCTION(Relu, (x < F(0) ? F(0) : x)),
      SLUICE_FUNCTION(Relu6, (x < F(0)   ? F(0)
                              : x > F(6) ? F(6)
                                         : x)),
      SLUICE_FUNCTION(Rint, std::nearbyint(x)),
      SLUICE_FUNCTION(Round, std::nearbyint(x)),
      SLUICE_FUNCTION(Rsqrt, F(1) / std::sqrt(x)),
      // Source of the factors, which are scale * alpha and scale: Klambauer et al. (2017).
      SLUICE_FUNCTION(
          Selu, (x < F(0) ? F(1.7580993408473769) * std::expm1(x) : F(1.0507009873554805) * x)),
      SLUICE_FUNCTION(Sigmoid, F(1) / (F(1) + std::exp(-x))),
      SLUICE_FUNCTION(Sin, std::sin(x)),
      SLUICE_FUNCTION(Sinh, std::sinh(x)),
      SLUICE_FUNCTION(Sqrt, std::sqrt(x)),
      SLUICE_FUNCTION(Square, (x * x)),
      SLUICE_FUNCTION(Tan, std::tan(x)),
      SLUICE_FUNCTION(Tanh, std::tanh(x)),
  };
#undef SLUICE_FUNCTION
  for (const Entry& entry : kFunctions) {
    if (name == entry.name) return entry.run;
  }
  return nullptr;
}

template <typename T>
class CompositionKernel : public Kernel {
 public:
  using F = ImageElement<T>;
  explicit CompositionKernel(KernelInit& init)
      : names_(init.attr<std::vector<std::string>>("op_names")) {
    for (const std::string& name : names_) functions_.push_back(FunctionOf<F>(name));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_INVALID_IF(names_.empty(), "Unary op composition must have at least one op");
    for (size_t i = 0; i < names_.size(); ++i) {
      if (functions_[i] != nullptr) continue;
      return InvalidArgument("Do not have a compute function registered for op: ", names_[i]);
    }
    const Tensor& in = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, in.shape()));
    // Applies all functions to one block after the other, because a block fits in the cache.
    constexpr int64_t kBlock = 1024;
    const int64_t blocks = (in.num_elements() + kBlock - 1) / kBlock;
    const double cost = 2.0 * static_cast<double>(names_.size() * kBlock);
    c.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
      F block[kBlock];
      for (int64_t i = begin * kBlock; i < end * kBlock; i += kBlock) {
        const int64_t n = std::min(kBlock, in.num_elements() - i);
        ConvertElements(in.data<T>() + i, block, n);
        for (InPlaceLoop<F> run : functions_) run(block, n);
        ConvertElements(static_cast<const F*>(block), out->data<T>() + i, n);
      }
    });
    return absl::OkStatus();
  }

 private:
  const std::vector<std::string> names_;
  std::vector<InPlaceLoop<F>> functions_;
};
KERNELS(_UnaryOpsComposition, "T", CompositionKernel, HalfToDoubleList);

}  // namespace
}  // namespace sluice
