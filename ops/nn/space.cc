// Ops that move the space of images: to the batch, to the channels, and to patches.
#include <algorithm>
#include <functional>

#include "graph/tensor/sizes.h"
#include "ops/conv/window.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/nn/space_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

using Ints = std::vector<int64_t>;

bool AllKnown(const std::optional<Ints>& v) {
  return v && std::find(v->begin(), v->end(), -1) == v->end();
}

// Blocks of M dimensions after the batch; margins are paddings or crops, [M, 2]. `rank`: of the
// images where that is given.
absl::Status BlockShape(ShapeContext& c, const std::optional<Ints>& block, int64_t blocks,
                        int margins_input, bool to_batch, int rank) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape margins, c.WithRank(margins_input, 2));
  SLUICE_ASSIGN_OR_RETURN(const int64_t rows, MergeDim(margins.dim(0), blocks));
  SLUICE_RETURN_IF_ERROR(MergeDim(margins.dim(1), 2).status());
  if (rows < 0) return c.SetOutput(0, PartialShape::UnknownRank());
  if (rows > TensorShape::kMaxRank) return InvalidArgument("too many blocks: ", rows);
  const int count = static_cast<int>(rows);
  SLUICE_ASSIGN_OR_RETURN(PartialShape in,
                          rank < 0 ? c.WithRankAtLeast(0, count + 1) : c.WithRank(0, rank));
  if (!in.rank_known()) return c.SetOutput(0, in);
  std::optional<Tensor> margin_values = c.InputValue(margins_input);
  PartialShape out = in;
  for (int i = 0; i <= count; ++i) out.set_dim(i, -1);
  if (!AllKnown(block)) return c.SetOutput(0, out);
  int64_t product = 1;
  for (int64_t b : *block) {
    if (b < 1) return InvalidArgument("block_shape must be positive");
    product = SaturatedProduct(product, b);
  }
  if (in.dim(0) >= 0) {
    if (!to_batch && in.dim(0) % product != 0) {
      return InvalidArgument("Dimension size must be evenly divisible by ", product, " but is ",
                             in.dim(0));
    }
    out.set_dim(0, to_batch ? SaturatedProduct(in.dim(0), product) : in.dim(0) / product);
  }
  if (!margin_values) return c.SetOutput(0, out);
  auto margin = [&](int i) -> int64_t {
    return margin_values->dtype() == DT_INT32 ? margin_values->data<int32_t>()[i]
                                              : margin_values->data<int64_t>()[i];
  };
  for (int i = 0; i < count; ++i) {
    const int64_t before = margin(2 * i), after = margin(2 * i + 1), b = (*block)[i];
    if (before < 0 || after < 0) {
      return InvalidArgument(to_batch ? "paddings" : "crops", " cannot be negative");
    }
    if (in.dim(i + 1) < 0) continue;
    const int64_t margin_size = SaturatedSum(before, after);
    const int64_t size = to_batch ? SaturatedSum(in.dim(i + 1), margin_size)
                                  : SaturatedProduct(in.dim(i + 1), b) - margin_size;
    if (to_batch && size % b != 0) {
      return InvalidArgument("Dimension size must be evenly divisible by ", b, " but is ", size);
    }
    if (size < 0) {
      return InvalidArgument("Dimension size must be non-negative but is ", size);
    }
    out.set_dim(i + 1, to_batch ? size / b : size);
  }
  return c.SetOutput(0, out);
}

ShapeFunction SquareBlocks(bool to_batch) {
  return [to_batch](ShapeContext& c) -> absl::Status {
    const auto block = c.attr<int64_t>("block_size");
    return BlockShape(c, Ints{block, block}, 2, 1, to_batch, 4);
  };
}

ShapeFunction GivenBlocks(bool to_batch) {
  return [to_batch](ShapeContext& c) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(PartialShape block, c.WithRank(1, 1));
    return BlockShape(c, c.InputInts(1), block.dim(0), 2, to_batch, -1);
  };
}

