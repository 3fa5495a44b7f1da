// Arithmetic on sparse tensors.
#include <algorithm>

#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/partition_builders.h"
#include "ops/math/complex_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/shape_nodes.h"
#include "ops/sparse/sparse_math_builders.h"
#endif

namespace sluice {
namespace {

absl::Status VectorOfEntries(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(0, 2));
  return c.SetOutput(0, {indices.dim(0)});
}

// The dense result of a reduction, where shape and axes are constants.
absl::Status ReduceShape(ShapeContext& c) {
  std::optional<std::vector<int64_t>> shape = c.InputInts(2), axes = c.InputInts(3);
  auto known = [](const auto& v) { return v && std::find(v->begin(), v->end(), -1) == v->end(); };
  if (!known(shape) || !axes || !c.InputValue(3)) {
    return c.SetOutput(0, PartialShape::UnknownRank());
  }
  const int64_t rank = static_cast<int64_t>(shape->size());
  std::vector<bool> reduced(shape->size(), false);
  for (int64_t axis : *axes) {
    if (axis < -rank || axis >= rank) {
      return InvalidArgument("Invalid reduction dimension ", axis, ", for input with ", rank,
                             " dimensions.");
    }
    reduced[static_cast<size_t>((axis + rank) % rank)] = true;
  }
  PartialShape out = PartialShape::Scalar();
  for (size_t d = 0; d < shape->size(); ++d) {
    if (!reduced[d]) out.AddDim((*shape)[d]);
    if (reduced[d] && c.attr<bool>("keep_dims")) out.AddDim(1);
  }
  return c.SetOutput(0, out);
}

absl::Status MatrixProductShape(ShapeContext& c, const PartialShape& a, bool transpose_a,
                                const PartialShape& b, bool transpose_b) {
  SLUICE_RETURN_IF_ERROR(MergeDim(a.dim(transpose_a ? 0 : 1), b.dim(transpose_b ? 1 : 0)).status());
  return c.SetOutput(0, {a.dim(transpose_a ? 1 : 0), b.dim(transpose_b ? 0 : 1)});
}

#ifndef SLUICE_DEFINITIONS_ONLY
Output Column(Output indices, int64_t i) {
  Graph& graph = *indices.graph();
  Output column = Slice(indices, IndexVector(graph, {0, i}), IndexVector(graph, {-1, 1}));
  return Reshape(column, {-1});
}

void NoGradient(Backprop& b) {
  b.Fail(absl::UnimplementedError(StrCat("Gradient for ", b.op().op(), " is not implemented.")));
}

// x op y where the sparse x is and y is broadcast to it.
void ScaleGradient(Backprop& b, bool is_product) {
  Output grad = b.Of("output"), indices = b.Value("sp_indices"), y = b.Value("dense");
  Output x_shape = b.Value("sp_shape"), values = b.Value("sp_values");
  Output y_shape = Cast(ShapeNode(y), DT_INT64);
  Output missing = ExpandDims(Sub(SizeNode(x_shape), SizeNode(y_shape)), 0);
  Output one = IndexScalar(b.graph(), 1, DT_INT64);
  Output filled = Concat({Fill(missing, one), y_shape}, 0);
  Output scaled = FloorDiv(indices, FloorDiv(x_shape, filled));
  Output own = Slice(scaled, Concat({IndexVector(b.graph(), {0}), missing}, 0),
                     IndexVector(b.graph(), {-1, -1}));
  Output dense = GatherNd(y, own);
  Output by_dense = is_product ? grad * values : grad * (-values / Square(dense));
  b.Into("sp_values", is_product ? grad * dense : grad / dense);
  b.Into("dense", SparseTensorDenseAdd(own, by_dense, y_shape, ZerosLike(y)));
}

void ProductGradient(Backprop& b) {
  Output indices = b.Value("a_indices"), grad = b.Of("product"), other = b.Value("b");
  const bool adjoint_a = b.attr<bool>("adjoint_a"), adjoint_b = b.attr<bool>("adjoint_b");
  Output other_grad = SparseTensorDenseMatMul(indices, b.Value("a_values"), b.Value("a_shape"),
                                              grad, {.adjoint_a = !adjoint_a});
  if (adjoint_b) {
    other_grad = ConjugateTranspose(other_grad, IndexVector(b.graph(), {1, 0}));
    other = ConjugateTranspose(other, IndexVector(b.graph(), {1, 0}));
  }
  // An entry a[i, j] meets row j of b in row i of the product.
  Output zero = IndexScalar(b.graph(), 0);
  Output rows = Column(indices, adjoint_a ? 1 : 0), columns = Column(indices, adjoint_a ? 0 : 1);
  Output products =
      GatherV2(grad, rows, zero) * (IsComplex(other.dtype()) ? Conj(GatherV2(other, columns, zero))
                                                             : GatherV2(other, columns, zero));
  Output sums = ReduceSum(products, -1);
  if (adjoint_a && IsComplex(sums.dtype())) sums = Conj(sums);
  b.Into("a_values", sums);
  b.Into("b", other_grad);
}
#endif

OP(SparseAdd,
   "The sum of two sparse tensors; sums of two entries whose magnitude is below `thresh` are left "
   "out.")
    .Input("a_indices", DT_INT64)
    .Input("a_values", "T")
    .Input("a_shape", DT_INT64)
    .Input("b_indices", DT_INT64)
    .Input("b_values", "T")
    .Input("b_shape", DT_INT64)
    .Input("thresh", "Treal")
    .Output("sum_indices", DT_INT64)
    .Output("sum_values", "T")
    .Output("sum_shape", DT_INT64)
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Treal", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(2, 1));
      c.SetOutput(0, {-1, shape.dim(0)}).IgnoreError();
      c.SetOutput(1, {-1}).IgnoreError();
      return c.SetOutput(2, shape);
    }) GRADIENT([](Backprop& b) {
      auto grads = SparseAddGrad(b.Of("sum_values"), b.Value("a_indices"), b.Value("b_indices"),
                                 b.Value("sum_indices"));
      b.Into("a_values", grads.a_val_grad);
      b.Into("b_values", grads.b_val_grad);
    });

