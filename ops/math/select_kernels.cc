// Kernels that choose between elements. Select and SelectV2 are compiled once per element size. W
// is an integer of that size, Bytes16, or a class of objects.
#include <string>
#include <type_traits>

#include "ops/loops/broadcast.h"
#include "ops/loops/elements.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

// See SelectLoop. Uses masks: the compiler does not vectorize a choice by a bool, and processors
// mispredict branches on random conditions.
template <typename W, int kTStep, int kEStep>
SLUICE_TARGET_CLONES void SelectNumbers(const uint8_t* condition, const W* t, const W* e, W* out,
                                        int64_t n) {
  const W only_t = *t, only_e = *e;
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const W mask = static_cast<W>(W(0) - static_cast<W>(condition[i]));
    const W chosen = kTStep == 0 ? only_t : t[i], other = kEStep == 0 ? only_e : e[i];
    out[i] = static_cast<W>((chosen & mask) | (other & static_cast<W>(~mask)));
  }
}

// Computes out[i] = condition[i] ? t[i] : e[i]. A step is 0 if its operand is a single element, and
// otherwise 1.
template <typename W>
void SelectLoop(const bool* condition, int condition_step, const W* t, int t_step, const W* e,
                int e_step, W* out, int64_t n) {
  if constexpr (std::is_integral_v<W>) {
    if (condition_step == 1 && n > 0) {
      const auto select = t_step == 1
                              ? (e_step == 1 ? SelectNumbers<W, 1, 1> : SelectNumbers<W, 1, 0>)
                              : (e_step == 1 ? SelectNumbers<W, 0, 1> : SelectNumbers<W, 0, 0>);
      return select(reinterpret_cast<const uint8_t*>(condition), t, e, out, n);
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = condition[i * condition_step] ? t[i * t_step] : e[i * e_step];
  }
}

template <typename W>
class SelectV2Kernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& context) override {
    const bool* condition = context.input(0).data<bool>();
    const W* t = static_cast<const W*>(context.input(1).raw());
    const W* e = static_cast<const W*>(context.input(2).raw());
    absl::StatusOr<BroadcastPlan<3>> planned = PlanBroadcast<3>(
        {&context.input(0).shape(), &context.input(1).shape(), &context.input(2).shape()});
    SLUICE_INVALID_IF(!planned.ok(), "condition ", context.input(0).shape().ToString(), ", then ",
                      context.input(1).shape().ToString(), ", and else ",
                      context.input(2).shape().ToString(), " must be broadcastable");
    const BroadcastPlan<3>& plan = *planned;
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({1, 2}, 0, plan.shape));
    W* out = static_cast<W*>(output->raw());
    const int64_t inner = plan.inner();
    auto step = [&](int operand) { return plan.strides[operand].back() == 0 ? 0 : 1; };
    if (plan.dims.size() == 1) {
      ForBlocks(context, inner, kCost, 3 * sizeof(W) + 1, [&](int64_t begin, int64_t end) {
        SelectLoop(condition + begin * step(0), step(0), t + begin * step(1), step(1),
                   e + begin * step(2), step(2), out + begin, end - begin);
      });
      return absl::OkStatus();
    }
    context.ParallelFor(plan.rows(), 5 + kCost * inner, [&](int64_t begin, int64_t end) {
      ForRows<3>(plan, begin, end, [&](int64_t row, const std::array<int64_t, 3>& at) {
        SelectLoop(condition + at[0], step(0), t + at[1], step(1), e + at[2], step(2),
                   out + row * inner, inner);
      });
    });
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

 private:
  static constexpr double kCost = std::is_trivially_copyable_v<W> ? 0.3 : 20;
};

absl::Status CheckCondition(const Tensor& condition, const TensorShape& shape, bool by_row) {
  SLUICE_INVALID_IF(by_row && (shape.rank() == 0 || condition.dim(0) != shape.dim(0)),
                    "Number of batches of 't' must match size of 'condition', got ",
                    shape.ToString(), " and ", condition.shape().ToString());
  SLUICE_INVALID_IF(
      !by_row && condition.shape() != shape,
      "Inputs to operation of type Select must have the same size and shape.  Input 0: ",
      condition.shape().ToString(), " != input 1: ", shape.ToString());
  return absl::OkStatus();
}

