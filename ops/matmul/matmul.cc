// Ops that multiply matrices.
//
// The last two dimensions form matrices, and the others are batch dimensions. adj_x and adj_y
// request the conjugate transpose of each matrix, and transpose_a and transpose_b the transpose.
// grad_a and grad_b mark the products of gradients and have no effect.
#include "ops/matmul/multiply_adds.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/matmul/matmul_builders.h"
#endif

namespace sluice {
namespace {

absl::StatusOr<PartialShape> ShapeOfProduct(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape a, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape b, c.WithRank(1, 2));
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  SLUICE_RETURN_IF_ERROR(MergeDim(a.dim(ta ? 0 : 1), b.dim(tb ? 1 : 0)).status());
  return PartialShape({a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)});
}

absl::Status MatMulShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, ShapeOfProduct(c));
  return c.SetOutput(0, shape);
}

absl::Status MatMulColumnsShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape whole, ShapeOfProduct(c));
  return c.SetOutput(0, {whole.dim(0), c.attr<int64_t>("columns")});
}

absl::Status PackedMatMulShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape a, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape b, c.WithRank(1, 2));
  SLUICE_RETURN_IF_ERROR(MergeDim(a.dim(1), b.dim(c.attr<bool>("transpose_b") ? 1 : 0)).status());
  return c.SetOutput(0, {a.dim(0), c.attr<int64_t>("columns")});
}

PartialShape WithoutLastTwo(const PartialShape& s) {
  return s.rank() >= 2 ? PartialShape(s.dims().subspan(0, s.rank() - 2)) : PartialShape();
}

// Shape function of batched products. `batch` returns the batch dimensions of the output, given
// those of the inputs.
template <typename Batch>
absl::Status BatchShape(ShapeContext& c, Batch batch) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRankAtLeast(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape y, c.WithRankAtLeast(1, 2));
  const bool adj_x = c.attr<bool>("adj_x"), adj_y = c.attr<bool>("adj_y");
  auto dim = [](const PartialShape& s, int from_end) {
    return s.rank_known() ? s.dim(s.rank() - from_end) : PartialShape::kUnknown;
  };
  SLUICE_RETURN_IF_ERROR(MergeDim(dim(x, adj_x ? 2 : 1), dim(y, adj_y ? 1 : 2)).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape output, batch(WithoutLastTwo(x), WithoutLastTwo(y)));
  if (output.rank_known()) {
    output.AddDim(dim(x, adj_x ? 1 : 2));
    output.AddDim(dim(y, adj_y ? 2 : 1));
  }
  return c.SetOutput(0, output);
}

absl::Status SameBatchShape(ShapeContext& c) {
  return BatchShape(c, [](const PartialShape& x, const PartialShape& y) { return x.MergeWith(y); });
}

absl::Status BroadcastBatchShape(ShapeContext& c) { return BatchShape(c, BroadcastShapes); }

#ifndef SLUICE_DEFINITIONS_ONLY
// A factor of a matrix product in a gradient.
struct Factor {
  Output matrix;
  bool transposed;
};
// The factors of the two products that are the gradients of op(a) * op(b). They are chosen such
// that each gradient has the layout of its input, without a transposition of the result.
struct Products {
  Factor a_left, a_right, b_left, b_right;
};
Products GradientProducts(Output a, Output b, Output grad, bool ta, bool tb) {
  Products p;
  p.a_left = ta ? Factor{b, tb} : Factor{grad, false};
  p.a_right = ta ? Factor{grad, true} : Factor{b, !tb};
  p.b_left = tb ? Factor{grad, true} : Factor{a, !ta};
  p.b_right = tb ? Factor{a, ta} : Factor{grad, false};
  return p;
}

void MatMulGradient(Backprop& b) {
  const bool ta = b.attr<bool>("transpose_a"), tb = b.attr<bool>("transpose_b");
  Output grad = b.Of(0);
  Products p = GradientProducts(ConjOf(b.In(0)), ConjOf(b.In(1)), grad, ta, tb);
  b.Into(0, MatMul(p.a_left.matrix, p.a_right.matrix,
                   {.transpose_a = p.a_left.transposed,
                    .transpose_b = p.a_right.transposed,
                    .grad_a = true}));
  b.Into(1, MatMul(p.b_left.matrix, p.b_right.matrix,
                   {.transpose_a = p.b_left.transposed,
                    .transpose_b = p.b_right.transposed,
                    .grad_b = true}));
}

// Adds a product like tf.matmul: MatMul if both factors are known to be matrices, and otherwise
// BatchMatMulV2.
Output Product(Factor left, Factor right, bool grad_x, bool grad_y) {
  if (left.matrix.shape().rank() == 2 && right.matrix.shape().rank() == 2) {
    auto plain = [](const Factor& f) { return f.transposed ? ConjOf(f.matrix) : f.matrix; };
    return MatMul(plain(left), plain(right),
                  {.transpose_a = left.transposed,
                   .transpose_b = right.transposed,
                   .grad_a = grad_x,
                   .grad_b = grad_y});
  }
  return BatchMatMulV2(
      left.matrix, right.matrix,
      {.adj_x = left.transposed, .adj_y = right.transposed, .grad_x = grad_x, .grad_y = grad_y});
}

Output WithoutLastTwoOf(Output shape) {
  Graph& g = *shape.graph();
  return StridedSlice(shape, IntVector(g, {0}, "strided_slice/stack"),
                      IntVector(g, {-2}, "strided_slice/stack_1"),
                      IntVector(g, {1}, "strided_slice/stack_2"), {.begin_mask = 1});
}