OP(SparseAddGrad, "Gradient of SparseAdd by the values of both.")
    .Input("backprop_val_grad", "T")
    .Input("a_indices", DT_INT64)
    .Input("b_indices", DT_INT64)
    .Input("sum_indices", DT_INT64)
    .Output("a_val_grad", "T")
    .Output("b_val_grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape a, c.WithRank(1, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape b, c.WithRank(2, 2));
      c.SetOutput(0, {a.dim(0)}).IgnoreError();
      return c.SetOutput(1, {b.dim(0)});
    });

OP(SparseDenseCwiseAdd,
   "The entries of a sparse tensor, each plus the element of a dense one (broadcast to the "
   "sparse one's shape) at its place.")
    .Input("sp_indices", DT_INT64)
    .Input("sp_values", "T")
    .Input("sp_shape", DT_INT64)
    .Input("dense", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape(VectorOfEntries) GRADIENT(NoGradient);

OP(SparseDenseCwiseDiv,
   "The entries of a sparse tensor, each divided by the element of a dense one at its place.")
    .Input("sp_indices", DT_INT64)
    .Input("sp_values", "T")
    .Input("sp_shape", DT_INT64)
    .Input("dense", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape(VectorOfEntries) GRADIENT([](Backprop& b) { ScaleGradient(b, false); });

OP(SparseDenseCwiseMul,
   "The entries of a sparse tensor, each times the element of a dense one at its place.")
    .Input("sp_indices", DT_INT64)
    .Input("sp_values", "T")
    .Input("sp_shape", DT_INT64)
    .Input("dense", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape(VectorOfEntries) GRADIENT([](Backprop& b) { ScaleGradient(b, true); });

OP(SparseReduceMax, "The greatest entry over dimensions; zero where there is none.")
    .Input("input_indices", DT_INT64)
    .Input("input_values", "T")
    .Input("input_shape", DT_INT64)
    .Input("reduction_axes", DT_INT32)
    .Output("output", "T")
    .Attr("keep_dims", BoolAttr(false))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(ReduceShape);

OP(SparseReduceMaxSparse, "SparseReduceMax as a sparse tensor.")
    .Input("input_indices", DT_INT64)
    .Input("input_values", "T")
    .Input("input_shape", DT_INT64)
    .Input("reduction_axes", DT_INT32)
    .Output("output_indices", DT_INT64)
    .Output("output_values", "T")
    .Output("output_shape", DT_INT64)
    .Attr("keep_dims", BoolAttr(false))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(UnknownOutputs());

OP(SparseReduceSum, "The sum of the entries over dimensions.")
    .Input("input_indices", DT_INT64)
    .Input("input_values", "T")
    .Input("input_shape", DT_INT64)
    .Input("reduction_axes", DT_INT32)
    .Output("output", "T")
    .Attr("keep_dims", BoolAttr(false))
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape(ReduceShape) GRADIENT([](Backprop& b) {
      // An entry's place in the output, reduced dimensions being kept with size 1.
      Output shape = b.Value("input_shape"), axes = b.Value("reduction_axes");
      Output rank = SizeNode(shape);
      Output places = FloorMod(Add(Reshape(axes, {-1}), rank), rank);
      Output all = Range(IndexScalar(b.graph(), 0), rank, IndexScalar(b.graph(), 1));
      Output kept =
          Cast(DynamicStitch({all, places}, {Cast(shape, DT_INT32), OnesLike(places)}), DT_INT64);
      Output scale = FloorDiv(shape, kept);
      b.Into("input_values",
             GatherNd(Reshape(b.Of("output"), kept), FloorDiv(b.Value("input_indices"), scale)));
    });

OP(SparseReduceSumSparse, "SparseReduceSum as a sparse tensor.")
    .Input("input_indices", DT_INT64)
    .Input("input_values", "T")
    .Input("input_shape", DT_INT64)
    .Input("reduction_axes", DT_INT32)
    .Output("output_indices", DT_INT64)
    .Output("output_values", "T")
    .Output("output_shape", DT_INT64)
    .Attr("keep_dims", BoolAttr(false))
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape(UnknownOutputs());

OP(SparseSoftmax, "Softmax over the entries of each row of the last dimension.")
    .Input("sp_indices", DT_INT64)
    .Input("sp_values", "T")
    .Input("sp_shape", DT_INT64)
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(1, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 1).status());
      return c.SetOutput(0, values);
    }) GRADIENT([](Backprop& b) {
      Output indices = b.Value("sp_indices"), shape = b.Value("sp_shape"), y = b.Value("output");
      Output grad = b.Of("output");
      Output sums = Neg(SparseReduceSum(indices, y * grad, shape, IndexVector(b.graph(), {-1}),
                                        {.keep_dims = true}));
      b.Into("sp_values", SparseDenseCwiseAdd(indices, grad, shape, sums) * y);
    });

