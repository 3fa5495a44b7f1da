// The ops of TensorFlow 1's eight-bit graphs. A tensor of quantized type comes with the range that
// its integers stand for, in two scalars (ops/quantize/integer_range.h).
#include "graph/infer/expect_size.h"
#include "graph/op/mixins.h"
#include "ops/conv/conv_shape.h"
#include "ops/conv/window_attrs.h"
#include "ops/op.h"

namespace sluice {
namespace {

AttrDef QuantizedAttr() { return TypeAttr(QuantizedTypes()); }
AttrDef QuantizedAttr(DataType otherwise) { return TypeAttr(QuantizedTypes(), otherwise); }

// Sets the shapes of ranges: the inputs from `first` on must be scalars, and so are outputs 1 and
// 2.
absl::Status WithRanges(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  for (int i : {1, 2}) c.SetOutput(i, PartialShape::Scalar()).IgnoreError();
  return absl::OkStatus();
}

// Returns a shape function that applies `of_values` to the values, and WithRanges(first) to the
// ranges.
template <typename F>
ShapeFunction AndRanges(const F& of_values, int first) {
  return [of_values, first](ShapeContext& c) -> absl::Status {
    SLUICE_RETURN_IF_ERROR(of_values(c));
    return WithRanges(c, first);
  };
}

absl::Status UnchangedShape(ShapeContext& c) { return c.SetOutput(0, c.input(0)); }

absl::Status MatrixProductShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape a, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape b, c.WithRank(1, 2));
  const int row = c.attr<bool>("transpose_a") ? 1 : 0;
  const int column = c.attr<bool>("transpose_b") ? 0 : 1;
  SLUICE_RETURN_IF_ERROR(MergeDim(a.dim(1 - row), b.dim(1 - column)).status());
  return c.SetOutput(0, {a.dim(row), b.dim(column)});
}

absl::Status SumWithBiasShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape value, c.WithRankAtLeast(0, 2));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape bias, c.WithRank(1, 1));
  if (!value.rank_known()) return c.SetOutput(0, value);
  const int channel = value.rank() - 1;
  SLUICE_ASSIGN_OR_RETURN(const int64_t size, MergeDim(value.dim(channel), bias.dim(0)));
  value.set_dim(channel, size);
  return c.SetOutput(0, value);
}

// Shape function of a normalisation, whose inputs are the images, mean, variance, beta and gamma,
// each followed by its range.
absl::Status NormalizedShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
  int64_t channels = images.dim(3);
  for (int i = 3; i < 15; i += 3) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape vector, c.WithRank(i, 1));
    SLUICE_ASSIGN_OR_RETURN(channels, MergeDim(channels, vector.dim(0)));
  }
  for (int i = 1; i < 15; ++i) {
    if (i % 3 != 0) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  }
  images.set_dim(3, channels);
  for (int i : {1, 2}) c.SetOutput(i, PartialShape::Scalar()).IgnoreError();
  return c.SetOutput(0, images);
}

absl::Status ResizedImagesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape size, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(ExpectSize(size.dim(0), 2));
  const std::optional<std::vector<int64_t>> sizes = c.InputInts(1);
  for (int d : {1, 2}) images.set_dim(d, sizes && sizes->size() == 2 ? (*sizes)[d - 1] : -1);
  return c.SetOutput(0, images);
}

// Returns the requested shape, with the size that -1 stands for if all other sizes are known.
absl::Status ReshapedShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.InputAsShape(1));
  const int64_t n = c.input(0).num_elements();
  if (!shape.rank_known() || n < 0) return c.SetOutput(0, shape);
  int64_t known = 1;
  int missing = -1, unknown = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) < 0) {
      missing = d;
      ++unknown;
    } else {
      known = MultiplyWithoutOverflow(known, shape.dim(d));
      SLUICE_INVALID_IF(known < 0, "Reshape sizes are too large");
    }
  }
  if (unknown == 0) {
    SLUICE_INVALID_IF(known != n, "Cannot reshape a tensor with ", n, " elements to shape ",
                      shape.ToString(), " (", known, " elements)");
  } else if (unknown == 1 && known > 0) {
    SLUICE_INVALID_IF(n % known != 0, "Dimension size must be evenly divisible by ", known,
                      " but is ", n);
    shape.set_dim(missing, n / known);
  }
  return c.SetOutput(0, shape);
}