void BatchGradient(Backprop& b, bool broadcasts) {
  const bool adj_x = b.attr<bool>("adj_x"), adj_y = b.attr<bool>("adj_y");
  Output x = b.In(0), y = b.In(1);
  Products p = GradientProducts(x, y, b.Of(0), adj_x, adj_y);
  Output gx = Product(p.a_left, p.a_right, broadcasts, false);
  Output gy = Product(p.b_left, p.b_right, false, broadcasts);
  const PartialShape x_batch = WithoutLastTwo(x.shape()), y_batch = WithoutLastTwo(y.shape());
  const bool no_batch = x.shape().rank() == 2 && y.shape().rank() == 2;
  if (broadcasts && !no_batch && !(x_batch.IsFullyDefined() && x_batch == y_batch)) {
    Output x_shape = ShapeOf(x), y_shape = ShapeOf(y);
    BroadcastGradientArgsOutputs axes =
        BroadcastGradientArgs(WithoutLastTwoOf(x_shape), WithoutLastTwoOf(y_shape));
    gx = Reshape(Sum(gx, axes.r0), x_shape);
    gy = Reshape(Sum(gy, axes.r1), y_shape);
  }
  b.Into(0, gx);
  b.Into(1, gy);
}
#endif

OP(MatMul, "Computes the product of two matrices.")
    .Input("a", "T")
    .Input("b", "T")
    .Output("product", "T")
    .Attr("transpose_a", BoolAttr(false))
    .Attr("transpose_b", BoolAttr(false))
    .Attr("T", TypeAttr(FloatTypes() | UnsignedIntTypes() | ComplexTypes() | IndexTypes()))
    .Attr("grad_a", BoolAttr(false))
    .Attr("grad_b", BoolAttr(false))
    .Recompute(MultiplyAddsOfProduct)
    .Shape(MatMulShape) GRADIENT(MatMulGradient);

OP(_MatMulColumns,
   "Computes `columns` columns of MatMul's result, from column `first` on. A session replaces a "
   "product that is sliced by it (executor/passes/narrow_products.h).")
    .Input("a", "T")
    .Input("b", "T")
    .Output("product", "T")
    .Attr("first", IntAttr())
    .Attr("columns", IntAttr())
    .Attr("transpose_a", BoolAttr(false))
    .Attr("transpose_b", BoolAttr(false))
    .Attr("T", TypeAttr(FloatTypes() | UnsignedIntTypes() | ComplexTypes() | IndexTypes()))
    .Recompute(MultiplyAddsOfProduct)
    .Shape(MatMulColumnsShape);

OP(_PackColumns,
   "Packs columns `first` to `first` + `columns` of b or its transpose for the matrix unit. The "
   "output is empty on a machine that has none (executor/passes/pack_operands.h).")
    .Input("b", DT_FLOAT)
    .Output("packed", DT_UINT8)
    .Attr("first", IntAttr())
    .Attr("columns", IntAttr())
    .Attr("transpose_b", BoolAttr(false))
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 2).status());
      return c.SetOutput(0, {PartialShape::kUnknown});
    });

OP(_PackedMatMul,
   "Computes the product of a and columns of b, which are also given in packed form.")
    .Input("a", DT_FLOAT)
    .Input("b", DT_FLOAT)
    .Input("packed", DT_UINT8)
    .Output("product", DT_FLOAT)
    .Attr("first", IntAttr())
    .Attr("columns", IntAttr())
    .Attr("transpose_b", BoolAttr(false))
    .Recompute(MultiplyAddsOfProduct)
    .Shape(PackedMatMulShape);

OP(BatchMatMul, "Computes the products of the matrices of two batches of one shape.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes() | ComplexTypes() | IndexTypes()))
    .Attr("adj_x", BoolAttr(false))
    .Attr("adj_y", BoolAttr(false))
    .Attr("grad_x", BoolAttr(false))
    .Attr("grad_y", BoolAttr(false))
    .Recompute(MultiplyAddsOfProduct)
    .Shape(SameBatchShape) GRADIENT([](Backprop& b) { BatchGradient(b, false); });

OP(BatchMatMulV2,
   "Computes the products of the matrices of two batches. The batch dimensions broadcast.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes() | UnsignedIntTypes() | ComplexTypes() | IndexTypes() |
                        TypeSet{DT_INT16}))
    .Attr("adj_x", BoolAttr(false))
    .Attr("adj_y", BoolAttr(false))
    .Attr("grad_x", BoolAttr(false))
    .Attr("grad_y", BoolAttr(false))
    .Recompute(MultiplyAddsOfProduct)
    .Shape(BroadcastBatchShape) GRADIENT([](Backprop& b) { BatchGradient(b, true); });

OP(BatchMatMulV3, "BatchMatMulV2 with a type for each tensor. Bytes are summed in int32.")
    .Input("x", "Ta")
    .Input("y", "Tb")
    .Output("output", "Tout")
    .Attr("Ta", TypeAttr(FloatTypes() | SignedIntTypes() | ComplexTypes() | TypeSet{DT_UINT8}))
    .Attr("Tb", TypeAttr(FloatTypes() | SignedIntTypes() | ComplexTypes() | TypeSet{DT_UINT8}))
    .Attr("Tout", TypeAttr(FloatTypes() | ComplexTypes() | IndexTypes() | TypeSet{DT_INT16}))
    .Attr("adj_x", BoolAttr(false))
    .Attr("adj_y", BoolAttr(false))
    .Attr("grad_x", BoolAttr(false))
    .Attr("grad_y", BoolAttr(false))
    .Shape(BroadcastBatchShape) GRADIENT([](Backprop& b) { BatchGradient(b, true); });

}  // namespace
}  // namespace sluice
