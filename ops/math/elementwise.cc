#include "ops/math/elementwise.h"

namespace sluice {

absl::Status ElementwiseKernel::Compute(KernelContext& context) {
  const TensorShape shape = context.input(0).shape();
  const char* x = static_cast<const char*>(context.input(0).raw());
  Tensor* output;
  SLUICE_RETURN_IF_ERROR(context.ForwardOrAllocate({0}, 0, shape, &output));
  char* y = static_cast<char*>(output->raw());
  ForBlocks(context, shape.num_elements(), cost_, [&](int64_t begin, int64_t end) {
    loop_(x + begin * x_size_, y + begin * y_size_, end - begin);
  });
  return absl::OkStatus();
}

}  // namespace sluice
