#include "ops/math/elementwise.h"

namespace sluice {

absl::Status ElementwiseKernel::Compute(KernelContext& context) {
  const TensorShape shape = context.input(0).shape();
  const char* x = static_cast<const char*>(context.input(0).raw());
  Tensor* output;
  SLUICE_RETURN_IF_ERROR(context.ForwardOrAllocate({0}, 0, shape, &output));
  char* y = static_cast<char*>(output->raw());
  ForBlocks(context, shape.num_elements(), loops_.cost, loops_.in_size + loops_.out_size,
            [&](int64_t begin, int64_t end) {
              loops_.one(x + begin * loops_.in_size, y + begin * loops_.out_size, end - begin);
            });
  return absl::OkStatus();
}

}  // namespace sluice
