#include <algorithm>

#include "executor/cpu/scratch_buffers.h"
#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/loops/add_to.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/product_tiles.h"
#include "ops/nn/attention_scores.h"
#include "ops/nn/class_rows.h"

namespace sluice {
namespace {

// Allocates scratch memory: `each` blocks of scores for each thread of a loop.
absl::StatusOr<Tensor> ScoreBuffers(KernelContext& context, const AttentionSizes& sizes,
                                    int64_t each) {
  const int buffers = ScratchBuffers::For(context.num_threads());
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                          TensorShape::Make({buffers, each * sizes.block_rows(), sizes.columns}));
  return context.AllocateTemp(DT_FLOAT, shape);
}

TensorShape ShapeOfResult(const Tensor& q, const AttentionSizes& sizes) {
  TensorShape shape = q.shape();
  shape.set_dim(shape.rank() - 1, sizes.width);
  return shape;
}

// Returns the last input if the node has more than `inputs` inputs, and otherwise null.
const Tensor* MaskInput(KernelContext& context, int inputs) {
  return context.num_inputs() > inputs ? &context.input(inputs) : nullptr;
}

// Returns the nanoseconds to compute the weights of a row, and to multiply them by `products`
// matrices like k or v.
double CostOfRow(const AttentionSizes& s, double products) {
  const double width = static_cast<double>(s.depth + s.width);
  return static_cast<double>(s.columns) * (products * width / kFlopsPerNs<float> + 1);
}

absl::Status Attention(KernelContext& context, Attr<float, "scale"> scale) {
  const Tensor &q = context.input(0), &v = context.input(2);
  SLUICE_ASSIGN_OR_RETURN(const AttentionSizes s, SizesOfAttention(q, context.input(1), v));
  SLUICE_ASSIGN_OR_RETURN(const AttentionScores scores,
                          AttentionScores::Make(context, s, scale, MaskInput(context, 3), {&v}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, ShapeOfResult(q, s)));
  ScratchBuffers buffers(ScratchBuffers::For(context.num_threads()));
  SLUICE_ASSIGN_OR_RETURN(Tensor memory, ScoreBuffers(context, s, 1));
  const int64_t blocks = s.blocks();
  context.ParallelFor(
      s.count * blocks, CostOfRow(s, 2) * static_cast<double>(s.block_rows()),
      [&](int64_t begin, int64_t end) {
        const int buffer = buffers.Take();
        float* const weights = memory.data<float>() + buffer * s.block_rows() * s.columns;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t product = i / blocks, block = i % blocks;
          const ColumnRange range = scores.RangeOf(product, block);
          scores.Weights(product, block, range, weights);
          const float* met = v.data<float>() + (product * s.columns + range.begin) * s.width;
          const int64_t row = product * s.rows + block * s.block_rows();
          Gemm<float>(s.RowsOf(block), s.width, range.size(), RowMajor(weights, range.size()),
                      RowMajor(met, s.width), out->data<float>() + row * s.width, s.width);
        }
        buffers.GiveBack(buffer);
      });
  return absl::OkStatus();
}

// Converts a row of gradients with respect to weights to gradients with respect to scaled products
// of q and k.
SLUICE_TARGET_CLONES void ByProducts(const float* weights, float mean, float scale, float* by,
                                     int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) by[i] = (by[i] - mean) * weights[i] * scale;
}

// Computes one _AttentionGrad. If there are fewer products than cores, the rows of each product are
// split into parts, and the gradients of k and v are sums over the parts.
class GradientPass {
 public:
  GradientPass(const KernelContext& context, const AttentionSizes& sizes,
               const AttentionScores& scores, float scale)
      : sizes_(sizes),
        scores_(scores),
        scale_(scale),
        q_(context.input(0).data<float>()),
        k_(context.input(1).data<float>()),
        v_(context.input(2).data<float>()),
        grad_(context.input(3).data<float>()),
        parts_(std::min(
            {(MachineCores() + sizes.count - 1) / sizes.count, sizes.blocks(), kMostParts})) {}

