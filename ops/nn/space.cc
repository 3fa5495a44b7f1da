// Ops that move elements from the spatial dimensions of images to the batch or to the channels, and
// back. Other ops convert indices and sizes of dimensions between data formats.
#include <algorithm>

#include "graph/tensor/sizes.h"
#include "ops/conv/window.h"
#include "ops/nn/space_blocks.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/nn/space_builders.h"
#endif

namespace sluice {
namespace {

using KnownInts = std::optional<std::vector<int64_t>>;

// Returns all elements of an input in row-major order, or nothing if they are unknown.
KnownInts InputElements(const ShapeContext& c, int i) {
  const std::optional<Tensor> value = c.InputValue(i);
  if (!value) return std::nullopt;
  std::vector<int64_t> elements(static_cast<size_t>(value->num_elements()));
  for (size_t k = 0; k < elements.size(); ++k) {
    elements[k] =
        value->dtype() == DT_INT32 ? value->data<int32_t>()[k] : value->data<int64_t>()[k];
  }
  return elements;
}

// Shape function of ops that move blocks between space and batch. The blocks extend over the
// `count` dimensions after the batch (-1 if unknown). Input `margins_input` is the matrix of
// paddings or crops. `rank` is the required rank of the images, or -1 if any rank is allowed.
absl::Status BlockShape(ShapeContext& c, const KnownInts& sizes, int64_t count, int margins_input,
                        bool to_batch, int rank) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape margins, c.WithRank(margins_input, 2));
  SLUICE_ASSIGN_OR_RETURN(margins, margins.MergeWith({count, 2}));
  count = margins.dim(0);
  if (count < 0) return c.SetOutput(0, PartialShape::UnknownRank());
  SLUICE_INVALID_IF(count > TensorShape::kMaxRank, "too many blocks: ", count);
  const int rank_min = static_cast<int>(count) + 1;
  SLUICE_ASSIGN_OR_RETURN(PartialShape in,
                          rank < 0 ? c.WithRankAtLeast(0, rank_min) : c.WithRank(0, rank));
  if (!in.rank_known()) return c.SetOutput(0, in);
  if (!sizes || std::find(sizes->begin(), sizes->end(), -1) != sizes->end()) {
    for (int d = 0; d < rank_min; ++d) in.set_dim(d, -1);
    return c.SetOutput(0, in);
  }
  const KnownInts values = InputElements(c, margins_input);
  SLUICE_ASSIGN_OR_RETURN(const SpaceBlocks blocks,
                          SpaceBlocks::Make(*sizes, values ? *values : std::vector<int64_t>(),
                                            to_batch ? "paddings" : "crops"));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, to_batch ? blocks.ToBatch(in) : blocks.FromBatch(in));
  return c.SetOutput(0, out);
}

ShapeFunction SquareBlocks(bool to_batch) {
  return [to_batch](ShapeContext& c) -> absl::Status {
    const auto block = c.attr<int64_t>("block_size");
    return BlockShape(c, std::vector<int64_t>{block, block}, 2, 1, to_batch, 4);
  };
}

ShapeFunction GivenBlocks(bool to_batch) {
  return [to_batch](ShapeContext& c) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(PartialShape block, c.WithRank(1, 1));
    return BlockShape(c, c.InputInts(1), block.dim(0), 2, to_batch, -1);
  };
}

// Sets the output's shape to that after moving pixels between space and channels. block_size is the
// factor along each side.
absl::Status DepthShape(ShapeContext& c, bool to_depth) {
  const std::string format = c.attr<std::string>("data_format");
  const int64_t block = c.attr<int64_t>("block_size");
  if (format == "NCHW_VECT_C") return c.SetOutput(0, PartialShape::UnknownOfRank(5));
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, 4));
  const ImageLayout layout = ImageLayout::Of(format);
  PartialShape out = in;
  auto change = [&](int d, int64_t factor, bool divide) -> absl::Status {
    if (in.dim(d) < 0) return absl::OkStatus();
    SLUICE_INVALID_IF(divide && in.dim(d) % factor != 0,
                      "Dimension size must be evenly divisible by ", factor, " but is ", in.dim(d));
    out.set_dim(d, divide ? in.dim(d) / factor : SaturatedProduct(in.dim(d), factor));
    return absl::OkStatus();
  };
  SLUICE_RETURN_IF_ERROR(change(layout.height(), block, to_depth));
  SLUICE_RETURN_IF_ERROR(change(layout.width(), block, to_depth));
  SLUICE_RETURN_IF_ERROR(change(layout.channel(), SaturatedProduct(block, block), !to_depth));
  return c.SetOutput(0, out);
}

