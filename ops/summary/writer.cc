// Writers of event files, and ops that write to them.
#include "ops/op.h"

namespace sluice {
namespace {

OP(SummaryWriter, "A writer of events; CreateSummaryFileWriter opens its file.")
    .Output("writer", DT_RESOURCE)
    .Attr("shared_name", StringAttr(""))
    .Attr("container", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(CreateSummaryFileWriter,
   "Opens an event file in `logdir`, unless the writer has one. At most `max_queue` events wait in "
   "memory, for `flush_millis` at most.")
    .Input("writer", DT_RESOURCE)
    .Input("logdir", DT_STRING)
    .Input("max_queue", DT_INT32)
    .Input("flush_millis", DT_INT32)
    .Input("filename_suffix", DT_STRING)
    .Stateful()
    .Shape(NoOutputs());

OP(FlushSummaryWriter, "Writes the events that wait.")
    .Input("writer", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(CloseSummaryWriter, "Writes the events that wait and closes the writer.")
    .Input("writer", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(WriteSummary, "Writes a tensor as it is, with a serialised SummaryMetadata.")
    .Input("writer", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("tensor", "T")
    .Input("tag", DT_STRING)
    .Input("summary_metadata", DT_STRING)
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(NoOutputs());

OP(WriteRawProtoSummary, "Writes serialised Summary messages as one.")
    .Input("writer", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("tensor", DT_STRING)
    .Stateful()
    .Shape(NoOutputs());

OP(WriteScalarSummary, "Writes a number.")
    .Input("writer", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("tag", DT_STRING)
    .Input("value", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Stateful()
    .Shape(NoOutputs());

OP(WriteHistogramSummary, "Writes a histogram of all values.")
    .Input("writer", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("tag", DT_STRING)
    .Input("values", "T")
    .Attr("T", TypeAttr({DT_FLOAT, DT_DOUBLE, DT_INT32, DT_UINT8, DT_INT16, DT_INT8, DT_INT64,
                         DT_BFLOAT16, DT_UINT16, DT_HALF, DT_UINT32, DT_UINT64, DT_BOOL},
                        DT_FLOAT))
    .Stateful()
    .Shape(NoOutputs());

OP(WriteImageSummary, "Writes images as ImageSummary makes them.")
    .Input("writer", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("tag", DT_STRING)
    .Input("tensor", "T")
    .Input("bad_color", DT_UINT8)
    .Attr("max_images", IntAttr(3).Min(1))
    .Attr("T", TypeAttr({DT_UINT8, DT_DOUBLE, DT_FLOAT, DT_HALF}, DT_FLOAT))
    .Stateful()
    .Shape(NoOutputs());

OP(WriteAudioSummary, "Writes sounds as AudioSummaryV2 makes them.")
    .Input("writer", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("tag", DT_STRING)
    .Input("tensor", DT_FLOAT)
    .Input("sample_rate", DT_FLOAT)
    .Attr("max_outputs", IntAttr(3).Min(1))
    .Stateful()
    .Shape(NoOutputs());

OP(WriteGraphSummary, "Writes a serialised GraphDef.")
    .Input("writer", DT_RESOURCE)
    .Input("step", DT_INT64)
    .Input("tensor", DT_STRING)
    .Stateful()
    .Shape(NoOutputs());

OP(ImportEvent, "Writes a serialised Event as it is.")
    .Input("writer", DT_RESOURCE)
    .Input("event", DT_STRING)
    .Stateful()
    .Shape(NoOutputs());

}  // namespace
}  // namespace sluice
