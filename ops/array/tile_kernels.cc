#include <algorithm>

#include "executor/kernel/context.h"
#include "executor/kernel/elementwise_loops.h"
#include "graph/ir/graph.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"

namespace sluice {
namespace {

// Returns the loop that copies one element of type T to n elements.
template <typename T>
const ElementwiseLoops* SpreadLoops() {
  static const ElementwiseLoops loops = {
      .one = [](const void* x, void* z,
                int64_t n) { std::fill_n(static_cast<T*>(z), n, *static_cast<const T*>(x)); },
      .spreads = true,
      .in_size = sizeof(T),
      .out_size = sizeof(T),
      .cost = 0.05};
  return &loops;
}

absl::Status Tile(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_INVALID_IF(c.input(1).rank() != 1 || c.input(1).dim(0) != in.rank(),
                    "Expected multiples argument to be a vector of length ", in.rank(),
                    " but got length ", c.input(1).num_elements());
  const Ints multiples = IntsOf(c.input(1));
  Ints dims;
  for (int d = 0; d < in.rank(); ++d) {
    SLUICE_INVALID_IF(multiples[d] < 0, "Expected multiples[", d, "] >= 0, but got ", multiples[d]);
    const int64_t size = MultiplyWithoutOverflow(in.dim(d), multiples[d]);
    SLUICE_INVALID_IF(size < 0, "dimension ", d, " of the result is too large");
    dims.push_back(size);
  }
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  if (shape == in.shape()) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const auto from = RowMajorStrides(in.shape());
  const auto to = RowMajorStrides(shape);
  CopyBox box;
  for (int d = 0; d < in.rank(); ++d) {
    box.dims.push_back({multiples[d], 0, in.dim(d) * to[d]});
    box.dims.push_back({in.dim(d), from[d], to[d]});
  }
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
  return absl::OkStatus();
}

absl::Status BroadcastTo(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_INVALID_IF(c.input(1).rank() > 1, "shape must be a vector, got shape ",
                    c.input(1).shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(c.input(1))));
  const int added = shape.rank() - in.rank();
  SLUICE_INVALID_IF(added < 0, "Rank of input (", in.rank(),
                    ") must be no greater than rank of output shape (", shape.rank(), ").");
  bool fits = true;
  for (int d = 0; fits && d < in.rank(); ++d) {
    fits = in.dim(d) == 1 || in.dim(d) == shape.dim(d + added);
  }
  SLUICE_INVALID_IF(!fits, "Incompatible shapes: ", in.shape().ToString(), " vs. ",
                    shape.ToString());
  if (shape == in.shape()) {
    c.set_output(0, in);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const auto from = RowMajorStrides(in.shape());
  const auto to = RowMajorStrides(shape);
  CopyBox box;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool repeats = d < added || in.dim(d - added) == 1;
    box.dims.push_back({shape.dim(d), repeats ? 0 : from[d - added], to[d]});
  }
  CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
  return absl::OkStatus();
}

constexpr TypeSet kTypes =
    RealTypes() | ComplexTypes() |
    TypeSet{DT_BOOL, DT_STRING, DT_RESOURCE, DT_VARIANT, DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
// Runs `function`. In a fusion group, the kernel instead provides a loop that repeats the only
// element of each row.
template <absl::Status (*function)(KernelContext&)>
class SpreadingKernel final : public Kernel, public GroupLoops {
 public:
  explicit SpreadingKernel(KernelInit& init) : size_(DataTypeSize(init.attr<DataType>("T"))) {}
  absl::Status Compute(KernelContext& context) override { return function(context); }
  const ElementwiseLoops* LoopsInGroup() const override {
    if (size_ == 4) return SpreadLoops<uint32_t>();
    return size_ == 8 ? SpreadLoops<uint64_t>() : nullptr;
  }

 private:
  const size_t size_;
};

using TileKernel = SpreadingKernel<Tile>;
KERNEL(Tile, TileKernel, {"T", kTypes - TypeSet{DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN}});
using BroadcastToKernel = SpreadingKernel<BroadcastTo>;
KERNEL(BroadcastTo, BroadcastToKernel, {"T", kTypes});

}  // namespace
}  // namespace sluice
