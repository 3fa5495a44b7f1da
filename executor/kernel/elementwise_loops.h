// Interfaces of elementwise kernels. The executor may run several of them as a fusion group: tile
// by tile, in one pass over memory (executor/fusion/fused_elementwise.h).
#ifndef SLUICE_EXECUTOR_KERNEL_ELEMENTWISE_LOOPS_H_
#define SLUICE_EXECUTOR_KERNEL_ELEMENTWISE_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "executor/kernel/kernel.h"

namespace sluice {

// Scalar operations that the executor computes inline instead of through a function pointer,
// because processors mispredict indirect calls whose targets alternate.
enum class FloatOp : uint8_t { kOther, kAdd, kSubtract, kMultiply };

// Loops that compute n elements of the result z from one operand x or two operands x and y. The
// result may overwrite an operand whose elements have the same size.
struct ElementwiseLoops {
  using OfOne = void (*)(const void* x, void* z, int64_t n);
  using OfTwo = void (*)(const void* x, const void* y, void* z, int64_t n);
  OfOne one = nullptr;                 // null for ops of two operands
  OfTwo both = nullptr;                // x and y have n elements
  OfTwo x_alone = nullptr;             // x has one element; null if the op does not broadcast
  OfTwo y_alone = nullptr;             // y has one element; null if the op does not broadcast
  OfTwo scalars = nullptr;             // x, y and z have one element; null: use `both`
  FloatOp float_op = FloatOp::kOther;  // if set, x, y and z are floats
  // y is a vector of the length of x's last dimension and is applied to each row of x. Only `both`
  // is set.
  bool y_is_row = false;
  // The op has any number of operands of one shape, which `both` combines from left to right.
  bool is_sum = false;
  // x has one element per row of the result, and `one` copies this element to n elements of the
  // row.
  bool spreads = false;
  size_t in_size = 0;   // bytes per element of the operands
  size_t out_size = 0;  // bytes per element of the result
  double cost = 0;      // nanoseconds per element, roughly

  // Computes the one element of z from two operands of one element each.
  void ComputeScalars(const void* x, const void* y, void* z) const {
    const auto a = [x] { return *static_cast<const float*>(x); };
    const auto b = [y] { return *static_cast<const float*>(y); };
    float* const result = static_cast<float*>(z);
    switch (float_op) {
      case FloatOp::kOther:
        return (scalars != nullptr ? scalars : both)(x, y, z, 1);
      case FloatOp::kAdd:
        *result = a() + b();
        return;
      case FloatOp::kSubtract:
        *result = a() - b();
        return;
      case FloatOp::kMultiply:
        *result = a() * b();
        return;
    }
  }
};

// A kernel whose own Compute does more than a loop, but which needs only a loop as a member of a
// fusion group: AddN, Tile, BroadcastTo.
class GroupLoops {
 public:
  virtual ~GroupLoops() = default;
  // Null if there is no loop for the kernel's element type.
  virtual const ElementwiseLoops* LoopsInGroup() const = 0;
};

// A kernel that computes its result with elementwise loops.
class ElementwiseLoopKernel : public Kernel {
 public:
  explicit ElementwiseLoopKernel(const ElementwiseLoops& loops) : loops_(loops) {}
  const ElementwiseLoops& loops() const { return loops_; }
  // False if Compute does more than run the loops, for example checks the values first.
  virtual bool IsLoopsAlone() const { return true; }
  bool IsExpensive() const override { return false; }

 protected:
  const ElementwiseLoops loops_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_ELEMENTWISE_LOOPS_H_
