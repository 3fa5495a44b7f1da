// Kernels that move elements from the space of images to the batch or to the channels, and back.
#include <algorithm>
#include <cstring>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/conv/window.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/strided_copy.h"
#include "ops/nn/space_blocks.h"

namespace sluice {
namespace {

constexpr TypeSet kReal = RealTypes();

// Returns the blocks of the given sizes. `margins` is a matrix of paddings or crops.
absl::StatusOr<SpaceBlocks> ReadBlocks(const Tensor& in, const Ints& sizes, const Tensor& margins,
                                       const char* name) {
  const auto count = static_cast<int>(sizes.size());
  SLUICE_INVALID_IF(in.rank() < 1 + count, "input rank should be >= ", 1 + count, " instead of ",
                    in.rank());
  SLUICE_INVALID_IF(margins.rank() != 2 || margins.dim(0) != count || margins.dim(1) != 2, name,
                    " should have shape [", count, ", 2] instead of ", margins.shape().ToString());
  return SpaceBlocks::Make(sizes, IntsOf(margins), name);
}

// Copies between `wide`, the tensor with full spatial sizes, and `deep`, the tensor whose batch
// includes the positions inside the blocks. Copies one such position, `offset`, at a time. Along
// dimension i, pixel j of `deep` is pixel j * size + offset - before of `wide`.
void CopyBlocks(KernelContext& c, const SpaceBlocks& b, const Tensor& wide, const Tensor& deep,
                bool to_deep) {
  if (wide.num_elements() == 0 || deep.num_elements() == 0) {
    return;  // avoids loops over huge sizes
  }
  const auto wide_strides = RowMajorStrides(wide.shape());
  const auto deep_strides = RowMajorStrides(deep.shape());
  const int rank = wide.rank();
  Ints offset(b.count(), 0);
  for (int64_t part = 0; part < b.product(); ++part) {
    int64_t rest = part;
    for (int i = b.count() - 1; i >= 0; --i) {
      offset[i] = rest % b.sizes[i];
      rest /= b.sizes[i];
    }
    CopyBox box;
    int64_t wide_at = 0, deep_at = part * wide.dim(0) * deep_strides[0];
    for (int d = 0; d < rank; ++d) {
      int64_t count = wide.dim(d), step = wide_strides[d];
      if (d >= 1 && d <= b.count()) {
        const int64_t size = b.sizes[d - 1], shift = b.before[d - 1] - offset[d - 1];
        const int64_t first = shift > 0 ? (shift + size - 1) / size : 0;
        const int64_t room = wide.dim(d) - 1 + shift;
        const int64_t last = room < 0 ? 0 : std::min(deep.dim(d), room / size + 1);
        count = std::max<int64_t>(last - first, 0);
        wide_at += (first * size - shift) * wide_strides[d];
        deep_at += first * deep_strides[d];
        step = size * wide_strides[d];
      }
      box.dims.push_back(
          {count, to_deep ? step : deep_strides[d], to_deep ? deep_strides[d] : step});
    }
    if (box.num_elements() == 0) continue;
    box.from_offset = to_deep ? wide_at : deep_at;
    box.to_offset = to_deep ? deep_at : wide_at;
    const Tensor &from = to_deep ? wide : deep, &to = to_deep ? deep : wide;
    CopyStrided(c, from.dtype(), from.raw(), const_cast<void*>(to.raw()), std::move(box));
  }
}

absl::Status ToBatch(KernelContext& c, const Ints& sizes, const Tensor& paddings) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const SpaceBlocks b, ReadBlocks(in, sizes, paddings, "paddings"));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape dims, b.ToBatch(in.shape()));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims.dims()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  const auto is_padding = [](int64_t n) { return n > 0; };
  const bool is_padded = std::any_of(b.before.begin(), b.before.end(), is_padding) ||
                         std::any_of(b.after.begin(), b.after.end(), is_padding);
  if (is_padded && out->bytes() > 0) std::memset(out->raw(), 0, out->bytes());
  CopyBlocks(c, b, in, *out, true);
  return absl::OkStatus();
}

