// Ops for arithmetic on sparse tensors.
#include <algorithm>

#include "ops/op.h"
#include "ops/sparse/sparse_tensor_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/partition_builders.h"
#include "ops/math/complex_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/sparse/sparse_math_builders.h"
#endif

namespace sluice {
namespace {

absl::Status VectorOfEntries(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(0, 2));
  return c.SetOutput(0, {indices.dim(0)});
}

// Returns, for each dimension, whether `axes` contains it.
absl::StatusOr<std::vector<bool>> AreReduced(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) {
    SLUICE_INVALID_IF(axis < -rank || axis >= rank, "Invalid reduction dimension ", axis,
                      ", for input with ", rank, " dimensions.");
    reduced[static_cast<size_t>((axis + rank) % rank)] = true;
  }
  return reduced;
}

// Sets the shape of the dense output of a reduction, which is unknown unless shape and axes are
// constants.
absl::Status ReduceShape(ShapeContext& c) {
  std::optional<std::vector<int64_t>> shape = c.InputInts(2), axes = c.InputInts(3);
  auto known = [](const auto& v) { return v && std::find(v->begin(), v->end(), -1) == v->end(); };
  if (!known(shape) || !axes || !c.InputValue(3)) {
    return c.SetOutput(0, PartialShape::UnknownRank());
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                          AreReduced(*axes, static_cast<int64_t>(shape->size())));
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

void WithDense(OpDefBuilder& op) {
  op.With(SparseInput{"sp_"}).Input("dense", "T").Output("output", "T");
  op.Attr("T", TypeAttr(NumberTypes())).Shape(VectorOfEntries);
}

struct ReduceToDense {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.With(SparseInput{"input_"}).Input("reduction_axes", DT_INT32).Output("output", "T");
    op.Attr("keep_dims", BoolAttr(false)).Attr("T", TypeAttr(types)).Shape(ReduceShape);
  }
};

struct ReduceToSparse {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.With(SparseInput{"input_"}).Input("reduction_axes", DT_INT32);
    op.With(SparseOutput{"output_"}).Attr("keep_dims", BoolAttr(false));
    op.Attr("T", TypeAttr(types)).Shape(UnknownOutputs());
  }
};

struct SparseExtreme {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.With(SparseInput{"a_"}).With(SparseInput{"b_"}).Output("output_indices", DT_INT64);
    op.Output("output_values", "T").Attr("T", TypeAttr(types));
    op.Shape([](ShapeContext& c) -> absl::Status {
      c.SetOutput(0, {-1, -1}).IgnoreError();
      return c.SetOutput(1, {-1});
    });
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
Output Column(Output indices, int64_t i) {
  Graph& graph = *indices.graph();
  Output column = Slice(indices, IndexVector(graph, {0, i}), IndexVector(graph, {-1, 1}));
  return Reshape(column, {-1});
}

void NoGradient(Backprop& b) {
  b.Fail(absl::UnimplementedError(StrCat("Gradient for ", b.op().op(), " is not implemented.")));
}

// Adds the gradient of x * y or x / y, where x is sparse, and y is dense and broadcast.
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
  // Each entry a[i, j] multiplies row j of b, which is added to row i of the product.
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
   "Adds two sparse tensors. Drops sums of two entries whose absolute value is below `thresh`.")
    .With(SparseInput{"a_"})
    .With(SparseInput{"b_"})
    .Input("thresh", "Treal")
    .With(SparseOutput{"sum_"})
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

OP(SparseAddGrad, "Computes the gradient of SparseAdd with respect to the values of both tensors.")
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
   "Adds to each entry of a sparse tensor the element of a dense tensor at the same position. The "
   "dense tensor is broadcast.")
    .With(WithDense) GRADIENT(NoGradient);

OP(SparseDenseCwiseDiv,
   "Divides each entry of a sparse tensor by the element of a dense tensor at the same position.")
    .With(WithDense) GRADIENT([](Backprop& b) { ScaleGradient(b, false); });

OP(SparseDenseCwiseMul,
   "Multiplies each entry of a sparse tensor by the element of a dense tensor at the same "
   "position.")
    .With(WithDense) GRADIENT([](Backprop& b) { ScaleGradient(b, true); });

OP(SparseReduceMax, "Computes the maximum of entries over dimensions. 0 for no entries.")
    .With(ReduceToDense{RealTypes()});

OP(SparseReduceMaxSparse, "SparseReduceMax with a sparse output.")
    .With(ReduceToSparse{RealTypes()});

OP(SparseReduceSum, "Computes the sum of entries over dimensions.")
    .With(ReduceToDense{NumberTypes()}) GRADIENT([](Backprop& b) {
      // Finds the position of each entry in the output, with keep_dims.
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

OP(SparseReduceSumSparse, "SparseReduceSum with a sparse output.")
    .With(ReduceToSparse{NumberTypes()});

OP(SparseSoftmax, "Computes softmax over the entries of each row of the last dimension.")
    .With(SparseInput{"sp_"})
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

OP(SparseSparseMaximum, "Computes the maximum of two sparse tensors. Missing entries are 0.")
    .With(SparseExtreme{RealTypes()}) GRADIENT(NoGradient);

OP(SparseSparseMinimum, "Computes the minimum of two sparse tensors. Missing entries are 0.")
    .With(SparseExtreme{NumberTypes()}) GRADIENT(NoGradient);

OP(SparseTensorDenseAdd, "Adds a sparse tensor to a dense tensor of the same shape.")
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

OP(SparseTensorDenseMatMul, "Computes the product of a sparse matrix and a dense one.")
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
