// Ops for datasets that read no other dataset, but tensors, numbers or files.
#include "ops/data/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Declares a dataset of strings that are read from files.
void ReadsFiles(OpDefBuilder& op) {
  op.Input("filenames", DT_STRING).With(MakesDataset).With(Metadata).Stateful();
}

void ReadsFixedLengthRecords(OpDefBuilder& op) {
  op.With(ReadsFiles)
      .With(Inputs({"header_bytes", "record_bytes", "footer_bytes", "buffer_size"}, DT_INT64));
}

void ReadsCompressedFiles(OpDefBuilder& op) {
  op.With(ReadsFiles).Input("compression_type", DT_STRING).Input("buffer_size", DT_INT64);
}

// Declares the inputs of CSVDataset and its second version, which has one more.
void ReadsCsvFiles(OpDefBuilder& op) {
  op.Input("filenames", DT_STRING)
      .Input("compression_type", DT_STRING)
      .Input("buffer_size", DT_INT64)
      .Input("header", DT_BOOL)
      .Input("field_delim", DT_STRING)
      .Input("use_quote_delim", DT_BOOL)
      .Input("na_value", DT_STRING)
      .Input("select_cols", DT_INT64)
      .Input("record_defaults", "output_types")
      .With(MakesDataset)
      .Attr("output_types",
            TypeListAttr({DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64, DT_STRING}).Min(1))
      .Attr("output_shapes", ShapeListAttr().Min(1))
      .Stateful()
      .Shape([](ShapeContext& c) {
        const auto [first, last] = c.InputRange("record_defaults");
        for (int i = first; i < last; ++i) {
          SLUICE_ASSIGN_OR_RETURN(const PartialShape value, c.WithRankAtMost(i, 1));
          SLUICE_INVALID_IF(value.rank() == 1 && value.dim(0) > 1,
                            "Shape of a default must be a length-0 or length-1 vector, or a "
                            "scalar.");
        }
        return c.SetOutput(0, PartialShape::Scalar());
      });
}

OP(CSVDataset,
   "Reads records of comma-separated values, with an element's component per column. Components "
   "are those of `select_cols`, or all columns. An empty `record_defaults` requires the field.")
    .With(ReadsCsvFiles);

OP(CSVDatasetV2, "Reads records as CSVDataset does, without the columns `exclude_cols`.")
    .With(ReadsCsvFiles)
    .Input("exclude_cols", DT_INT64);

OP(FixedLengthRecordDataset,
   "Reads records of `record_bytes` from files, between a header and a footer.")
    .With(ReadsFixedLengthRecords);

OP(FixedLengthRecordDatasetV2,
   "Reads records of `record_bytes` from files, between a header and a footer. Files may be "
   "compressed (ZLIB, GZIP).")
    .With(ReadsFixedLengthRecords)
    .Input("compression_type", DT_STRING);

OP(ListDataset, "Has one element per group of `tensors`, of as many tensors as it has components.")
    .Input("tensors", "Tinput_types")
    .With(MakesDataset)
    .Attr("Tinput_types", TypeListAttr().Min(1))
    .With(ElementsAndMetadata)
    .Stateful();

OP(MatchingFilesDataset,
   "Lists the files that match a pattern (`*`, `?`, `[…]`), sorted, one pattern after the other.")
    .Input("patterns", DT_STRING)
    .With(MakesDataset)
    .Stateful();

OP(RandomDataset, "Generates random numbers below 2^32 without end, the same ones at each reading.")
    .With(Inputs({"seed", "seed2"}, DT_INT64))
    .With(MakesDataset)
    .With(ElementsAndMetadata)
    .Stateful();

OP(RangeDataset, "Counts from `start` up to `stop`, exclusive, in steps of `step`.")
    .With(Inputs({"start", "stop", "step"}, DT_INT64))
    .With(MakesDataset)
    .With(ElementsAndMetadata)
    .Attr("replicate_on_split", BoolAttr(false))
    .Stateful();

OP(SparseTensorSliceDataset,
   "Slices a sparse tensor along its first dimension. Each element is the sparse tensor (indices, "
   "values, shape) of one row.")
    .Input("indices", DT_INT64)
    .Input("values", "Tvalues")
    .Input("dense_shape", DT_INT64)
    .With(MakesDataset)
    .Attr("Tvalues", TypeAttr())
    .Stateful();

OP(TFRecordDataset, "Reads the records of TFRecord files, which may be compressed (ZLIB, GZIP).")
    .With(ReadsCompressedFiles);

OP(TFRecordDatasetV2, "Reads the records of TFRecord files, each file from its offset on.")
    .With(ReadsCompressedFiles)
    .Input("byte_offsets", DT_INT64);

OP(TensorDataset, "Has one element: the components.")
    .Input("components", "Toutput_types")
    .With(MakesDataset)
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .With(Metadata)
    .Stateful();

OP(TensorSliceDataset, "Slices the components along their first dimension.")
    .Input("components", "Toutput_types")
    .With(MakesDataset)
    .Attr("Toutput_types", TypeListAttr().Min(1))
    .Attr("output_shapes", ShapeListAttr().Min(1))
    .Attr("is_files", BoolAttr(false))
    .With(Metadata)
    .Attr("replicate_on_split", BoolAttr(false))
    .Stateful();

OP(TextLineDataset, "Reads the lines of text files, which may be compressed (ZLIB, GZIP).")
    .With(ReadsCompressedFiles);

OLDER_NAME(ExperimentalCSVDataset, CSVDataset);
OLDER_NAME(ExperimentalMatchingFilesDataset, MatchingFilesDataset);
OLDER_NAME(ExperimentalRandomDataset, RandomDataset, "metadata");

}  // namespace
}  // namespace sluice