// Between space and channels, by factor block_size.
absl::Status DepthShape(ShapeContext& c, bool to_depth) {
  const std::string format = c.attr<std::string>("data_format");
  const int64_t block = c.attr<int64_t>("block_size");
  if (format == "NCHW_VECT_C") return c.SetOutput(0, PartialShape::UnknownOfRank(5));
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, 4));
  const ImageLayout layout = ImageLayout::Of(format);
  PartialShape out = in;
  auto change = [&](int d, int64_t factor, bool divide) -> absl::Status {
    if (in.dim(d) < 0) return absl::OkStatus();
    if (divide && in.dim(d) % factor != 0) {
      return InvalidArgument("Dimension size must be evenly divisible by ", factor, " but is ",
                             in.dim(d));
    }
    out.set_dim(d, divide ? in.dim(d) / factor : SaturatedProduct(in.dim(d), factor));
    return absl::OkStatus();
  };
  SLUICE_RETURN_IF_ERROR(change(layout.height, block, to_depth));
  SLUICE_RETURN_IF_ERROR(change(layout.width, block, to_depth));
  SLUICE_RETURN_IF_ERROR(change(layout.channel, SaturatedProduct(block, block), !to_depth));
  return c.SetOutput(0, out);
}

// Patches of n spatial dimensions, channels last.
absl::Status PatchShape(ShapeContext& c, int n, const Ints& sizes, const Ints& strides,
                        const Ints& rates) {
  const size_t length = static_cast<size_t>(n + 2);
  SLUICE_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(0, n + 2));
  if (sizes.size() != length || strides.size() != length || rates.size() != length) {
    return InvalidArgument(c.node().op(), " requires the ksizes, strides and rates attributes to ",
                           "contain ", n + 2, " values");
  }
  PartialShape out = in;
  int64_t depth = in.dim(n + 1);
  for (int i = 1; i <= n; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t size,
                            WindowOutputs(in.dim(i), sizes[i],
                                          {.stride = strides[i],
                                           .dilation = rates[i],
                                           .padding = PaddingOf(c.attr<std::string>("padding"))}));
    out.set_dim(i, size);
    if (depth >= 0) depth = SaturatedProduct(depth, sizes[i]);
  }
  out.set_dim(n + 1, depth);
  return c.SetOutput(0, out);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// The gradient of a patch goes back to where each of its elements came from: the same op finds
// their places in an image of numbered pixels (0: padding).
void PatchGradient(Backprop& b, int n, const std::function<Output(Output)>& patches_of) {
  Graph& graph = b.graph();
  Output images = b.In(0), grad = b.Of("patches");
  Output in = ShapeNode(images), out = ShapeNode(b.Out(0));
  Output one = IndexScalar(graph, 1);
  Output space = PartOf(in, 1, n + 1);
  Output pixels = ReduceProd(space);
  Output numbers = Range(one, Add(pixels, one), one);
  Output wrapped = Reshape(Cast(numbers, DT_DOUBLE),
                           Concat({IndexVector(graph, {1}), space, IndexVector(graph, {1})}, 0));
  Output places = Reshape(Cast(patches_of(wrapped), DT_INT32), {-1});
  Output batch = PartOf(in, 0, 1), channels = PartOf(in, n + 1, n + 2);
  Output positions = Reshape(ReduceProd(PartOf(out, 1, n + 1)), {1});
  // [batch, positions, elements of a patch, channels] with the batch moved behind.
  Output split = Reshape(grad, Concat({batch, positions, IndexVector(graph, {-1}), channels}, 0));
  Output flat = Reshape(Transpose(split, {1, 2, 0, 3}),
                        Concat({IndexVector(graph, {-1}), Mul(batch, channels)}, 0));
  Output sums = UnsortedSegmentSum(flat, places, Add(pixels, one));
  Output kept = Slice(sums, IndexVector(graph, {1, 0}), IndexVector(graph, {-1, -1}));
  Output moved =
      Transpose(Reshape(kept, Concat({Reshape(pixels, {1}), batch, channels}, 0)), {1, 0, 2});
  b.Into(0, Reshape(moved, in));
}
#endif

