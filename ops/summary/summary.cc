// Ops that make a Summary (serialised) of tensors.
#include "ops/op.h"

namespace sluice {
namespace {

OP(ScalarSummary, "A number for each tag; tags and values have the same shape.")
    .Input("tags", DT_STRING)
    .Input("values", "T")
    .Output("summary", DT_STRING)
    .Attr("T", TypeAttr(RealTypes()))
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(HistogramSummary,
   "A histogram of all values under one tag. INVALID_ARGUMENT on NaN and infinity.")
    .Input("tag", DT_STRING)
    .Input("values", "T")
    .Output("summary", DT_STRING)
    .Attr("T", TypeAttr(RealTypes(), DT_FLOAT))
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(ImageSummary,
   "PNG images of [batch, height, width, channels] under `<tag>/image/<i>`. Numbers that are not "
   "uint8 are scaled to a byte, image by image; pixels that are not finite become `bad_color`.")
    .Input("tag", DT_STRING)
    .Input("tensor", "T")
    .Output("summary", DT_STRING)
    .Attr("max_images", IntAttr(3).Min(1))
    .Attr("T", TypeAttr({DT_UINT8, DT_FLOAT, DT_HALF, DT_DOUBLE}, DT_FLOAT))
    .Attr("bad_color", TensorAttr().Default(Tensor::Vector<uint8_t>({255, 0, 0, 255})))
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(AudioSummary, "AudioSummaryV2 with the sample rate as an attribute.")
    .Input("tag", DT_STRING)
    .Input("tensor", DT_FLOAT)
    .Output("summary", DT_STRING)
    .Attr("sample_rate", FloatAttr())
    .Attr("max_outputs", IntAttr(3).Min(1))
    .Deprecated(15, "Use AudioSummaryV2.")
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(AudioSummaryV2,
   "WAV files of [batch, frames, channels] or [batch, frames] under `<tag>/audio/<i>`; samples lie "
   "in [-1, 1].")
    .Input("tag", DT_STRING)
    .Input("tensor", DT_FLOAT)
    .Input("sample_rate", DT_FLOAT)
    .Output("summary", DT_STRING)
    .Attr("max_outputs", IntAttr(3).Min(1))
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(MergeSummary, "One Summary with the values of all; INVALID_ARGUMENT when two have the same tag.")
    .Input("inputs", "N*string")
    .Output("summary", DT_STRING)
    .Attr("N", IntAttr().Min(1))
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(TensorSummary, "A tensor as it is, under the name of the node.")
    .Input("tensor", "T")
    .Output("summary", DT_STRING)
    .Attr("T", TypeAttr())
    .Attr("description", StringAttr(""))
    .Attr("labels", StringListAttr({}))
    .Attr("display_name", StringAttr(""))
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(TensorSummaryV2,
   "A tensor as it is, under a tag, with a serialised SummaryMetadata that says which plugin of "
   "TensorBoard shows it.")
    .Input("tag", DT_STRING)
    .Input("tensor", "T")
    .Input("serialized_summary_metadata", DT_STRING)
    .Output("summary", DT_STRING)
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
