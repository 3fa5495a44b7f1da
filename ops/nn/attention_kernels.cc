#include <algorithm>
#include <utility>

#include "executor/kernel/context.h"
#include "executor/kernel/scratch_rooms.h"
#include "executor/kernel/target_clones.h"
#include "graph/status.h"
#include "ops/math/gemm.h"
#include "ops/math/product_tiles.h"
#include "ops/nn/attention_scores.h"
#include "ops/nn/class_rows.h"

namespace sluice {
namespace {

// A block's scores, `each` times, for each of `rooms` threads.
absl::StatusOr<Tensor> RoomsForScores(KernelContext& context, const AttentionSizes& sizes,
                                      int rooms, int64_t each) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                          TensorShape::Make({rooms, each * sizes.block_rows(), sizes.columns}));
  return context.AllocateTemp(DT_FLOAT, shape);
}

// The last input, if the node has more than `inputs`.
const Tensor* MaskOf(KernelContext& context, int inputs) {
  return context.num_inputs() > inputs ? &context.input(inputs) : nullptr;
}

// Nanoseconds of a row's weights, and of `products` products of them by a matrix as k or v.
double CostOfRow(const AttentionSizes& s, double products) {
  const double width = static_cast<double>(s.depth + s.width);
  return static_cast<double>(s.columns) * (products * width / kFlopsPerNs<float> + 1);
}

class AttentionKernel : public Kernel {
 public:
  explicit AttentionKernel(KernelInit& init) : scale_(init.attr<float>("scale")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor &q = context.input(0), &v = context.input(2);
    SLUICE_ASSIGN_OR_RETURN(const AttentionSizes s, SizesOfAttention(q, context.input(1), v));
    SLUICE_ASSIGN_OR_RETURN(const AttentionScores scores,
                            AttentionScores::Make(context, s, scale_, MaskOf(context, 3), {&v}));
    TensorShape shape = q.shape();
    shape.set_dim(shape.rank() - 1, s.width);
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    ScratchRooms rooms(ScratchRooms::For(context.num_threads()));
    SLUICE_ASSIGN_OR_RETURN(
        Tensor memory, RoomsForScores(context, s, ScratchRooms::For(context.num_threads()), 1));
    const int64_t blocks = s.blocks();
    context.ParallelFor(
        s.count * blocks, CostOfRow(s, 2) * static_cast<double>(s.block_rows()),
        [&](int64_t begin, int64_t end) {
          const int room = rooms.Take();
          float* const weights = memory.data<float>() + room * s.block_rows() * s.columns;
          for (int64_t i = begin; i < end; ++i) {
            const int64_t product = i / blocks, block = i % blocks;
            const ColumnRange range = scores.RangeOf(product, block);
            scores.Weights(product, block, range, weights);
            const float* met = v.data<float>() + (product * s.columns + range.begin) * s.width;
            const int64_t row = product * s.rows + block * s.block_rows();
            Gemm<float>(s.RowsOf(block), s.width, range.size(), RowMajor(weights, range.size()),
                        RowMajor(met, s.width), out->data<float>() + row * s.width, s.width);
          }
          rooms.GiveBack(room);
        });
    return absl::OkStatus();
  }

 private:
  const float scale_;
};

SLUICE_TARGET_CLONES float Dot(const float* x, const float* y, int64_t n) {
  constexpr int kLanes = class_rows::kLanes;
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += x[i + j] * y[i + j];
  }
  for (int j = 0; i < n; ++i, ++j) lanes[j] += x[i] * y[i];
  float sum = lanes[0];
  for (int j = 1; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

// From a row of gradients by weights to one by products of q and k.
SLUICE_TARGET_CLONES void ByProducts(const float* weights, float mean, float scale, float* by,
                                     int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) by[i] = (by[i] - mean) * weights[i] * scale;
}

