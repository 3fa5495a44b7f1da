// Steps in the units of the variable (Zeiler 2012).

#include "ops/op.h"
#include "ops/update/update_shape.h"

namespace sluice {
namespace {

OP(ApplyAdadelta,
   "accum = rho * accum + (1 - rho) * grad²; u = sqrt(accum_update + epsilon) / sqrt(accum + "
   "epsilon) * grad; accum_update = rho * accum_update + (1 - rho) * u²; var -= lr * u.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .RefInput("accum_update", "T")
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceApplyAdadelta, "ApplyAdadelta of the variable behind a handle.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("accum_update", DT_RESOURCE)
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

OP(SparseApplyAdadelta, "ApplyAdadelta for the rows `indices` only; an index may repeat.")
    .RefInput("var", "T")
    .RefInput("accum", "T")
    .RefInput("accum_update", "T")
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .RefOutput("out", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Shape(UpdateShape);

OP(ResourceSparseApplyAdadelta,
   "ApplyAdadelta of the variable behind a handle, for the rows `indices` only; an index may "
   "repeat.")
    .Input("var", DT_RESOURCE)
    .Input("accum", DT_RESOURCE)
    .Input("accum_update", DT_RESOURCE)
    .Input("lr", "T")
    .Input("rho", "T")
    .Input("epsilon", "T")
    .Input("grad", "T")
    .Input("indices", "Tindices")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("use_locking", BoolAttr(false))
    .Stateful()
    .Shape(UpdateShape);

}  // namespace
}  // namespace sluice
