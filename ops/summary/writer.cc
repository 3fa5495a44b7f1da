// Ops that make writers of event files, and ops that write to them.
#include "graph/op/mixins.h"
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

void UsesWriter(OpDefBuilder& op) { op.Input("writer", DT_RESOURCE).Stateful().Shape(NoOutputs()); }

// Declares an op that writes an event for a step.
void WritesEvent(OpDefBuilder& op) { op.With(UsesWriter).Input("step", DT_INT64); }

OP(SummaryWriter, "Makes a writer of events. CreateSummaryFileWriter opens its file.")
    .With(MakesResourceHandle("writer"))
    .With(Attrs({"shared_name", "container"}, StringAttr("")));

OP(CreateSummaryFileWriter,
   "Opens an event file in `logdir`, unless the writer has one. At most `max_queue` events wait in "
   "memory, for `flush_millis` at most.")
    .With(UsesWriter)
    .Input("logdir", DT_STRING)
    .With(Inputs({"max_queue", "flush_millis"}, DT_INT32))
    .Input("filename_suffix", DT_STRING);

OP(FlushSummaryWriter, "Writes the waiting events.").With(UsesWriter);

OP(CloseSummaryWriter, "Writes the waiting events and closes the writer.").With(UsesWriter);

OP(WriteSummary, "Writes a whole tensor with a serialised SummaryMetadata.")
    .With(WritesEvent)
    .Input("tensor", "T")
    .With(Inputs({"tag", "summary_metadata"}, DT_STRING))
    .Attr("T", TypeAttr());

OP(WriteRawProtoSummary, "Merges and writes serialised Summary messages.")
    .With(WritesEvent)
    .Input("tensor", DT_STRING);

OP(WriteScalarSummary, "Writes a number.")
    .With(WritesEvent)
    .Input("tag", DT_STRING)
    .Input("value", "T")
    .Attr("T", TypeAttr(RealTypes()));

OP(WriteHistogramSummary, "Writes a histogram of all values.")
    .With(WritesEvent)
    .Input("tag", DT_STRING)
    .Input("values", "T")
    .Attr("T", TypeAttr(RealTypes() | TypeSet{DT_BOOL}, DT_FLOAT));

OP(WriteImageSummary, "Writes images as ImageSummary does.")
    .With(WritesEvent)
    .Input("tag", DT_STRING)
    .Input("tensor", "T")
    .Input("bad_color", DT_UINT8)
    .Attr("max_images", IntAttr(3).Min(1))
    .Attr("T", TypeAttr({DT_UINT8, DT_DOUBLE, DT_FLOAT, DT_HALF}, DT_FLOAT));

OP(WriteAudioSummary, "Writes sounds as AudioSummaryV2 does.")
    .With(WritesEvent)
    .Input("tag", DT_STRING)
    .With(Inputs({"tensor", "sample_rate"}, DT_FLOAT))
    .Attr("max_outputs", IntAttr(3).Min(1));

OP(WriteGraphSummary, "Writes a serialised GraphDef.").With(WritesEvent).Input("tensor", DT_STRING);

OP(ImportEvent, "Writes a serialised Event without changing it.")
    .With(UsesWriter)
    .Input("event", DT_STRING);

}  // namespace
}  // namespace sluice
