#include <cmath>
#include <string>

#include "ops/loops/broadcast.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

BINARY_KERNELS(Greater, RealList, 0.2, x > y);
BINARY_KERNELS(GreaterEqual, RealList, 0.2, x >= y);
BINARY_KERNELS(Less, RealList, 0.2, x < y);
BINARY_KERNELS(LessEqual, RealList, 0.2, x <= y);

SLUICE_FUNCTOR(AndFn, 0.2, (T x, T y), (x && y));
SLUICE_FUNCTOR(OrFn, 0.2, (T x, T y), (x || y));
SLUICE_FUNCTOR(NotFn, 0.1, (T x), !x);
KERNEL(LogicalAnd, Binary<AndFn>::Kernel<bool>);
KERNEL(LogicalOr, Binary<OrFn>::Kernel<bool>);
KERNEL(LogicalNot, Elementwise<NotFn>::Kernel<bool>);

// Compares elements. If the node permits incompatible shapes, they count as not equal.
template <typename F, bool kIfIncompatible>
struct Equality {
  template <typename T>
  class Kernel : public BinaryKernel {
   public:
    explicit Kernel(KernelInit& init)
        : BinaryKernel(elementwise::LoopsOf<F, T>()),
          may_be_incompatible_(!init.AttrOr<bool>("incompatible_shape_error", true)) {}

    absl::Status Compute(KernelContext& context) override {
      if (may_be_incompatible_ &&
          !PlanBroadcast<2>({&context.input(0).shape(), &context.input(1).shape()}).ok()) {
        SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.AllocateOutput(0, TensorShape()));
        output->scalar<bool>() = kIfIncompatible;
        return absl::OkStatus();
      }
      return BinaryKernel::Compute(context);
    }

   private:
    const bool may_be_incompatible_;
  };
};

SLUICE_FUNCTOR(EqualFn, 0.2, (const T& x, const T& y), x == y);
SLUICE_FUNCTOR(NotEqualFn, 0.2, (const T& x, const T& y), x != y);
template <typename T>
using EqualKernel = Equality<EqualFn, false>::Kernel<T>;
template <typename T>
using NotEqualKernel = Equality<NotEqualFn, true>::Kernel<T>;

#define SLUICE_EQUALITY_KERNELS(op, kernel)        \
  KERNEL(op, kernel<int8_t>, {"T", DT_QINT8});     \
  KERNEL(op, kernel<uint8_t>, {"T", DT_QUINT8});   \
  KERNEL(op, kernel<int16_t>, {"T", DT_QINT16});   \
  KERNEL(op, kernel<uint16_t>, {"T", DT_QUINT16}); \
  KERNEL(op, kernel<int32_t>, {"T", DT_QINT32});   \
  KERNELS(op, "T", kernel, NumberList);            \
  KERNELS(op, "T", kernel, TypeList<bool, std::string>)
SLUICE_EQUALITY_KERNELS(Equal, EqualKernel);
SLUICE_EQUALITY_KERNELS(NotEqual, NotEqualKernel);
#undef SLUICE_EQUALITY_KERNELS

template <typename T>
class ApproximateEqualKernel : public Kernel {
 public:
  explicit ApproximateEqualKernel(KernelInit& init)
      : tolerance_(static_cast<T>(init.attr<float>("tolerance"))) {}
  absl::Status Compute(KernelContext& context) override {
    const Tensor& x = context.input(0);
    const Tensor& y = context.input(1);
    SLUICE_INVALID_IF(x.shape() != y.shape(),
                      "x and y must be of the same shape. x shape: ", x.shape().ToString(),
                      ". y shape: ", y.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.AllocateOutput(0, x.shape()));
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
KERNELS(ApproximateEqual, "T", ApproximateEqualKernel, FloatAndDoubleList);

}  // namespace
}  // namespace sluice