  absl::Status Run(KernelContext& context) {
    SLUICE_RETURN_IF_ERROR(Allocate(context));
    ScratchBuffers buffers(ScratchBuffers::For(context.num_threads()));
    const double cost = CostOfRow(sizes_, 5) * static_cast<double>(sizes_.rows / parts_);
    context.ParallelFor(sizes_.count * parts_, cost, [&](int64_t begin, int64_t end) {
      const int buffer = buffers.Take();
      float* const weights =
          scores_memory_.data<float>() + 2 * buffer * sizes_.block_rows() * sizes_.columns;
      for (int64_t i = begin; i < end; ++i) MakePart(i / parts_, i % parts_, weights);
      buffers.GiveBack(buffer);
    });
    AddParts(context);
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kMostParts = 8;  // each part needs as much memory as k and v

  int64_t of_k() const { return sizes_.columns * sizes_.depth; }
  int64_t of_v() const { return sizes_.columns * sizes_.width; }

  absl::Status Allocate(KernelContext& context) {
    for (const int i : {0, 1, 2}) {
      SLUICE_ASSIGN_OR_RETURN(Tensor * by, context.AllocateOutput(i, context.input(i).shape()));
      by_[i] = by->data<float>();
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make({parts_ - 1, sizes_.count, of_k() + of_v()}));
    SLUICE_ASSIGN_OR_RETURN(of_parts_, context.AllocateTemp(DT_FLOAT, shape));
    SLUICE_ASSIGN_OR_RETURN(scores_memory_, ScoreBuffers(context, sizes_, 2));
    return absl::OkStatus();
  }

  // Returns the place for a part's gradient of k. The first part stores it in the output.
  float* ByK(int64_t product, int64_t part) {
    return part == 0 ? by_[1] + product * of_k()
                     : of_parts_.data<float>() +
                           ((part - 1) * sizes_.count + product) * (of_k() + of_v());
  }
  float* ByV(int64_t product, int64_t part) {
    return part == 0 ? by_[2] + product * of_v() : ByK(product, part) + of_k();
  }

  void MakePart(int64_t product, int64_t part, float* weights) {
    std::fill_n(ByK(product, part), of_k(), 0.0f);
    std::fill_n(ByV(product, part), of_v(), 0.0f);
    const int64_t blocks = sizes_.blocks();
    for (int64_t b = blocks * part / parts_; b < blocks * (part + 1) / parts_; ++b) {
      MakeBlock(product, b, weights, ByK(product, part), ByV(product, part));
    }
  }

  void AddParts(KernelContext& context) {
    if (parts_ == 1) return;
    const int64_t columns = sizes_.columns;
    const double cost = 0.1 * static_cast<double>((parts_ - 1) * (sizes_.depth + sizes_.width));
    context.ParallelFor(sizes_.count * columns, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t product = i / columns, column = i % columns;
        const int64_t in_k = column * sizes_.depth, in_v = column * sizes_.width;
        for (int64_t part = 1; part < parts_; ++part) {
          AddTo(ByK(product, 0) + in_k, ByK(product, part) + in_k, sizes_.depth);
          AddTo(ByV(product, 0) + in_v, ByV(product, part) + in_v, sizes_.width);
        }
      }
    });
  }

  // Computes the gradients of a block. `weights` is a buffer for two blocks.
  void MakeBlock(int64_t product, int64_t block, float* weights, float* by_k, float* by_v) {
    const AttentionSizes& s = sizes_;
    const ColumnRange range = scores_.RangeOf(product, block);
    const int64_t rows = s.RowsOf(block), n = range.size();
    const int64_t row = product * s.rows + block * s.block_rows();
    const int64_t column = product * s.columns + range.begin;
    const MatrixView<float> q = RowMajor(q_ + row * s.depth, s.depth);
    const MatrixView<float> k = RowMajor(k_ + column * s.depth, s.depth);
    const MatrixView<float> turned_v = Transposed(v_ + column * s.width, s.width);
    const MatrixView<float> grad = RowMajor(grad_ + row * s.width, s.width);
    float* const by_products = weights + rows * n;
    by_k += range.begin * s.depth, by_v += range.begin * s.width;

    scores_.Weights(product, block, range, weights);
    Gemm<float>(n, s.width, rows, Transposed(weights, n), grad, by_v, s.width, GemmInto::kAdd);
    Gemm<float>(rows, n, s.width, grad, turned_v, by_products, n);
    for (int64_t i = 0; i < rows; ++i) {
      const float mean = class_rows::Dot(weights + i * n, by_products + i * n, n);
      ByProducts(weights + i * n, mean, scale_, by_products + i * n, n);
    }
    Gemm<float>(rows, s.depth, n, RowMajor(by_products, n), k, by_[0] + row * s.depth, s.depth);
    Gemm<float>(n, s.depth, rows, Transposed(by_products, n), q, by_k, s.depth, GemmInto::kAdd);
  }

  const AttentionSizes& sizes_;
  const AttentionScores& scores_;
  const float scale_;
  const float *q_, *k_, *v_, *grad_;
  float* by_[3] = {};
  const int64_t parts_;
  Tensor of_parts_;       // gradients of k and then of v, of all parts except the first
  Tensor scores_memory_;  // two blocks of scores for each thread
};

absl::Status AttentionGrad(KernelContext& context, Attr<float, "scale"> scale) {
  const Tensor &q = context.input(0), &v = context.input(2), &grad = context.input(3);
  SLUICE_ASSIGN_OR_RETURN(const AttentionSizes sizes, SizesOfAttention(q, context.input(1), v));
  const TensorShape shape = ShapeOfResult(q, sizes);
  SLUICE_INVALID_IF(grad.shape() != shape, "expected a gradient of shape ", shape.ToString(),
                    ", got ", grad.shape().ToString());
  SLUICE_ASSIGN_OR_RETURN(
      const AttentionScores scores,
      AttentionScores::Make(context, sizes, scale, MaskInput(context, 4), {&v, &grad}));
  return GradientPass(context, sizes, scores, scale).Run(context);
}

KERNEL(_Attention, FunctionKernel<Attention>);
KERNEL(_AttentionGrad, FunctionKernel<AttentionGrad>);

}  // namespace
}  // namespace sluice
