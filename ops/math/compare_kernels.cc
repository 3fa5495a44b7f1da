#include <cmath>
#include <string>

#include "ops/loops/broadcast.h"

namespace sluice {
namespace {

#define SLUICE_COMPARISON(Name, comparison)                                 \
  struct Name {                                                             \
    static constexpr double kCost = 0.2;                                    \
    template <typename T>                                                   \
    SLUICE_INLINE_IN_CLONES bool operator()(const T& x, const T& y) const { \
      return comparison;                                                    \
    }                                                                       \
  }
SLUICE_COMPARISON(EqualFn, x == y);
SLUICE_COMPARISON(NotEqualFn, x != y);
SLUICE_COMPARISON(GreaterFn, x > y);
SLUICE_COMPARISON(GreaterEqualFn, x >= y);
SLUICE_COMPARISON(LessFn, x < y);
SLUICE_COMPARISON(LessEqualFn, x <= y);
SLUICE_COMPARISON(AndFn, x&& y);
SLUICE_COMPARISON(OrFn, x || y);

KERNELS(Greater, "T", Binary<GreaterFn>::Kernel, RealList);
KERNELS(GreaterEqual, "T", Binary<GreaterEqualFn>::Kernel, RealList);
KERNELS(Less, "T", Binary<LessFn>::Kernel, RealList);
KERNELS(LessEqual, "T", Binary<LessEqualFn>::Kernel, RealList);
KERNEL(LogicalAnd, Binary<AndFn>::Kernel<bool>);
KERNEL(LogicalOr, Binary<OrFn>::Kernel<bool>);

struct NotFn {
  static constexpr double kCost = 0.1;
  bool operator()(bool x) const { return !x; }
};
KERNEL(LogicalNot, Elementwise<NotFn>::Kernel<bool>);

// Shapes that do not broadcast are unequal, where the node says that they may.
class EqualityKernel : public BinaryKernel {
 public:
  EqualityKernel(KernelInit& init, const ElementwiseLoops& loops, bool when_incompatible)
      : BinaryKernel(loops),
        may_be_incompatible_(!init.AttrOr<bool>("incompatible_shape_error", true)),
        when_incompatible_(when_incompatible) {}
  absl::Status Compute(KernelContext& context) override {
    if (may_be_incompatible_ &&
        !PlanBroadcast<2>({&context.input(0).shape(), &context.input(1).shape()}).ok()) {
      Tensor* output;
      SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, TensorShape(), &output));
      output->scalar<bool>() = when_incompatible_;
      return absl::OkStatus();
    }
    return BinaryKernel::Compute(context);
  }

 private:
  const bool may_be_incompatible_;
  const bool when_incompatible_;
};

template <typename T>
class EqualKernel : public EqualityKernel {
 public:
  explicit EqualKernel(KernelInit& init)
      : EqualityKernel(init, elementwise::LoopsOf<EqualFn, T>(), false) {}
};
template <typename T>
class NotEqualKernel : public EqualityKernel {
 public:
  explicit NotEqualKernel(KernelInit& init)
      : EqualityKernel(init, elementwise::LoopsOf<NotEqualFn, T>(), true) {}
};
using EqualityList = JoinTypes<NumberList, TypeList<bool, std::string>>::type;
KERNELS(Equal, "T", EqualKernel, EqualityList);
KERNELS(NotEqual, "T", NotEqualKernel, EqualityList);
KERNEL(Equal, EqualKernel<int8_t>, {"T", DT_QINT8});
KERNEL(Equal, EqualKernel<uint8_t>, {"T", DT_QUINT8});
KERNEL(Equal, EqualKernel<int16_t>, {"T", DT_QINT16});
KERNEL(Equal, EqualKernel<uint16_t>, {"T", DT_QUINT16});
KERNEL(Equal, EqualKernel<int32_t>, {"T", DT_QINT32});
KERNEL(NotEqual, NotEqualKernel<int8_t>, {"T", DT_QINT8});
KERNEL(NotEqual, NotEqualKernel<uint8_t>, {"T", DT_QUINT8});
KERNEL(NotEqual, NotEqualKernel<int16_t>, {"T", DT_QINT16});
KERNEL(NotEqual, NotEqualKernel<uint16_t>, {"T", DT_QUINT16});
KERNEL(NotEqual, NotEqualKernel<int32_t>, {"T", DT_QINT32});

template <typename T>
class ApproximateEqualKernel : public Kernel {
 public:
  explicit ApproximateEqualKernel(KernelInit& init)
      : tolerance_(static_cast<T>(init.attr<float>("tolerance"))) {}
  absl::Status Compute(KernelContext& context) override {
    const Tensor& x = context.input(0);
    const Tensor& y = context.input(1);
    if (x.shape() != y.shape()) {
      return InvalidArgument("x and y must be of the same shape. x shape: ", x.shape().ToString(),
                             ". y shape: ", y.shape().ToString());
    }
    Tensor* output;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, x.shape(), &output));
    const T* px = x.data<T>();
    const T* py = y.data<T>();
    bool* z = output->data<bool>();
    ForBlocks(context, x.num_elements(), 0.3, 2 * sizeof(T) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) z[i] = std::abs(px[i] - py[i]) < tolerance_;
    });
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  const T tolerance_;
};
KERNELS(ApproximateEqual, "T", ApproximateEqualKernel, TypeList<float, double>);

}  // namespace
}  // namespace sluice
