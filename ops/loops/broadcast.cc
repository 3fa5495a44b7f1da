#include "ops/loops/broadcast.h"

#include "executor/cpu/stream_out.h"
#include "graph/tensor/sizes.h"

namespace sluice {

template <int N>
absl::StatusOr<BroadcastPlan<N>> PlanBroadcast(const std::array<const TensorShape*, N>& shapes) {
  int rank = 0;
  for (const TensorShape* s : shapes) rank = std::max(rank, s->rank());
  BroadcastPlan<N> plan;
  std::array<int64_t, N> step;  // each operand's stride along dimension i, in elements
  step.fill(1);
  absl::InlinedVector<int64_t, 4> sizes(rank);
  unsigned last_repeats = 0;  // a bit per operand that does not advance along plan.dims.back()
  for (int i = rank - 1; i >= 0; --i) {
    std::array<int64_t, N> size;
    int64_t joint = 1;
    for (int k = 0; k < N; ++k) {
      const int own = i - (rank - shapes[k]->rank());
      size[k] = own < 0 ? 1 : shapes[k]->dim(own);
      if (size[k] == 1) continue;
      SLUICE_INVALID_IF(joint != 1 && joint != size[k],
                        "Incompatible shapes: ", shapes[0]->ToString(), " vs. ",
                        shapes[k]->ToString());
      joint = size[k];
    }
    sizes[i] = joint;
    if (joint == 1) continue;
    unsigned repeats = 0;
    for (int k = 0; k < N; ++k) repeats |= (size[k] == 1 ? 1u : 0u) << k;
    if (!plan.dims.empty() && repeats == last_repeats) {
      plan.dims.back() = SaturatedProduct(plan.dims.back(), joint);
    } else {
      plan.dims.push_back(joint);
      for (int k = 0; k < N; ++k) plan.strides[k].push_back(size[k] == 1 ? 0 : step[k]);
      last_repeats = repeats;
    }
    for (int k = 0; k < N; ++k) step[k] = SaturatedProduct(step[k], size[k]);
  }
  if (plan.dims.empty()) {
    plan.dims.push_back(1);
    for (int k = 0; k < N; ++k) plan.strides[k].push_back(1);
  }
  SLUICE_ASSIGN_OR_RETURN(plan.shape, TensorShape::Make(sizes));
  std::reverse(plan.dims.begin(), plan.dims.end());
  for (auto& strides : plan.strides) std::reverse(strides.begin(), strides.end());
  return plan;
}

template absl::StatusOr<BroadcastPlan<2>> PlanBroadcast<2>(
    const std::array<const TensorShape*, 2>&);
template absl::StatusOr<BroadcastPlan<3>> PlanBroadcast<3>(
    const std::array<const TensorShape*, 3>&);

absl::Status BinaryKernel::Compute(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& y = context.input(1);
  SLUICE_RETURN_IF_ERROR(Check(x, y));
  if (x.rank() == 0 && y.rank() == 0) {
    static const TensorShape kScalar;
    const void* const px = x.raw();
    const void* const py = y.raw();
    SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0, 1}, 0, kScalar));
    loops_.both(px, py, output->raw(), 1);
    return absl::OkStatus();
  }
  const bool same = x.shape() == y.shape();
  const bool y_scalar = !same && y.num_elements() == 1 && y.rank() <= x.rank();
  const bool x_scalar = !same && !y_scalar && x.num_elements() == 1 && x.rank() <= y.rank();
  if (!same && !x_scalar && !y_scalar) return ComputeBroadcast(context);
  const TensorShape shape = x_scalar ? y.shape() : x.shape();
  const char* px = static_cast<const char*>(x.raw());
  const char* py = static_cast<const char*>(y.raw());
  SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0, 1}, 0, shape));
  char* pz = static_cast<char*>(output->raw());
  const ElementwiseLoops::OfTwo loop =
      x_scalar ? loops_.x_alone : (y_scalar ? loops_.y_alone : loops_.both);
  const size_t x_step = x_scalar ? 0 : loops_.in_size;
  const size_t y_step = y_scalar ? 0 : loops_.in_size;
  const auto elements = [&](int64_t begin, int64_t end, char* to) {
    loop(px + begin * x_step, py + begin * y_step, to, end - begin);
  };
  const bool streams =
      pz != px && pz != py && IsWorthStreaming(output->bytes(), context.num_threads());
  const ReadNext operands{x_step == loops_.out_size ? px : nullptr,
                          y_step == loops_.out_size ? py : nullptr};
  ForBlocks(context, shape.num_elements(), loops_.cost, x_step + y_step + loops_.out_size,
            [&](int64_t begin, int64_t end) {
              MakeUnits(streams, begin, end, loops_.out_size, pz, elements, operands);
            });
  return absl::OkStatus();
}

