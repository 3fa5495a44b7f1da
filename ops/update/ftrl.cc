// Follow the regularised leader, proximal (McMahan and others 2013).

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyFtrl,
   "n = accum + grad²; linear += grad - (n^-lr_power - accum^-lr_power) / lr * var; var = "
   "(clip(linear, -l1, l1) - linear) / (n^-lr_power / lr + 2 * l2); accum = n.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .RefInput("linear", "T")
    .Input("grad", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("lr_power", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyFtrl, "ApplyFtrl of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("linear", DT_RESOURCE)
    .Input("grad", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("lr_power", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyFtrl, "ApplyFtrl for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .RefInput("linear", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("lr_power", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyFtrl,
   "ApplyFtrl of the variable behind a handle, for the rows `indices` only; an index may "
   "repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("linear", DT_RESOURCE)
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("lr_power", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(ApplyFtrlV2,
   "Ftrl with shrinkage: grad + 2 * l2_shrinkage * var in place of grad where linear is "
   "updated.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .RefInput("linear", "T")
    .Input("grad", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("l2_shrinkage", "T")
    .Input("lr_power", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyFtrlV2, "ApplyFtrlV2 of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("linear", DT_RESOURCE)
    .Input("grad", "T")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("l2_shrinkage", "T")
    .Input("lr_power", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyFtrlV2, "ApplyFtrlV2 for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .RefInput("linear", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("l2_shrinkage", "T")
    .Input("lr_power", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyFtrlV2,
   "ApplyFtrlV2 of the variable behind a handle, for the rows `indices` only; an index may "
   "repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("linear", DT_RESOURCE)
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Input("lr", "T")
    .Input("l1", "T")
    .Input("l2", "T")
    .Input("l2_shrinkage", "T")
    .Input("lr_power", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Attr("multiply_linear_by_lr", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

}  // namespace
}  // namespace sluice
