#include "ops/random/fill.h"
#include "ops/random/per_parameter.h"

namespace sluice {
namespace {

// The shape of input 0, then that of the parameters in input 1: samples of each.
template <void (*kFill)(KernelContext&, const Philox&, const Tensor&, Tensor*)>
class SamplesOfEachKernel : public Kernel {
 public:
  explicit SamplesOfEachKernel(KernelInit& init)
      : generator_(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& parameters = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(TensorShape shape, random::ShapeFromInput(context.input(0)));
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims.insert(dims.end(), parameters.shape().dims().begin(), parameters.shape().dims().end());
    SLUICE_ASSIGN_OR_RETURN(shape, TensorShape::Make(dims));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    kFill(context, generator_.ReserveOutputs(out->num_elements()), parameters, out);
    return absl::OkStatus();
  }

 private:
  ReservedGenerator generator_;
};
using GammaKernel = SamplesOfEachKernel<random::FillGamma>;
KERNEL(RandomGamma, GammaKernel, {"T", FloatTypes()});

constexpr TypeSet kPoisson = {DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64};
using PoissonKernel = SamplesOfEachKernel<random::FillPoisson>;
KERNEL(RandomPoisson, PoissonKernel, {"dtype", TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}});
KERNEL(RandomPoissonV2, PoissonKernel, {"R", kPoisson}, {"dtype", kPoisson});

}  // namespace
}  // namespace sluice
