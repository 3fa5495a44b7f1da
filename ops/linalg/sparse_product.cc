// Ops for products of matrices that may have many zeros.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/linalg/sparse_product_builders.h"
#endif

namespace sluice {
namespace {

constexpr TypeSet kFactors{DT_FLOAT, DT_BFLOAT16};

OP(SparseMatMul,
   "Computes the product of two matrices in float. a_is_sparse and b_is_sparse are hints that many "
   "elements are zero.")
    .Input("a", "Ta")
    .Input("b", "Tb")
    .Output("product", DT_FLOAT)
    .Attr("transpose_a", BoolAttr(false))
    .Attr("transpose_b", BoolAttr(false))
    .Attr("a_is_sparse", BoolAttr(false))
    .Attr("b_is_sparse", BoolAttr(false))
    .Attr("Ta", TypeAttr(kFactors, DT_FLOAT))
    .Attr("Tb", TypeAttr(kFactors, DT_FLOAT))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape a, c.WithRank(0, 2));
      SLUICE_ASSIGN_OR_RETURN(const PartialShape b, c.WithRank(1, 2));
      const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
      SLUICE_RETURN_IF_ERROR(MergeDim(a.dim(ta ? 0 : 1), b.dim(tb ? 1 : 0)).status());
      return c.SetOutput(0, {a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)});
    }) GRADIENT([](Backprop& b) {
      const bool ta = b.attr<bool>("transpose_a"), tb = b.attr<bool>("transpose_b");
      const bool a_sparse = b.attr<bool>("a_is_sparse"), b_sparse = b.attr<bool>("b_is_sparse");
      Output x = b.Value("a"), y = b.Value("b"), grad = b.Of("product");
      // The gradient of a Relu has many zeros, like the Relu itself.
      const bool grad_sparse = grad && grad.node->op() == "ReluGrad";
      struct Factor {
        Output matrix;
        bool is_transposed, is_sparse;
      };
      const auto product = [](const Factor& l, const Factor& r, DataType type) {
        const SparseMatMulAttrs attrs = {.transpose_a = l.is_transposed,
                                         .transpose_b = r.is_transposed,
                                         .a_is_sparse = l.is_sparse,
                                         .b_is_sparse = r.is_sparse};
        Output out = SparseMatMul(l.matrix, r.matrix, attrs);
        return out.dtype() == type ? out : Cast(out, type);
      };
      const Factor g{grad, false, grad_sparse}, gt{grad, true, grad_sparse};
      const DataType x_type = BaseType(x.dtype()), y_type = BaseType(y.dtype());
      b.Into("a",
             ta ? product({y, tb, b_sparse}, gt, x_type) : product(g, {y, !tb, b_sparse}, x_type));
      b.Into("b",
             tb ? product(gt, {x, ta, a_sparse}, y_type) : product({x, !ta, a_sparse}, g, y_type));
    });

}  // namespace
}  // namespace sluice
