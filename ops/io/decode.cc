// Ops that decode bytes and text.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status CsvShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape value, c.WithRankAtMost(i, 1));
    SLUICE_INVALID_IF(value.rank_known() && value.rank() == 1 && value.dim(0) > 1,
                      "Shape of a default must be a length-0 or length-1 vector, or a scalar.");
  }
  return c.SetOutputs(c.input(0));
}

absl::Status PaddedShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  const std::optional<Tensor> length = c.InputValue(1);
  const auto size = static_cast<int64_t>(DataTypeSize(c.output_type(0)));
  int64_t width = PartialShape::kUnknown;
  if (length.has_value()) {
    const int32_t bytes = length->scalar<int32_t>();
    SLUICE_INVALID_IF(bytes <= 0, "fixed_length must be greater than zero.");
    SLUICE_INVALID_IF(bytes % size != 0, "Dimension size must be evenly divisible by ", size,
                      " but is ", bytes, " (fixed_length)");
    width = bytes / size;
  }
  return c.SetOutput(0, c.input(0).Concatenate(PartialShape::Vector(width)));
}

OP(DecodeCSV,
   "Parses lines of comma-separated values (RFC 4180) into a tensor per column. An empty field "
   "takes the default of its column, which is required then.")
    .Input("records", DT_STRING)
    .Input("record_defaults", "OUT_TYPE")
    .Output("output", "OUT_TYPE")
    .Attr("OUT_TYPE", TypeListAttr({DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64, DT_STRING}).Min(1))
    .Attr("field_delim", StringAttr(","))
    .Attr("use_quote_delim", BoolAttr(true))
    .Attr("na_value", StringAttr(""))
    .Attr("select_cols", IntListAttr({}))
    .Shape(CsvShape);

OP(DecodeCompressed, "Decompresses bytes (ZLIB, GZIP).")
    .Input("bytes", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("compression_type", StringAttr(""))
    .Shape(SameAsInput(0));

OP(DecodePaddedRaw,
   "Reads the bytes of strings as numbers. Cuts each string to `fixed_length` bytes, or pads it "
   "with zeros.")
    .Input("input_bytes", DT_STRING)
    .Input("fixed_length", DT_INT32)
    .Output("output", "out_type")
    .Attr("out_type", TypeAttr({DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_UINT16, DT_UINT8,
                                DT_INT16, DT_INT8, DT_INT64, DT_BFLOAT16}))
    .Attr("little_endian", BoolAttr(true))
    .NotDifferentiable()
    .Shape(PaddedShape);

OP(DecodeRaw, "Reads the bytes of strings of equal length as numbers, along a new last dimension.")
    .Input("bytes", DT_STRING)
    .Output("output", "out_type")
    .Attr("out_type",
          TypeAttr({DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_UINT16, DT_UINT8, DT_INT16, DT_INT8,
                    DT_INT64, DT_COMPLEX64, DT_COMPLEX128, DT_BOOL, DT_BFLOAT16}))
    .Attr("little_endian", BoolAttr(true))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) {
      return c.SetOutput(0, c.input(0).Concatenate(PartialShape::Vector()));
    });

OP(ParseTensor, "Parses a serialised TensorProto.")
    .Input("serialized", DT_STRING)
    .Output("output", "out_type")
    .Attr("out_type", TypeAttr())
    .NotDifferentiable()
    .Shape(UnknownOutputs());

OP(SerializeTensor, "Serialises a tensor as a TensorProto.")
    .Input("tensor", "T")
    .Output("serialized", DT_STRING)
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(StringToNumber, "Parses numbers.")
    .Input("string_tensor", DT_STRING)
    .Output("output", "out_type")
    .Attr("out_type",
          TypeAttr({DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64, DT_UINT32, DT_UINT64}, DT_FLOAT))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