absl::Status JoinedShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  const auto [first, last] = c.InputRange("values");
  PartialShape joined = c.input(first);
  for (int i = first; i < last && !joined.rank_known(); ++i) joined = c.input(i);
  if (!joined.rank_known()) return c.SetOutput(0, joined);
  const int rank = joined.rank();
  SLUICE_INVALID_IF(rank == 0, "Can't concatenate scalars (use tf.stack instead)");
  const std::optional<std::vector<int64_t>> axis = c.InputInts(0);
  const bool is_known = c.InputValue(0).has_value() && axis && axis->size() == 1;
  SLUICE_INVALID_IF(is_known && ((*axis)[0] < -rank || (*axis)[0] >= rank),
                    "Expected concatenating dimensions in the range [", -rank, ", ", rank,
                    "), but got ", (*axis)[0]);
  const auto along = static_cast<int>(!is_known        ? -1
                                      : (*axis)[0] < 0 ? (*axis)[0] + rank
                                                       : (*axis)[0]);
  int64_t total = 0;
  for (int i = first; i < last; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape part, c.WithRank(i, rank));
    for (int d = 0; d < rank && along >= 0; ++d) {
      if (d == along) continue;
      SLUICE_ASSIGN_OR_RETURN(const int64_t size, MergeDim(joined.dim(d), part.dim(d)));
      joined.set_dim(d, size);
    }
    if (along < 0) continue;
    const bool is_countable = total >= 0 && part.dim(along) >= 0;
    SLUICE_INVALID_IF(is_countable && __builtin_add_overflow(total, part.dim(along), &total),
                      "Dimension size overflow");
    if (!is_countable) total = -1;
  }
  if (along < 0) return c.SetOutput(0, PartialShape::UnknownOfRank(rank));
  joined.set_dim(along, total);
  return c.SetOutput(0, joined);
}

// These functions declare arguments that several ops share.
void EightBitRange(OpDefBuilder& op) { op.With(Inputs({"min_input", "max_input"}, DT_FLOAT)); }
void EightBitResult(OpDefBuilder& op) { op.With(Outputs({"min_output", "max_output"}, DT_FLOAT)); }
void EightBitBinary(OpDefBuilder& op) {
  op.Input("x", "T1").Input("y", "T2").With(Inputs({"min_x", "max_x", "min_y", "max_y"}, DT_FLOAT));
  op.Output("z", "Toutput").With(Outputs({"min_z", "max_z"}, DT_FLOAT));
  op.Attr("T1", QuantizedAttr()).Attr("T2", QuantizedAttr());
  op.Attr("Toutput", QuantizedAttr(DT_QINT32));
  op.Recompute(RecomputeCost::kElements).Shape(AndRanges(BroadcastBinary(), 2));
}
void EightBitActivation(OpDefBuilder& op) {
  op.With(Inputs({"min_features", "max_features"}, DT_FLOAT)).Output("activations", "out_type");
  op.With(Outputs({"min_activations", "max_activations"}, DT_FLOAT));
  op.Attr("Tinput", QuantizedAttr()).Attr("out_type", QuantizedAttr(DT_QUINT8));
  op.Recompute(RecomputeCost::kElements).Shape(AndRanges(UnchangedShape, 1));
}
void Requantizes(OpDefBuilder& op) {
  op.Output("output", "out_type").With(Outputs({"output_min", "output_max"}, DT_FLOAT));
  op.Attr("Tinput", QuantizedAttr()).Attr("out_type", QuantizedAttr());
  op.Recompute(RecomputeCost::kElements).Shape(AndRanges(UnchangedShape, 1));
}

