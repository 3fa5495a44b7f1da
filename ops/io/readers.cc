// Ops that make readers. A reader reads the records of files, whose names come from a queue. The
// output of a …V2 op is a resource handle that names the reader. In old graphs, it is a reference
// to a vector of two strings.
#include "ops/io/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

void FixedLengthAttrs(OpDefBuilder& op) {
  op.Attr("header_bytes", IntAttr(0))
      .Attr("record_bytes", IntAttr())
      .With(Attrs({"footer_bytes", "hop_bytes"}, IntAttr(0)))
      .With(ContainerAttrs);
}

OP(FixedLengthRecordReader, "FixedLengthRecordReaderV2 with a reference handle.")
    .With(MakesRefReader)
    .With(FixedLengthAttrs)
    .Deprecated(26, "Use FixedLengthRecordReaderV2");

OP(FixedLengthRecordReaderV2,
   "Makes a reader of records of `record_bytes` each, between a header and a footer. The next "
   "record begins `hop_bytes` later (0: after the record). Keys are `<file>:<index>`.")
    .With(MakesReader)
    .With(FixedLengthAttrs)
    .Attr("encoding", StringAttr(""));

OP(IdentityReader, "IdentityReaderV2 with a reference handle.")
    .With(MakesRefReader)
    .With(ContainerAttrs)
    .Deprecated(26, "Use IdentityReaderV2");

OP(IdentityReaderV2, "Makes a reader whose only record is the file name, as key and as value.")
    .With(MakesReader)
    .With(ContainerAttrs);

OP(TFRecordReader, "TFRecordReaderV2 with a reference handle.")
    .With(MakesRefReader)
    .With(ContainerAttrs)
    .Attr("compression_type", StringAttr(""))
    .Deprecated(26, "Use TFRecordReaderV2");

OP(TFRecordReaderV2, "Makes a reader of TFRecord files. Keys are `<file>:<offset>`.")
    .With(MakesReader)
    .With(ContainerAttrs)
    .Attr("compression_type", StringAttr(""));

OP(TextLineReader, "TextLineReaderV2 with a reference handle.")
    .With(MakesRefReader)
    .Attr("skip_header_lines", IntAttr(0))
    .With(ContainerAttrs)
    .Deprecated(26, "Use TextLineReaderV2");

OP(TextLineReaderV2,
   "Makes a reader of lines, without their ends. Keys are `<file>:<line>`, counted from 1.")
    .With(MakesReader)
    .Attr("skip_header_lines", IntAttr(0))
    .With(ContainerAttrs);

OP(WholeFileReader, "WholeFileReaderV2 with a reference handle.")
    .With(MakesRefReader)
    .With(ContainerAttrs);

OP(WholeFileReaderV2, "Makes a reader whose only record is the whole file. The key is its name.")
    .With(MakesReader)
    .With(ContainerAttrs);

}  // namespace
}  // namespace sluice
