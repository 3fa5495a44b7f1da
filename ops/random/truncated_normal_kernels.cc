#include <string_view>

#include "ops/random/fill.h"
#include "ops/random/samplers.h"

namespace sluice {
namespace {

using random::TruncatedNormalParameters;

// Parameters are scalars or have one element a row (dimension 0) of the output. Numbers come one
// after another, as TensorFlow draws them on one thread.
template <typename T>
class ParameterizedTruncatedNormalKernel : public Kernel {
 public:
  explicit ParameterizedTruncatedNormalKernel(KernelInit& init)
      : generator_(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& sizes = context.input(0);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, random::ShapeFromInput(sizes));
    if (shape.rank() == 0) return InvalidArgument("Shape tensor must not be empty, got []");
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    int64_t batches = shape.dim(0);
    static constexpr std::string_view kNames[] = {"", "means", "stddevs", "minvals", "maxvals"};
    bool alike = context.input(3).rank() == 0 && context.input(4).rank() == 0;
    for (int i = 1; i <= 4; ++i) {
      const Tensor& p = context.input(i);
      if (p.rank() > 1) {
        return InvalidArgument("Input ", kNames[i],
                               " should be a scalar or vector, got shape: ", p.shape().ToString());
      }
      alike = alike && p.num_elements() == 1;
    }
    for (int i = 1; i <= 4 && !alike; ++i) {
      const Tensor& p = context.input(i);
      if (p.rank() == 1 && p.dim(0) != 1 && p.dim(0) != batches) {
        return InvalidArgument(
            "Input ", kNames[i],
            " should have length 1 or shape[0], got shape: ", p.shape().ToString());
      }
    }
    const int64_t size = shape.num_elements();
    if (size == 0) return absl::OkStatus();
    // Equal parameters are drawn in batches of a hundred, whatever the shape.
    if (alike) batches = (size + kBatch - 1) / kBatch;
    const int64_t samples = alike ? kBatch : size / batches;
    Philox generator =
        generator_.Reserve(static_cast<uint64_t>(batches * 2 * 1000 * (samples + 3) / 4));
    for (int64_t b = 0; b < batches; ++b) {
      auto at = [&](int i) {
        const Tensor& p = context.input(i);
        return p.data<T>()[p.num_elements() == 1 ? 0 : b];
      };
      const int64_t begin = b * samples;
      SLUICE_RETURN_IF_ERROR(random::FillTruncatedNormal<T>(
          {at(1), at(2), at(3), at(4)}, &generator, std::min(samples, size - begin), 1,
          out->data<T>() + begin));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBatch = 100;
  ReservedGenerator generator_;
};
KERNELS(ParameterizedTruncatedNormal, "dtype", ParameterizedTruncatedNormalKernel,
        TypeList<half, float, double>);

}  // namespace
}  // namespace sluice
