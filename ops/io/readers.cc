// Readers: what gives out the records of files.
#include "ops/op.h"

namespace sluice {
namespace {

OP(FixedLengthRecordReader,
   "FixedLengthRecordReaderV2 behind a vector of two strings: container and name.")
    .RefOutput("reader_handle", DT_STRING)
    .Attr("header_bytes", IntAttr(0))
    .Attr("record_bytes", IntAttr())
    .Attr("footer_bytes", IntAttr(0))
    .Attr("hop_bytes", IntAttr(0))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Deprecated(26, "Use FixedLengthRecordReaderV2")
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(FixedLengthRecordReaderV2,
   "A reader of records of `record_bytes` each, `hop_bytes` apart (0: one behind the other), "
   "between a header and a footer. Keys are `<file>:<index>`.")
    .Output("reader_handle", DT_RESOURCE)
    .Attr("header_bytes", IntAttr(0))
    .Attr("record_bytes", IntAttr())
    .Attr("footer_bytes", IntAttr(0))
    .Attr("hop_bytes", IntAttr(0))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("encoding", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(IdentityReader, "IdentityReaderV2 behind a vector of two strings: container and name.")
    .RefOutput("reader_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Deprecated(26, "Use IdentityReaderV2")
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(IdentityReaderV2,
   "A reader whose record is the name that came out of the queue, as key and value.")
    .Output("reader_handle", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(TFRecordReader, "TFRecordReaderV2 behind a vector of two strings: container and name.")
    .RefOutput("reader_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("compression_type", StringAttr(""))
    .Stateful()
    .Deprecated(26, "Use TFRecordReaderV2")
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(TFRecordReaderV2, "A reader of TFRecord files. Keys are `<file>:<offset>`.")
    .Output("reader_handle", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Attr("compression_type", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(TextLineReader, "TextLineReaderV2 behind a vector of two strings: container and name.")
    .RefOutput("reader_handle", DT_STRING)
    .Attr("skip_header_lines", IntAttr(0))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Deprecated(26, "Use TextLineReaderV2")
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(TextLineReaderV2, "A reader of lines, without their ends. Keys are `<file>:<line>`, from 1.")
    .Output("reader_handle", DT_RESOURCE)
    .Attr("skip_header_lines", IntAttr(0))
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

OP(WholeFileReader, "WholeFileReaderV2 behind a vector of two strings: container and name.")
    .RefOutput("reader_handle", DT_STRING)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.SetOutput(0, PartialShape::Vector(2)); });

OP(WholeFileReaderV2, "A reader whose records are whole files; the key is the name.")
    .Output("reader_handle", DT_RESOURCE)
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