OP(QuantizedConv2D,
   "Convolves images with filters. The result is exact, in a range of 32-bit integers.")
    .Input("input", "Tinput")
    .Input("filter", "Tfilter")
    .With(EightBitRange)
    .With(Inputs({"min_filter", "max_filter"}, DT_FLOAT))
    .Output("output", "out_type")
    .With(EightBitResult)
    .Attr("Tinput", QuantizedAttr())
    .Attr("Tfilter", QuantizedAttr())
    .Attr("out_type", QuantizedAttr(DT_QINT32))
    .Attr("strides", IntListAttr())
    .With(SameOrValid)
    .With(Dilations(2))
    .Shape(AndRanges(ConvShape, 2));

OP(QuantizedMatMul, "Multiplies two matrices. The result is exact, in a range of 32-bit integers.")
    .Input("a", "T1")
    .Input("b", "T2")
    .With(Inputs({"min_a", "max_a", "min_b", "max_b"}, DT_FLOAT))
    .Output("out", "Toutput")
    .With(Outputs({"min_out", "max_out"}, DT_FLOAT))
    .Attr("T1", QuantizedAttr())
    .Attr("T2", QuantizedAttr())
    .Attr("Toutput", QuantizedAttr(DT_QINT32))
    .With(Attrs({"transpose_a", "transpose_b"}, BoolAttr(false)))
    .Attr("Tactivation", QuantizedAttr(DT_QUINT8))
    .Shape(AndRanges(MatrixProductShape, 2));

OP(QuantizedMul, "Multiplies two tensors element by element. Scalars and vectors are broadcast.")
    .With(EightBitBinary);

OP(QuantizedAdd, "Adds two tensors element by element. Scalars and vectors are broadcast.")
    .With(EightBitBinary);

OP(QuantizedBiasAdd, "Adds a bias to the last dimension of `input`.")
    .Input("input", "T1")
    .Input("bias", "T2")
    .With(EightBitRange)
    .With(Inputs({"min_bias", "max_bias"}, DT_FLOAT))
    .Output("output", "out_type")
    .With(Outputs({"min_out", "max_out"}, DT_FLOAT))
    .Attr("T1", QuantizedAttr())
    .Attr("T2", QuantizedAttr())
    .Attr("out_type", QuantizedAttr())
    .Recompute(RecomputeCost::kElements)
    .Shape(AndRanges(SumWithBiasShape, 2));

OP(QuantizedRelu, "Computes max(features, 0). The range stays the same.")
    .Input("features", "Tinput")
    .With(EightBitActivation);

OP(QuantizedRelu6, "Computes min(max(features, 0), 6). The range stays the same.")
    .Input("features", "Tinput")
    .With(EightBitActivation);

OP(QuantizedReluX, "Computes min(max(features, 0), max_value). The range stays the same.")
    .Input("features", "Tinput")
    .Input("max_value", DT_FLOAT)
    .With(EightBitActivation);

OP(QuantizedReshape, "Changes the shape and keeps the order of elements.")
    .Input("tensor", "T")
    .Input("shape", "Tshape")
    .With(Inputs({"input_min", "input_max"}, DT_FLOAT))
    .Output("output", "T")
    .With(Outputs({"output_min", "output_max"}, DT_FLOAT))
    .Attr("T", TypeAttr())
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .Recompute(RecomputeCost::kElements)
    .Shape(AndRanges(ReshapedShape, 2));

OP(QuantizedConcat,
   "Concatenates `values` along dimension concat_dim, in a range that contains all of theirs.")
    .Input("concat_dim", DT_INT32)
    .Input("values", "N*T")
    .Input("input_mins", "N*float")
    .Input("input_maxes", "N*float")
    .Output("output", "T")
    .With(Outputs({"output_min", "output_max"}, DT_FLOAT))
    .Attr("N", IntAttr().Min(2))
    .Attr("T", TypeAttr())
    .Recompute(RecomputeCost::kElements)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(JoinedShape(c));
      return WithRanges(c, c.InputRange("values").second);
    });

