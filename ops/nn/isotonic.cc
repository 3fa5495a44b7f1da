// The op for isotonic regression along the last dimension.
#include "ops/op.h"

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Each element of a segment is the mean of its inputs. So the gradient of each input is the mean of
// the segment's gradients. Segment s of row r has the number r * (elements of a row) + s.
void IsotonicGradient(Backprop& b) {
  Graph& g = b.graph();
  Output grad = b.Of("output"), shape = ShapeOf(grad), size = SizeOf(grad);
  // Handles a scalar as a row of one element.
  Output with_one = Concat({Constant(g, {1}), shape}, 0);
  Output columns = Maximum(PartOf(with_one, -1, kToTheEnd), Constant(g, 1));
  Output rows = FloorDiv(Range(Constant(g, 0), size, Constant(g, 1)), columns);
  Output ids = Reshape(b.Value("segments"), {-1}) + rows * columns;
  Output flat = Reshape(grad, {-1});
  Output sums = UnsortedSegmentSum(flat, ids, size);
  Output counts = UnsortedSegmentSum(OnesLike(flat), ids, size);
  Output means = sums / Maximum(counts, OnesLike(counts));
  b.Into("input", Reshape(GatherV2(means, ids, Constant(g, 0)), shape));
}
#endif

OP(IsotonicRegression,
   "Computes the closest non-increasing sequence to each row of the last dimension, by least "
   "squares. It is constant on segments, which are numbered from 0 in each row.")
    .Input("input", "T")
    .Output("output", "output_dtype")
    .Output("segments", DT_INT32)
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("output_dtype", TypeAttr(FloatTypes(), DT_FLOAT))
    .Shape([](ShapeContext& c) { return c.SetOutputs(c.input(0)); }) GRADIENT(IsotonicGradient);

}  // namespace
}  // namespace sluice
