// Datasets that begin a pipeline.

#include "ops/op.h"

namespace sluice {
namespace {

OP(FixedLengthRecordDataset,
   "Records of `record_bytes` out of files, between a header and a footer.")
    .Input("filenames", DT_STRING)
    .Input("header_bytes", DT_INT64)
    .Input("record_bytes", DT_INT64)
    .Input("footer_bytes", DT_INT64)
    .Input("buffer_size", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(FixedLengthRecordDatasetV2,
   "Records of `record_bytes` out of files, also compressed ones (ZLIB, GZIP), between a header "
   "and a footer.")
    .Input("filenames", DT_STRING)
    .Input("header_bytes", DT_INT64)
    .Input("record_bytes", DT_INT64)
    .Input("footer_bytes", DT_INT64)
    .Input("buffer_size", DT_INT64)
    .Input("compression_type", DT_STRING)
    .Output("handle", DT_VARIANT)
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(RangeDataset, "The numbers from `start` up to, without, `stop`, in steps.")
    .Input("start", DT_INT64)
    .Input("stop", DT_INT64)
    .Input("step", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("output_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Attr("replicate_on_split", BoolAttr(false))
    .Stateful()
    .Shape(ScalarOutput());

OP(TFRecordDataset, "The records of TFRecord files, also compressed ones (ZLIB, GZIP).")
    .Input("filenames", DT_STRING)
    .Input("compression_type", DT_STRING)
    .Input("buffer_size", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(TFRecordDatasetV2, "TFRecordDataset; each file is read from its offset on.")
    .Input("filenames", DT_STRING)
    .Input("compression_type", DT_STRING)
    .Input("buffer_size", DT_INT64)
    .Input("byte_offsets", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(TensorDataset, "One element: the components.")
    .Input("components", "Toutput_types")
    .Output("handle", DT_VARIANT)
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(TensorSliceDataset, "An element a row of the components.")
    .Input("components", "Toutput_types")
    .Output("handle", DT_VARIANT)
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("is_files", BoolAttr(false))
    .Attr("metadata", StringAttr(""))
    .Attr("replicate_on_split", BoolAttr(false))
    .Stateful()
    .Shape(ScalarOutput());

OP(TextLineDataset, "The lines of text files, also compressed ones (ZLIB, GZIP).")
    .Input("filenames", DT_STRING)
    .Input("compression_type", DT_STRING)
    .Input("buffer_size", DT_INT64)
    .Output("handle", DT_VARIANT)
    .Attr("metadata", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