// Both functions declare the arguments and attributes of a pair of ops that are each other's
// inverse.
void DepthAttrs(OpDefBuilder& b) {
  b.Input("input", "T")
      .Output("output", "T")
      .Attr("T", TypeAttr())
      .Attr("block_size", IntAttr().Min(2))
      .Attr("data_format", OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"))
      .KeepsLayout("elements move between channels and space");
}
void FormatAttrs(OpDefBuilder& b) {
  b.Input("x", "T")
      .Output("y", "T")
      .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
      .Attr("src_format", StringAttr("NHWC"))
      .Attr("dst_format", StringAttr("NCHW"));
}

OP(BatchToSpace,
   "Inverts SpaceToBatch: interleaves the parts of the batch in space, then removes `crops`.")
    .Input("input", "T")
    .Input("crops", "Tidx")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("block_size", IntAttr().Min(2))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(SquareBlocks(false)) GRADIENT([](Backprop& b) {
      b.Into("input",
             SpaceToBatch(b.Of("output"), b.Value("crops"), b.attr<int64_t>("block_size")));
    });

OP(BatchToSpaceND,
   "Inverts SpaceToBatchND: interleaves the parts of the batch in space, then removes `crops`.")
    .Input("input", "T")
    .Input("block_shape", "Tblock_shape")
    .Input("crops", "Tcrops")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tblock_shape", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tcrops", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GivenBlocks(false)) GRADIENT([](Backprop& b) {
      b.Into("input", SpaceToBatchND(b.Of("output"), b.Value("block_shape"), b.Value("crops")));
    });

OP(DataFormatDimMap, "Converts indices of dimensions in src_format to those in dst_format.")
    .With(FormatAttrs)
    .Shape(SameAsInput(0));

OP(DataFormatVecPermute,
   "Permutes a vector with an element per dimension, or a matrix with a pair per dimension, from "
   "src_format to dst_format.")
    .With(FormatAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape& x = c.input(0);
      SLUICE_INVALID_IF(x.rank_known() && (x.rank() < 1 || x.rank() > 2),
                        "input must be a vector or 2D tensor, but got shape ", x.ToString());
      return c.SetOutput(0, x);
    });

OP(DepthToSpace, "Moves channels to blocks of block_size x block_size pixels.")
    .With(DepthAttrs)
    .Shape([](ShapeContext& c) { return DepthShape(c, false); }) GRADIENT([](Backprop& b) {
      b.Into("input", SpaceToDepth(b.Of("output"), b.attr<int64_t>("block_size"),
                                   {.data_format = b.attr<std::string>("data_format")}));
    });

OP(SpaceToBatch,
   "Pads images, and distributes each block of block_size x block_size pixels over the batch.")
    .Input("input", "T")
    .Input("paddings", "Tpaddings")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tpaddings", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("block_size", IntAttr().Min(2))
    .Shape(SquareBlocks(true)) GRADIENT([](Backprop& b) {
      b.Into("input",
             BatchToSpace(b.Of("output"), b.Value("paddings"), b.attr<int64_t>("block_size")));
    });

OP(SpaceToBatchND,
   "Pads the dimensions after the batch, and distributes each block of block_shape over the batch.")
    .Input("input", "T")
    .Input("block_shape", "Tblock_shape")
    .Input("paddings", "Tpaddings")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("Tblock_shape", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("Tpaddings", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(GivenBlocks(true)) GRADIENT([](Backprop& b) {
      b.Into("input", BatchToSpaceND(b.Of("output"), b.Value("block_shape"), b.Value("paddings")));
    });

OP(SpaceToDepth, "Moves blocks of block_size x block_size pixels to channels.")
    .With(DepthAttrs)
    .Shape([](ShapeContext& c) { return DepthShape(c, true); }) GRADIENT([](Backprop& b) {
      b.Into("input", DepthToSpace(b.Of("output"), b.attr<int64_t>("block_size"),
                                   {.data_format = b.attr<std::string>("data_format")}));
    });

}  // namespace
}  // namespace sluice
