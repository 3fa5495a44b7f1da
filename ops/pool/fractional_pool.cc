// Pools over images [batch, height, width, channels] that tell where the greatest elements lie, and
// pools whose windows have random sizes.
#include <cmath>

#include "ops/conv/window.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/pool/fractional_pool_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

absl::Status ArgmaxShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, 4));
  const auto& ksize = c.attr<std::vector<int64_t>>("ksize");
  const auto& strides = c.attr<std::vector<int64_t>>("strides");
  if (ksize.size() != 4 || strides.size() != 4) {
    return InvalidArgument("MaxPoolWithArgmax requires the ksize and stride attributes to contain ",
                           "4 values, but got: ", ksize.size(), " and ", strides.size());
  }
  PartialShape out = PartialShape::UnknownOfRank(4);
  for (int d = 0; d < 4; ++d) {
    const Sliding along{.stride = strides[d], .padding = PaddingOf(c.attr<std::string>("padding"))};
    SLUICE_ASSIGN_OR_RETURN(const int64_t size, d == 0 ? absl::StatusOr<int64_t>(in.dim(0))
                                                       : WindowOutputs(in.dim(d), ksize[d], along));
    out.set_dim(d, size);
  }
  c.SetOutput(0, out).IgnoreError();
  return c.SetOutput(1, out);
}

absl::Status ImageOfInput(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape image, c.WithRank(0, 4));
  return c.SetOutput(0, image);
}

absl::Status FractionalShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, 4));
  const auto& ratio = c.attr<std::vector<float>>("pooling_ratio");
  if (ratio.size() != 4) {
    return InvalidArgument("pooling_ratio field must specify 4 dimensions, got ", ratio.size());
  }
  PartialShape out = PartialShape::UnknownOfRank(4);
  for (int d = 0; d < 4; ++d) {
    if (in.dim(d) < 0) continue;
    const auto size = static_cast<int64_t>(std::floor(static_cast<float>(in.dim(d)) / ratio[d]));
    if (size < 0) return InvalidArgument("Size computed for dim ", d, " is negative: ", size);
    out.set_dim(d, size);
  }
  c.SetOutput(0, out).IgnoreError();
  for (int d : {1, 2}) {
    c.SetOutput(d, {out.dim(d) < 0 ? -1 : out.dim(d) + 1}).IgnoreError();
  }
  return absl::OkStatus();
}

OP(FractionalAvgPool,
   "The mean of cells whose sizes are the ratio rounded down or up, at random. Also gives the "
   "cells' borders along height and width.")
    .Input("value", "T")
    .Output("output", "T")
    .Output("row_pooling_sequence", DT_INT64)
    .Output("col_pooling_sequence", DT_INT64)
    .Attr("pooling_ratio", FloatListAttr().Min(4))
    .Attr("pseudo_random", BoolAttr(false))
    .Attr("overlapping", BoolAttr(false))
    .Attr("deterministic", BoolAttr(false))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}))
    .Shape(FractionalShape) GRADIENT([](Backprop& b) {
      b.Into("value",
             FractionalAvgPoolGrad(ShapeNode(b.Value("value"), DT_INT64), b.Of("output"),
                                   b.Value("row_pooling_sequence"), b.Value("col_pooling_sequence"),
                                   {.overlapping = b.attr<bool>("overlapping")}));
    });

OP(FractionalAvgPoolGrad,
   "Gradient of FractionalAvgPool by its input, of the shape orig_input_tensor_shape.")
    .Input("orig_input_tensor_shape", DT_INT64)
    .Input("out_backprop", "T")
    .Input("row_pooling_sequence", DT_INT64)
    .Input("col_pooling_sequence", DT_INT64)
    .Output("output", "T")
    .Attr("overlapping", BoolAttr(false))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(0));
      SLUICE_ASSIGN_OR_RETURN(shape, WithRank(shape, 4));
      return c.SetOutput(0, shape);
    });

OP(FractionalMaxPool,
   "The greatest elements of cells whose sizes are the ratio rounded down or up, at random. Also "
   "gives the cells' borders along height and width.")
    .Input("value", "T")
    .Output("output", "T")
    .Output("row_pooling_sequence", DT_INT64)
    .Output("col_pooling_sequence", DT_INT64)
    .Attr("pooling_ratio", FloatListAttr().Min(4))
    .Attr("pseudo_random", BoolAttr(false))
    .Attr("overlapping", BoolAttr(false))
    .Attr("deterministic", BoolAttr(false))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}))
    .Shape(FractionalShape) GRADIENT([](Backprop& b) {
      b.Into("value",
             FractionalMaxPoolGrad(b.Value("value"), b.Value("output"), b.Of("output"),
                                   b.Value("row_pooling_sequence"), b.Value("col_pooling_sequence"),
                                   {.overlapping = b.attr<bool>("overlapping")}));
    });

OP(FractionalMaxPoolGrad,
   "Gradient of FractionalMaxPool: each element of out_backprop goes to the first greatest element "
   "of its cell.")
    .Input("orig_input", "T")
    .Input("orig_output", "T")
    .Input("out_backprop", "T")
    .Input("row_pooling_sequence", DT_INT64)
    .Input("col_pooling_sequence", DT_INT64)
    .Output("output", "T")
    .Attr("overlapping", BoolAttr(false))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}))
    .Shape(ImageOfInput);

OP(MaxPoolGradWithArgmax,
   "Gradient of MaxPoolWithArgmax: each element of grad goes where argmax says.")
    .Input("input", "T")
    .Input("grad", "T")
    .Input("argmax", "Targmax")
    .Output("output", "T")
    .Attr("ksize", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("include_batch_in_index", BoolAttr(false))
    .Attr("Targmax", TypeAttr(IndexTypes()))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(ImageOfInput);

OP(MaxPoolWithArgmax,
   "The greatest element of each window, and its place: (y * width + x) * channels + channel, or "
   "with the batch in front of it.")
    .Input("input", "T")
    .Output("output", "T")
    .Output("argmax", "Targmax")
    .Attr("ksize", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("Targmax", TypeAttr(IndexTypes(), DT_INT64))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("include_batch_in_index", BoolAttr(false))
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(ArgmaxShape) GRADIENT([](Backprop& b) {
      b.Into("input", MaxPoolGradWithArgmax(
                          b.Value("input"), b.Of("output"), b.Value("argmax"),
                          b.attr<std::vector<int64_t>>("ksize"),
                          b.attr<std::vector<int64_t>>("strides"), b.attr<std::string>("padding"),
                          {.include_batch_in_index = b.attr<bool>("include_batch_in_index")}));
    });

}  // namespace
}  // namespace sluice