class AttentionGradKernel : public Kernel {
 public:
  explicit AttentionGradKernel(KernelInit& init) : scale_(init.attr<float>("scale")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor &q = context.input(0), &k = context.input(1), &v = context.input(2);
    const Tensor& grad = context.input(3);
    SLUICE_ASSIGN_OR_RETURN(const AttentionSizes s, SizesOfAttention(q, k, v));
    TensorShape shape = q.shape();
    shape.set_dim(shape.rank() - 1, s.width);
    if (grad.shape() != shape) {
      return InvalidArgument("expected a gradient of shape ", shape.ToString(), ", got ",
                             grad.shape().ToString());
    }
    SLUICE_ASSIGN_OR_RETURN(
        const AttentionScores scores,
        AttentionScores::Make(context, s, scale_, MaskOf(context, 4), {&v, &grad}));
    Tensor* by[3];
    for (const int i : {0, 1, 2}) {
      SLUICE_RETURN_IF_ERROR(context.AllocateOutput(i, context.input(i).shape(), &by[i]));
    }
    ScratchRooms rooms(ScratchRooms::For(context.num_threads()));
    SLUICE_ASSIGN_OR_RETURN(
        Tensor memory, RoomsForScores(context, s, ScratchRooms::For(context.num_threads()), 2));
    // Where there are fewer products than cores, each one's rows are parted, and what the parts
    // make of k and v is added.
    const int64_t blocks = s.blocks();
    const int64_t parts = std::min((MachineCores() + s.count - 1) / s.count, blocks);
    const int64_t of_k = s.columns * s.depth, of_v = s.columns * s.width;
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape_of_others,
                            TensorShape::Make({parts - 1, s.count, of_k + of_v}));
    SLUICE_ASSIGN_OR_RETURN(Tensor others, context.AllocateTemp(DT_FLOAT, shape_of_others));
    const auto other = [&](int64_t part, int64_t product) {
      return others.data<float>() + ((part - 1) * s.count + product) * (of_k + of_v);
    };
    const Pass pass = {s,
                       scores,
                       q.data<float>(),
                       k.data<float>(),
                       v.data<float>(),
                       grad.data<float>(),
                       by[0]->data<float>()};
    context.ParallelFor(
        s.count * parts, CostOfRow(s, 5) * static_cast<double>(s.rows / parts),
        [&](int64_t begin, int64_t end) {
          const int room = rooms.Take();
          float* const weights = memory.data<float>() + 2 * room * s.block_rows() * s.columns;
          for (int64_t i = begin; i < end; ++i) {
            const int64_t product = i / parts, part = i % parts;
            float* by_k = by[1]->data<float>() + product * of_k;
            float* by_v = by[2]->data<float>() + product * of_v;
            if (part > 0) by_k = other(part, product), by_v = by_k + of_k;
            std::fill_n(by_k, of_k, 0.0f);
            std::fill_n(by_v, of_v, 0.0f);
            for (int64_t b = blocks * part / parts; b < blocks * (part + 1) / parts; ++b) {
              MakeBlock(pass, product, b, weights, by_k, by_v);
            }
          }
          rooms.GiveBack(room);
        });
    for (int64_t part = 1; part < parts; ++part) {
      for (int64_t product = 0; product < s.count; ++product) {
        const float* more = other(part, product);
        AddTo(by[1]->data<float>() + product * of_k, more, of_k);
        AddTo(by[2]->data<float>() + product * of_v, more + of_k, of_v);
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Pass {
    const AttentionSizes& sizes;
    const AttentionScores& scores;
    const float *q, *k, *v, *grad;
    float* by_q;
  };

  // What a block of rows gives; of `weights` there is room for two blocks.
  void MakeBlock(const Pass& pass, int64_t product, int64_t block, float* weights, float* by_k,
                 float* by_v) const {
    const AttentionSizes& s = pass.sizes;
    const ColumnRange range = pass.scores.RangeOf(product, block);
    const int64_t rows = s.RowsOf(block), n = range.size();
    const int64_t first_row = product * s.rows + block * s.block_rows(),
                  first_column = product * s.columns + range.begin;
    const MatrixView<float> q = RowMajor(pass.q + first_row * s.depth, s.depth);
    const MatrixView<float> k = RowMajor(pass.k + first_column * s.depth, s.depth);
    const MatrixView<float> grad = RowMajor(pass.grad + first_row * s.width, s.width);
    const MatrixView<float> turned_v = Transposed(pass.v + first_column * s.width, s.width);
    float* const by_products = weights + rows * n;

    pass.scores.Weights(product, block, range, weights);
    Gemm<float>(n, s.width, rows, Transposed(weights, n), grad, by_v + range.begin * s.width,
                s.width, GemmInto::kAdd);
    Gemm<float>(rows, n, s.width, grad, turned_v, by_products, n);
    for (int64_t i = 0; i < rows; ++i) {
      const float mean = Dot(weights + i * n, by_products + i * n, n);
      ByProducts(weights + i * n, mean, scale_, by_products + i * n, n);
    }
    Gemm<float>(rows, s.depth, n, RowMajor(by_products, n), k, pass.by_q + first_row * s.depth,
                s.depth);
    Gemm<float>(n, s.depth, rows, Transposed(by_products, n), q, by_k + range.begin * s.depth,
                s.depth, GemmInto::kAdd);
  }

  const float scale_;
};

KERNEL(_Attention, AttentionKernel);
KERNEL(_AttentionGrad, AttentionGradKernel);

}  // namespace
}  // namespace sluice
