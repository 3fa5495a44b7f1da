// Ops for counts, histograms, binary search and the selection of values.
#include "graph/infer/expect_size.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Returns the size in input i, a scalar, or -1 if it is unknown.
absl::StatusOr<int64_t> SizeOf(ShapeContext& c, int i) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  std::optional<std::vector<int64_t>> size = c.InputInts(i);
  if (!size || size->empty()) return -1;
  SLUICE_INVALID_IF((*size)[0] < 0 && c.InputValue(i), "size (", (*size)[0],
                    ") must be non-negative");
  return (*size)[0];
}

absl::Status SearchShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(1, 2));
  return c.SetOutput(0, values);
}

// Declares a binary search. Each value is searched for in the row of sorted_inputs that has the
// same number as the value's row.
void SearchOp(OpDefBuilder& op) {
  op.Input("sorted_inputs", "T").Input("values", "T").Output("output", "out_type");
  op.Attr("T", TypeAttr()).Attr("out_type", TypeAttr(IndexTypes(), DT_INT32)).Shape(SearchShape);
}

constexpr TypeSet kCountedTypes = {DT_INT32, DT_INT64, DT_FLOAT, DT_DOUBLE};

OP(Bincount,
   "Counts the occurrences of 0 … size - 1 in `arr`, or sums their weights. Ignores greater "
   "numbers.")
    .Input("arr", DT_INT32)
    .Input("size", DT_INT32)
    .Input("weights", "T")
    .Output("bins", "T")
    .Attr("T", TypeAttr(kCountedTypes))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const int64_t size, SizeOf(c, 1));
      return c.SetOutput(0, {size});
    });

OP(Bucketize, "Counts the boundaries that each value is not below.")
    .Input("input", "T")
    .Output("output", DT_INT32)
    .Attr("T", TypeAttr(kCountedTypes))
    .Attr("boundaries", FloatListAttr())
    .Shape(SameAsInput(0));

OP(DenseBincount,
   "Computes the Bincount of a vector or of each row of a matrix. With binary_output, returns 1 "
   "for numbers that occur.")
    .Input("input", "Tidx")
    .Input("size", "Tidx")
    .Input("weights", "T")
    .Output("output", "T")
    .Attr("Tidx", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(kCountedTypes))
    .Attr("binary_output", BoolAttr(false))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRankAtMost(0, 2));
      SLUICE_ASSIGN_OR_RETURN(const int64_t size, SizeOf(c, 1));
      if (!input.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
      if (input.rank() < 2) return c.SetOutput(0, {size});
      return c.SetOutput(0, {input.dim(0), size});
    });

OP(HistogramFixedWidth,
   "Counts the values in each of nbins equal bins of value_range. The first and last bin include "
   "values outside.")
    .Input("values", "T")
    .Input("value_range", "T")
    .Input("nbins", DT_INT32)
    .Output("out", "dtype")
    .Attr("T", TypeAttr(kCountedTypes))
    .Attr("dtype", TypeAttr(IndexTypes(), DT_INT32))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape range, c.WithRank(1, 1));
      SLUICE_RETURN_IF_ERROR(ExpectSize(range.dim(0), 2));
      SLUICE_ASSIGN_OR_RETURN(const int64_t bins, SizeOf(c, 2));
      return c.SetOutput(0, {bins});
    });

OP(LowerBound,
   "Returns the first position in its row of sorted_inputs whose element is not less than each "
   "value.")
    .With(SearchOp);

OP(NthElement, "Returns element n of each row in sorted order, in descending order with `reverse`.")
    .Input("input", "T")
    .Input("n", DT_INT32)
    .Output("values", "T")
    .Attr("reverse", BoolAttr(false))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRankAtLeast(0, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      if (!input.rank_known()) return c.SetOutput(0, input);
      std::optional<Tensor> n = c.InputValue(1);
      const int64_t size = input.dim(input.rank() - 1);
      SLUICE_INVALID_IF(n && n->scalar<int32_t>() < 0, "n must be non-negative");
      SLUICE_INVALID_IF(n && size >= 0 && size <= n->scalar<int32_t>(),
                        "Input must have last dimension > n = ", n->scalar<int32_t>(), " but is ",
                        size);
      return c.SetOutput(0, PartialShape(input.dims().subspan(0, input.rank() - 1)));
    }) GRADIENT([](Backprop& b) {
      // Elements that equal the selected one share the gradient.
      Output grad = b.Of("values");
      Output chosen =
          Cast(Equal(ExpandDims(b.Value("values"), -1), b.Value("input")), grad.dtype());
      Output count = ExpandDims(ReduceSum(chosen, -1), -1);
      b.Into("input", chosen / count * ExpandDims(grad, -1));
    });

OP(UpperBound,
   "Returns the first position in its row of sorted_inputs whose element is greater than each "
   "value.")
    .With(SearchOp);

}  // namespace
}  // namespace sluice
