#include "ops/loops/same_size.h"

#include "graph/ir/graph.h"

namespace sluice {

absl::Status SameSizeKernel::Compute(KernelContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& y = context.input(1);
  SLUICE_INVALID_IF(x.num_elements() != y.num_elements(), "Inputs to operation ", context.name(),
                    " of type ", context.node().op(),
                    " must have the same size and shape.  Input 0: ", x.shape().ToString(),
                    " != input 1: ", y.shape().ToString(),
                    " (The two arguments to a cwise op must have same number of elements, got ",
                    x.num_elements(), " and ", y.num_elements(), ")");
  const TensorShape shape = x.shape();
  const char* px = static_cast<const char*>(x.raw());
  const char* py = static_cast<const char*>(y.raw());
  SLUICE_ASSIGN_OR_RETURN(Tensor * output, context.ForwardOrAllocate({0, 1}, 0, shape));
  char* pz = static_cast<char*>(output->raw());
  ForBlocks(context, shape.num_elements(), loops_.cost, 2 * loops_.in_size + loops_.out_size,
            [&](int64_t begin, int64_t end) {
              loops_.both(px + begin * loops_.in_size, py + begin * loops_.in_size,
                          pz + begin * loops_.out_size, end - begin);
            });
  return absl::OkStatus();
}

}  // namespace sluice
