// Kernels whose results are computed element by element: the executor may run several of them tile
// by tile, in one pass over memory (executor/plan/fused_elementwise.h).
#ifndef SLUICE_EXECUTOR_KERNEL_ELEMENTWISE_LOOPS_H_
#define SLUICE_EXECUTOR_KERNEL_ELEMENTWISE_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "executor/kernel/kernel.h"

namespace sluice {

// What is computed without a call where operands are scalars: nodes that take turns are functions
// that take turns, and some processors guess such jumps badly (Zen 4: 17 ns a node, 10 so).
enum class FloatOp : uint8_t { kOther, kAdd, kSubtract, kMultiply };

// Loops over n elements, of one operand or of two. A result may lie over an operand whose elements
// are as large.
struct ElementwiseLoops {
  using OfOne = void (*)(const void* x, void* z, int64_t n);
  using OfTwo = void (*)(const void* x, const void* y, void* z, int64_t n);
  OfOne one = nullptr;                 // null: of two operands
  OfTwo both = nullptr;                // x and y of n elements
  OfTwo x_alone = nullptr;             // x of one element; null: the op does not broadcast
  OfTwo y_alone = nullptr;             // y of one element; likewise
  OfTwo scalars = nullptr;             // x and y of one element, n is 1; null: as `both` does it
  FloatOp float_op = FloatOp::kOther;  // if set: x, y and z are floats
  // y is a vector as long as the last dimension of x, which has others, and meets each of its rows:
  // of the loops there is `both` alone.
  bool y_is_row = false;
  // Operands of one shape, as many as there are, are taken in by `both` from left to right.
  bool is_sum = false;
  // `one` puts the only element of x into n: x has one where the result has a row.
  bool spreads = false;
  size_t in_size = 0;  // bytes an element
  size_t out_size = 0;
  double cost = 0;  // nanoseconds an element, roughly

  // Of two operands of one element each.
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

// What is computed by loops where it is one of several nodes that run as one, though its kernel
// does other things too: AddN, Tile, BroadcastTo.
class GroupLoops {
 public:
  virtual ~GroupLoops() = default;
  virtual const ElementwiseLoops* LoopsInGroup() const = 0;  // null: none for its type
};

class ElementwiseLoopKernel : public Kernel {
 public:
  explicit ElementwiseLoopKernel(const ElementwiseLoops& loops) : loops_(loops) {}
  const ElementwiseLoops& loops() const { return loops_; }
  // False where Compute does more than the loops: looks at the values before, for example.
  virtual bool IsLoopsAlone() const { return true; }
  bool IsExpensive() const override { return false; }

 protected:
  const ElementwiseLoops loops_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_ELEMENTWISE_LOOPS_H_