OP(BatchToSpace,
   "SpaceToBatch undone: the batch's parts interleaved in space, then `crops` cut off.")
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
   "SpaceToBatchND undone: the batch's parts interleaved in space, then `crops` cut off.")
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

OP(DataFormatDimMap, "Each index of a dimension in src_format as one in dst_format.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("src_format", StringAttr("NHWC"))
    .Attr("dst_format", StringAttr("NCHW"))
    .Shape(SameAsInput(0));

OP(DataFormatVecPermute,
   "A vector with an element a dimension (or a matrix with a pair), from src_format to "
   "dst_format.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .Attr("src_format", StringAttr("NHWC"))
    .Attr("dst_format", StringAttr("NCHW"))
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape& x = c.input(0);
      if (x.rank_known() && (x.rank() < 1 || x.rank() > 2)) {
        return InvalidArgument("input must be a vector or 2D tensor, but got shape ", x.ToString());
      }
      return c.SetOutput(0, x);
    });

OP(DepthToSpace, "Channels as blocks of block_size x block_size pixels.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("block_size", IntAttr().Min(2))
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"))
    .Shape([](ShapeContext& c) { return DepthShape(c, false); }) GRADIENT([](Backprop& b) {
      b.Into("input", SpaceToDepth(b.Of("output"), b.attr<int64_t>("block_size"),
                                   {.data_format = b.attr<std::string>("data_format")}));
    });

OP(ExtractImagePatches,
   "The pixels under each window, in the channels of one output pixel; zeros outside the "
   "image.")
    .Input("images", "T")
    .Output("patches", "T")
    .Attr("ksizes", IntListAttr().Min(4))
    .Attr("strides", IntListAttr().Min(4))
    .Attr("rates", IntListAttr().Min(4))
    .Attr("T", TypeAttr(TypeSet{DT_BFLOAT16, DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT8, DT_INT16,
                                DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_UINT32, DT_UINT64,
                                DT_COMPLEX64, DT_COMPLEX128, DT_BOOL}))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Shape([](ShapeContext& c) {
      return PatchShape(c, 2, c.attr<Ints>("ksizes"), c.attr<Ints>("strides"),
                        c.attr<Ints>("rates"));
    }) GRADIENT([](Backprop& b) {
      PatchGradient(b, 2, [&b](Output x) {
        return ExtractImagePatches(x, b.attr<Ints>("ksizes"), b.attr<Ints>("strides"),
                                   b.attr<Ints>("rates"), b.attr<std::string>("padding"));
      });
    });

OP(ExtractVolumePatches, "ExtractImagePatches with three dimensions of space.")
    .Input("input", "T")
    .Output("patches", "T")
    .Attr("ksizes", IntListAttr().Min(5))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Shape([](ShapeContext& c) {
      return PatchShape(c, 3, c.attr<Ints>("ksizes"), c.attr<Ints>("strides"), Ints{1, 1, 1, 1, 1});
    }) GRADIENT([](Backprop& b) {
      PatchGradient(b, 3, [&b](Output x) {
        return ExtractVolumePatches(x, b.attr<Ints>("ksizes"), b.attr<Ints>("strides"),
                                    b.attr<std::string>("padding"));
      });
    });

OP(SpaceToBatch,
   "Images padded, and each block of block_size x block_size pixels spread over the batch.")
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
   "The dimensions after the batch padded, and each block of block_shape spread over the batch.")
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

OP(SpaceToDepth, "Blocks of block_size x block_size pixels as channels.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("block_size", IntAttr().Min(2))
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"))
    .Shape([](ShapeContext& c) { return DepthShape(c, true); }) GRADIENT([](Backprop& b) {
      b.Into("input", DepthToSpace(b.Of("output"), b.attr<int64_t>("block_size"),
                                   {.data_format = b.attr<std::string>("data_format")}));
    });

}  // namespace
}  // namespace sluice