// The kernel of Select, whose condition is a scalar, has one element per row, or has the shape of
// the data.
template <typename W>
class SelectKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& context) override {
    const Tensor& condition = context.input(0);
    const TensorShape shape = context.input(1).shape();
    SLUICE_INVALID_IF(context.input(2).shape() != shape,
                      "'t' and 'e' must have the same size.  but received: ", shape.ToString(),
                      " vs. ", context.input(2).shape().ToString());
    if (condition.rank() == 0) {
      context.set_output(0, context.input(condition.scalar<bool>() ? 1 : 2));
      return absl::OkStatus();
    }
    const bool by_row = condition.rank() == 1 && shape.rank() != 1;
    SLUICE_RETURN_IF_ERROR(CheckCondition(condition, shape, by_row));
    const bool* where = condition.data<bool>();
    const W* t = static_cast<const W*>(context.input(1).raw());
    const W* e = static_cast<const W*>(context.input(2).raw());
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({1, 2}, 0, shape));
    W* out = static_cast<W*>(output->raw());
    const int64_t n = shape.num_elements();
    if (!by_row) {
      ForBlocks(context, n, 0.3, 3 * sizeof(W) + 1, [&](int64_t begin, int64_t end) {
        SelectLoop(where + begin, 1, t + begin, 1, e + begin, 1, out + begin, end - begin);
      });
      return absl::OkStatus();
    }
    const int64_t rows = shape.dim(0), columns = rows == 0 ? 0 : n / rows;
    for (int64_t row = 0; row < rows; ++row) {
      const W* from = (where[row] ? t : e) + row * columns;
      if (from != out + row * columns) std::copy_n(from, columns, out + row * columns);
    }
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }
};

#define SLUICE_SELECT_KERNELS(op, kernel)                                                \
  KERNEL(op, kernel<uint8_t>, {"T", {DT_INT8, DT_UINT8, DT_BOOL, DT_QINT8, DT_QUINT8}}); \
  KERNEL(op, kernel<uint16_t>,                                                           \
         {"T", {DT_HALF, DT_BFLOAT16, DT_INT16, DT_UINT16, DT_QINT16, DT_QUINT16}});     \
  KERNEL(op, kernel<uint32_t>, {"T", {DT_FLOAT, DT_INT32, DT_UINT32, DT_QINT32}});       \
  KERNEL(op, kernel<uint64_t>, {"T", {DT_DOUBLE, DT_INT64, DT_UINT64, DT_COMPLEX64}});   \
  KERNEL(op, kernel<Bytes16>, {"T", DT_COMPLEX128});                                     \
  KERNELS(op, "T", kernel, TypeList<std::string, ResourceHandle, Variant>)
SLUICE_SELECT_KERNELS(SelectV2, SelectV2Kernel);
SLUICE_SELECT_KERNELS(Select, SelectKernel);
#undef SLUICE_SELECT_KERNELS

template <typename T>
class ClipByValueKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& context) override {
    const TensorShape shape = context.input(0).shape();
    const Tensor& low = context.input(1);
    const Tensor& high = context.input(2);
    for (const Tensor* bound : {&low, &high}) {
      SLUICE_INVALID_IF(
          bound->num_elements() != 1 && bound->shape() != shape,
          "clip_value_min and clip_value_max must be either of the same shape as input, or a "
          "scalar. input shape: ",
          shape.ToString(), "clip_value_min shape: ", low.shape().ToString(),
          "clip_value_max shape: ", high.shape().ToString());
    }
    const T* t = context.input(0).template data<T>();
    const T* low_data = low.data<T>();
    const T* high_data = high.data<T>();
    const int low_step = low.shape() == shape ? 1 : 0, high_step = high.shape() == shape ? 1 : 0;
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0}, 0, shape));
    T* out = output->template data<T>();
    ForBlocks(context, shape.num_elements(), 0.4, 2 * sizeof(T), [&](int64_t begin, int64_t end) {
      if (low_step == 0 && high_step == 0) {
        const T lowest = *low_data, highest = *high_data;
        SLUICE_INDEPENDENT
        for (int64_t i = begin; i < end; ++i) out[i] = Clip(t[i], lowest, highest);
      } else {
        for (int64_t i = begin; i < end; ++i) {
          out[i] = Clip(t[i], low_data[i * low_step], high_data[i * high_step]);
        }
      }
    });
    return absl::OkStatus();
  }
  bool IsExpensive() const override { return false; }

  // Clips x. Clips the real and the imaginary part of a complex number separately.
  static T Clip(T x, T low, T high) {
    if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
      using Part = ClipByValueKernel<typename T::value_type>;
      return T(Part::Clip(x.real(), low.real(), high.real()),
               Part::Clip(x.imag(), low.imag(), high.imag()));
    } else {
      if (x > high) x = high;
      return x < low ? low : x;
    }
  }
};
KERNELS(ClipByValue, "T", ClipByValueKernel,
        JoinTypes<SignedNumberList, TypeList<uint8_t, uint16_t>>::type);

}  // namespace
}  // namespace sluice
