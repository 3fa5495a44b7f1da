// Ops that summarise tensors. The result is a serialised Summary.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

void MakesSummary(OpDefBuilder& op) {
  op.Output("summary", DT_STRING).NotDifferentiable().Shape(ScalarOutput());
}

OP(ScalarSummary, "Summarises numbers under tags. Tags and values have the same shape.")
    .Input("tags", DT_STRING)
    .Input("values", "T")
    .With(MakesSummary)
    .Attr("T", TypeAttr(RealTypes()));

OP(HistogramSummary,
   "Summarises all values as a histogram under one tag. INVALID_ARGUMENT if a value is not finite.")
    .Input("tag", DT_STRING)
    .Input("values", "T")
    .With(MakesSummary)
    .Attr("T", TypeAttr(RealTypes(), DT_FLOAT));

OP(ImageSummary,
   "Summarises [batch, height, width, channels] as PNG images under `<tag>/image/<i>`. Pixels that "
   "are not uint8 are scaled for each image. Pixels that are not finite become `bad_color`.")
    .Input("tag", DT_STRING)
    .Input("tensor", "T")
    .With(MakesSummary)
    .Attr("max_images", IntAttr(3).Min(1))
    .Attr("T", TypeAttr({DT_UINT8, DT_FLOAT, DT_HALF, DT_DOUBLE}, DT_FLOAT))
    .Attr("bad_color", TensorAttr().Default(Tensor::Vector<uint8_t>({255, 0, 0, 255})));

OP(AudioSummary, "AudioSummaryV2 with the sample rate as an attribute.")
    .Input("tag", DT_STRING)
    .Input("tensor", DT_FLOAT)
    .With(MakesSummary)
    .Attr("sample_rate", FloatAttr())
    .Attr("max_outputs", IntAttr(3).Min(1))
    .Deprecated(15, "Use AudioSummaryV2.");

OP(AudioSummaryV2,
   "Summarises [batch, frames, channels] or [batch, frames] as WAV files under `<tag>/audio/<i>`. "
   "Samples are in [-1, 1].")
    .Input("tag", DT_STRING)
    .With(Inputs({"tensor", "sample_rate"}, DT_FLOAT))
    .With(MakesSummary)
    .Attr("max_outputs", IntAttr(3).Min(1));

OP(MergeSummary,
   "Merges summaries into one. INVALID_ARGUMENT if two of their values have the same tag.")
    .Input("inputs", "N*string")
    .With(MakesSummary)
    .Attr("N", IntAttr().Min(1));

OP(TensorSummary, "Summarises a whole tensor under the name of the node.")
    .Input("tensor", "T")
    .With(MakesSummary)
    .Attr("T", TypeAttr())
    .Attr("description", StringAttr(""))
    .Attr("labels", StringListAttr({}))
    .Attr("display_name", StringAttr(""));

OP(TensorSummaryV2,
   "Summarises a whole tensor under a tag. A serialised SummaryMetadata names the plugin of "
   "TensorBoard that displays it.")
    .Input("tag", DT_STRING)
    .Input("tensor", "T")
    .Input("serialized_summary_metadata", DT_STRING)
    .With(MakesSummary)
    .Attr("T", TypeAttr());

}  // namespace
}  // namespace sluice
