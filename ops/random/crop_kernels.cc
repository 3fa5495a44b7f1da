#include "executor/kernel/context.h"
#include "ops/loops/strided_copy.h"
#include "ops/random/node_generator.h"

namespace sluice {
namespace {

absl::Status CheckCrop(const Tensor& image, const Tensor& size) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(image, 3, "input must be 3-dimensional, got shape "));
  SLUICE_INVALID_IF(size.rank() != 1 || size.dim(0) != 2,
                    "shape_t must be a vector of 2 elements, got shape ", size.shape().ToString());
  return absl::OkStatus();
}

absl::Status RandomCrop(KernelContext& context, NodeGenerator& calls) {
  const Tensor &image = context.input(0), &size = context.input(1);
  SLUICE_RETURN_IF_ERROR(CheckCrop(image, size));
  const int64_t height = size.data<int64_t>()[0], width = size.data<int64_t>()[1];
  if (height == image.dim(0) && width == image.dim(1)) {
    context.set_output(0, image);
    return absl::OkStatus();
  }
  if (height < 0 || width < 0 || image.dim(0) < height || image.dim(1) < width) {
    return absl::FailedPreconditionError(
        StrCat(image.dim(0) < height ? "height must be >= target_height: height = "
                                     : "width must be >= target_width: width = ",
               image.dim(image.dim(0) < height ? 0 : 1),
               ", target: ", image.dim(0) < height ? height : width));
  }
  Philox generator = calls.Reserve(1);
  SingleNumbers next(&generator);
  auto offset = [&next](int64_t room) -> int64_t {
    return room == 0 ? 0 : static_cast<int64_t>(next() % (static_cast<uint64_t>(room) + 1));
  };
  const int64_t left = offset(image.dim(1) - width);
  const int64_t top = offset(image.dim(0) - height);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, {height, width, image.dim(2)}));
  if (out->num_elements() == 0) return absl::OkStatus();  // the other sizes have no bound
  const int64_t channels = image.dim(2), line = image.dim(1) * channels;
  CopyBox box;
  box.dims = {{height, line, width * channels}, {width * channels, 1, 1}};
  box.from_offset = top * line + left * channels;
  CopyStrided(context, image.dtype(), image.raw(), out->raw(), std::move(box));
  return absl::OkStatus();
}
KERNEL(RandomCrop, FunctionKernel<RandomCrop>);

}  // namespace
}  // namespace sluice