absl::Status FromBatch(KernelContext& c, const Ints& sizes, const Tensor& crops) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const SpaceBlocks b, ReadBlocks(in, sizes, crops, "crops"));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape dims, b.FromBatch(in.shape()));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims.dims()));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  CopyBlocks(c, b, *out, in, false);
  return absl::OkStatus();
}

using Mover = absl::Status (*)(KernelContext&, const Ints&, const Tensor&);

template <Mover kMove>
absl::Status SquareBlock(KernelContext& c, Attr<int64_t, "block_size"> size) {
  SLUICE_INVALID_IF(c.input(0).rank() != 4,
                    "Input rank should be: 4 instead of: ", c.input(0).rank());
  return kMove(c, {size, size}, c.input(1));
}
KERNEL(SpaceToBatch, FunctionKernel<SquareBlock<ToBatch>>, {"T", kReal});
KERNEL(BatchToSpace, FunctionKernel<SquareBlock<FromBatch>>, {"T", kReal});

template <Mover kMove>
absl::Status GivenBlocks(KernelContext& c) {
  SLUICE_INVALID_IF(c.input(1).rank() != 1, "block_shape rank should be 1 instead of ",
                    c.input(1).rank());
  return kMove(c, IntsOf(c.input(1)), c.input(2));
}
using SpaceToBatchNDKernel = FunctionKernel<GivenBlocks<ToBatch>>;
using BatchToSpaceNDKernel = FunctionKernel<GivenBlocks<FromBatch>>;
KERNEL(SpaceToBatchND, SpaceToBatchNDKernel, {"T", kReal});
KERNEL(BatchToSpaceND, BatchToSpaceNDKernel, {"T", kReal});

// Copies between [batch, height * block, width * block, channels], which is called wide, and
// [batch, height, width, block * block * channels], which is called deep.
template <bool kToDepth>
class DepthKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto& format = init.attr<std::string>("data_format");
    SLUICE_INVALID_IF(format == "NCHW_VECT_C", "data_format NCHW_VECT_C is not supported on a CPU");
    return std::unique_ptr<Kernel>(
        new DepthKernel(init.attr<int64_t>("block_size"), ImageLayout::Of(format)));
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_INVALID_IF(in.rank() != 4, "Input rank should be 4 instead of ", in.rank());
    const int64_t square = SaturatedProduct(size_, size_);
    std::vector<int64_t> dims(in.shape().dims().begin(), in.shape().dims().end());
    for (int d : {layout_.height(), layout_.width()}) {
      SLUICE_INVALID_IF(kToDepth && dims[d] % size_ != 0, "Image width ", dims[layout_.width()],
                        " and height ", dims[layout_.height()],
                        " should be divisible by block_size: ", size_);
      dims[d] = kToDepth ? dims[d] / size_ : SaturatedProduct(dims[d], size_);
    }
    int64_t& channels = dims[layout_.channel()];
    SLUICE_INVALID_IF(!kToDepth && channels % square != 0, "Input depth dimension ", channels,
                      " should be divisible by: ", square);
    channels = kToDepth ? SaturatedProduct(channels, square) : channels / square;
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();
    const Tensor &wide = kToDepth ? in : *out, &deep = kToDepth ? *out : in;
    const auto w = RowMajorStrides(wide.shape()), d = RowMajorStrides(deep.shape());
    const int64_t depth = wide.dim(layout_.channel());
    CopyBox box;
    auto add = [&box](int64_t size, int64_t wide_step, int64_t deep_step) {
      box.dims.push_back(
          {size, kToDepth ? wide_step : deep_step, kToDepth ? deep_step : wide_step});
    };
    const int64_t deep_channel = d[layout_.channel()];
    add(wide.dim(0), w[0], d[0]);
    add(deep.dim(layout_.height()), w[layout_.height()] * size_, d[layout_.height()]);
    add(size_, w[layout_.height()], deep_channel * depth * size_);
    add(deep.dim(layout_.width()), w[layout_.width()] * size_, d[layout_.width()]);
    add(size_, w[layout_.width()], deep_channel * depth);
    add(depth, w[layout_.channel()], deep_channel);
    CopyStrided(c, in.dtype(), in.raw(), out->raw(), std::move(box));
    return absl::OkStatus();
  }

 private:
  DepthKernel(int64_t size, ImageLayout layout) : size_(size), layout_(layout) {}
  const int64_t size_;
  const ImageLayout layout_;
};
KERNEL(SpaceToDepth, DepthKernel<true>);
KERNEL(DepthToSpace, DepthKernel<false>);

class FormatKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto &from = init.attr<std::string>("src_format"),
               &to = init.attr<std::string>("dst_format");
    SLUICE_INVALID_IF((from.size() != 4 && from.size() != 5) || from.size() != to.size(),
                      "Source format must be of length 4 or 5 and the destination's the ",
                      "same, received src_format = ", from, ", dst_format = ", to);
    std::string sorted_from = from, sorted_to = to;
    std::sort(sorted_from.begin(), sorted_from.end());
    std::sort(sorted_to.begin(), sorted_to.end());
    SLUICE_INVALID_IF(sorted_from != sorted_to,
                      "Destination and source format must determine a permutation, got ", from,
                      " and ", to);
    return std::unique_ptr<Kernel>(
        new FormatKernel(init.node().op() == "DataFormatDimMap", from, to));
  }

  absl::Status Compute(KernelContext& c) override { return maps_ ? Map(c) : Permute(c); }

 private:
  FormatKernel(bool maps, std::string from, std::string to)
      : maps_(maps), from_(std::move(from)), to_(std::move(to)) {}

  absl::Status Map(KernelContext& c) {
    const Tensor& x = c.input(0);
    const auto n = static_cast<int64_t>(from_.size());
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, x.shape()));
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const int64_t axis = ((IntAt(x, i) % n) + n) % n;
      SetIntAt(*out, i, static_cast<int64_t>(to_.find(from_[static_cast<size_t>(axis)])));
    }
    return absl::OkStatus();
  }

  // Permutes the dimensions. If a vector lacks batch and channel, it has only the spatial
  // dimensions.
  absl::Status Permute(KernelContext& c) {
    const Tensor& x = c.input(0);
    SLUICE_INVALID_IF(x.rank() != 1 && x.rank() != 2,
                      "input must be a vector or 2D tensor, but got shape ", x.shape().ToString());
    std::string from = from_, to = to_;
    if (x.dim(0) == static_cast<int64_t>(from.size()) - 2) {
      for (std::string* s : {&from, &to}) {
        s->erase(std::remove_if(s->begin(), s->end(), [](char l) { return l == 'N' || l == 'C'; }),
                 s->end());
      }
    }
    SLUICE_INVALID_IF(x.dim(0) != static_cast<int64_t>(from.size()),
                      x.rank() == 1 ? "1D input must be of size "
                                    : "First dimension of 2D input must be of size ",
                      from_.size(), " or ", from_.size() - 2, ", but got shape ",
                      x.shape().ToString());
    SLUICE_INVALID_IF(x.rank() == 2 && x.dim(1) != 2,
                      "Second dimension of 2D input must be of size 2, but got shape ",
                      x.shape().ToString());
    const int64_t width = x.rank() == 2 ? 2 : 1;
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, x.shape()));
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const auto at = static_cast<int64_t>(from.find(to[static_cast<size_t>(i / width)]));
      SetIntAt(*out, i, IntAt(x, at * width + i % width));
    }
    return absl::OkStatus();
  }

  const bool maps_;
  const std::string from_, to_;
};
KERNEL(DataFormatDimMap, FormatKernel);
KERNEL(DataFormatVecPermute, FormatKernel);

}  // namespace
}  // namespace sluice