absl::Status BinaryKernel::ComputeBroadcast(KernelContext& context) const {
  const Tensor& x = context.input(0);
  const Tensor& y = context.input(1);
  SLUICE_ASSIGN_OR_RETURN(const BroadcastPlan<2> plan, PlanBroadcast<2>({&x.shape(), &y.shape()}));
  const char* px = static_cast<const char*>(x.raw());
  const char* py = static_cast<const char*>(y.raw());
  SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0, 1}, 0, plan.shape));
  char* pz = static_cast<char*>(output->raw());
  const int64_t inner = plan.inner();
  const ElementwiseLoops::OfTwo loop = plan.strides[0].back() == 0   ? loops_.x_alone
                                       : plan.strides[1].back() == 0 ? loops_.y_alone
                                                                     : loops_.both;
  const size_t x_step = plan.strides[0].back() * loops_.in_size;
  const size_t y_step = plan.strides[1].back() * loops_.in_size;
  // The loop over a row prefetches the lines of its output, but begins too late for the first ones.
  // So the first lines of the next row are prefetched before each row.
  const auto row_bytes = inner * static_cast<int64_t>(loops_.out_size);
  const int64_t first_lines = std::min(row_bytes, elementwise::kBytesAhead);
  const bool streams = pz != px && pz != py && row_bytes >= kLeastStreamedRow &&
                       IsWorthStreaming(output->bytes(), context.num_threads());
  const bool x_is_whole = x_step == loops_.out_size && x.shape() == plan.shape;
  const bool y_is_whole = y_step == loops_.out_size && y.shape() == plan.shape;
  auto rows = [&](int64_t begin, int64_t end) {
    ForRows<2>(plan, begin, end, [&](int64_t row, const std::array<int64_t, 2>& offset) {
      const char* const x_row = px + offset[0] * loops_.in_size;
      const char* const y_row = py + offset[1] * loops_.in_size;
      char* const z_row = pz + row * row_bytes;
      if (streams) {
        const auto elements = [&](int64_t first, int64_t last, char* to) {
          loop(x_row + first * x_step, y_row + first * y_step, to, last - first);
        };
        return StreamPieces(0, inner, loops_.out_size, z_row, elements,
                            {x_is_whole ? x_row : nullptr, y_is_whole ? y_row : nullptr});
      }
      if (row + 1 < end) {
        for (int64_t at = 0; at < first_lines; at += kLineBytes) {
          Prefetch<true>(z_row, row_bytes + at);
        }
      }
      loop(x_row, y_row, z_row, inner);
    });
    if (streams) FinishStreaming();
  };
  // Counts the memory of one operand only, because the other one repeats.
  const double cost =
      CostWithMemory(plan.shape.num_elements(), loops_.cost, loops_.in_size + loops_.out_size);
  const double row_cost = 5 + cost * static_cast<double>(inner);
  const size_t row_moved = static_cast<size_t>(inner) * (loops_.in_size + loops_.out_size);
  ForUnits(context, plan.rows(), 1, row_cost, row_moved, rows);
  return absl::OkStatus();
}

}  // namespace sluice