OP(QuantizedBatchNormWithGlobalNormalization,
   "Normalizes images with a given mean (m) and variance (v) per channel, in a range of 32-bit "
   "integers from -2^20 to 2^20.")
    .Input("t", "Tinput")
    .With(Inputs({"t_min", "t_max"}, DT_FLOAT))
    .Input("m", "Tinput")
    .With(Inputs({"m_min", "m_max"}, DT_FLOAT))
    .Input("v", "Tinput")
    .With(Inputs({"v_min", "v_max"}, DT_FLOAT))
    .Input("beta", "Tinput")
    .With(Inputs({"beta_min", "beta_max"}, DT_FLOAT))
    .Input("gamma", "Tinput")
    .With(Inputs({"gamma_min", "gamma_max"}, DT_FLOAT))
    .Output("result", "out_type")
    .With(Outputs({"result_min", "result_max"}, DT_FLOAT))
    .Attr("Tinput", QuantizedAttr())
    .Attr("out_type", QuantizedAttr())
    .Attr("variance_epsilon", FloatAttr())
    .Attr("scale_after_normalization", BoolAttr())
    .Shape(NormalizedShape);

OP(QuantizedInstanceNorm,
   "Normalizes each channel of each image. The range of the result is given, or that of the "
   "results but at least min_separation wide.")
    .Input("x", "T")
    .With(Inputs({"x_min", "x_max"}, DT_FLOAT))
    .Output("y", "T")
    .With(Outputs({"y_min", "y_max"}, DT_FLOAT))
    .Attr("T", QuantizedAttr())
    .Attr("output_range_given", BoolAttr(false))
    .Attr("given_y_min", FloatAttr(0.0f))
    .Attr("given_y_max", FloatAttr(0.0f))
    .Attr("variance_epsilon", FloatAttr(1e-5f))
    .Attr("min_separation", FloatAttr(1e-3f))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
      SLUICE_RETURN_IF_ERROR(WithRanges(c, 1));
      return c.SetOutput(0, images);
    });

OP(QuantizedResizeBilinear,
   "Resizes images by linear interpolation between the four nearest pixels. The range stays the "
   "same.")
    .Input("images", "T")
    .Input("size", DT_INT32)
    .With(Inputs({"min", "max"}, DT_FLOAT))
    .Output("resized_images", "T")
    .With(Outputs({"out_min", "out_max"}, DT_FLOAT))
    .Attr("T", TypeAttr(TypeSet{DT_QUINT8, DT_QINT32, DT_FLOAT}))
    .With(Attrs({"align_corners", "half_pixel_centers"}, BoolAttr(false)))
    .Shape(AndRanges(ResizedImagesShape, 2));

OP(RequantizationRange, "Computes the range that the numbers in `input` cover.")
    .Input("input", "Tinput")
    .With(Inputs({"input_min", "input_max"}, DT_FLOAT))
    .With(Outputs({"output_min", "output_max"}, DT_FLOAT))
    .Attr("Tinput", QuantizedAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {1, 2}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      return c.SetOutputs(PartialShape::Scalar());
    });

OP(Requantize, "Represents numbers as integers of another type, in the requested range.")
    .Input("input", "Tinput")
    .With(Inputs({"input_min", "input_max", "requested_output_min", "requested_output_max"},
                 DT_FLOAT))
    .With(Requantizes);

OP(QuantizeDownAndShrinkRange,
   "Represents numbers as integers of another type, in the range that they cover.")
    .Input("input", "Tinput")
    .With(Inputs({"input_min", "input_max"}, DT_FLOAT))
    .With(Requantizes);

}  // namespace
}  // namespace sluice
