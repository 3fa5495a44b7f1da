#include "ops/loops/elementwise.h"

#include "executor/cpu/stream_out.h"

namespace sluice {

absl::Status ElementwiseKernel::Compute(KernelContext& context) {
  const TensorShape shape = context.input(0).shape();
  const char* x = static_cast<const char*>(context.input(0).raw());
  SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0}, 0, shape));
  char* y = static_cast<char*>(output->raw());
  const auto loop = [&](int64_t begin, int64_t end, char* to) {
    loops_.one(x + begin * loops_.in_size, to, end - begin);
  };
  const bool is_as_large = loops_.in_size == loops_.out_size;
  const bool streams = x != y && IsWorthStreaming(output->bytes(), context.num_threads());
  ForBlocks(context, shape.num_elements(), loops_.cost, loops_.in_size + loops_.out_size,
            [&](int64_t begin, int64_t end) {
              MakeUnits(streams, begin, end, loops_.out_size, y, loop, {is_as_large ? x : nullptr});
            });
  return absl::OkStatus();
}

}  // namespace sluice