OP(SparseSparseMaximum, "The greater of two sparse tensors; a missing entry is zero.")
    .Input("a_indices", DT_INT64)
    .Input("a_values", "T")
    .Input("a_shape", DT_INT64)
    .Input("b_indices", DT_INT64)
    .Input("b_values", "T")
    .Input("b_shape", DT_INT64)
    .Output("output_indices", DT_INT64)
    .Output("output_values", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      c.SetOutput(0, {-1, -1}).IgnoreError();
      return c.SetOutput(1, {-1});
    }) GRADIENT(NoGradient);

OP(SparseSparseMinimum, "The lesser of two sparse tensors; a missing entry is zero.")
    .Input("a_indices", DT_INT64)
    .Input("a_values", "T")
    .Input("a_shape", DT_INT64)
    .Input("b_indices", DT_INT64)
    .Input("b_values", "T")
    .Input("b_shape", DT_INT64)
    .Output("output_indices", DT_INT64)
    .Output("output_values", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      c.SetOutput(0, {-1, -1}).IgnoreError();
      return c.SetOutput(1, {-1});
    }) GRADIENT(NoGradient);

OP(SparseTensorDenseAdd, "A sparse tensor added to a dense one of its shape.")
    .Input("a_indices", "Tindices")
    .Input("a_values", "T")
    .Input("a_shape", "Tindices")
    .Input("b", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Shape(SameAsInput(3)) GRADIENT([](Backprop& b) {
      b.Into("a_values", GatherNd(b.Of("output"), b.Value("a_indices")));
      b.Into("b", b.Of("output"));
    });

OP(SparseTensorDenseMatMul, "A sparse matrix times a dense one.")
    .Input("a_indices", "Tindices")
    .Input("a_values", "T")
    .Input("a_shape", DT_INT64)
    .Input("b", "T")
    .Output("product", "T")
    .Attr("T", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes(), DT_INT64))
    .Attr("adjoint_a", BoolAttr(false))
    .Attr("adjoint_b", BoolAttr(false))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
      SLUICE_ASSIGN_OR_RETURN(PartialShape a, c.InputAsShape(2));
      SLUICE_ASSIGN_OR_RETURN(a, WithRank(a, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape b, c.WithRank(3, 2));
      return MatrixProductShape(c, a, c.attr<bool>("adjoint_a"), b, c.attr<bool>("adjoint_b"));
    }) GRADIENT(ProductGradient);

}  // namespace
}  // namespace sluice
