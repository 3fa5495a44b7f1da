#include <limits>

#include "ops/random/distributions.h"
#include "ops/random/fill.h"

namespace sluice {
namespace {

// Output of shape input 0, element types from the distribution D<T>.
template <template <typename> class D>
struct Filled {
  template <typename T>
  class Kernel : public sluice::Kernel {
   public:
    explicit Kernel(KernelInit& init)
        : generator_(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")) {}

    absl::Status Compute(KernelContext& context) override {
      SLUICE_ASSIGN_OR_RETURN(TensorShape shape, random::ShapeFromInput(context.input(0)));
      Tensor* out;
      SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
      const Philox start = generator_.ReserveOutputs(shape.num_elements());
      random::Fill(context, start, D<T>(), out->data<T>(), shape.num_elements());
      return absl::OkStatus();
    }

   private:
    ReservedGenerator generator_;
  };
};

KERNELS(RandomUniform, "dtype", Filled<random::Uniform>::Kernel, FloatList);
KERNELS(RandomStandardNormal, "dtype", Filled<random::Normal>::Kernel, FloatList);
KERNELS(TruncatedNormal, "dtype", Filled<random::TruncatedNormal>::Kernel, FloatList);

template <typename T>
class RandomUniformIntKernel : public Kernel {
 public:
  explicit RandomUniformIntKernel(KernelInit& init)
      : generator_(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")) {}

  absl::Status Compute(KernelContext& context) override {
    for (int i : {1, 2}) {
      if (!context.input(i).shape().IsScalar()) {
        return InvalidArgument(i == 1 ? "minval" : "maxval", " must be 0-D, got shape ",
                               context.input(i).shape().ToString());
      }
    }
    SLUICE_ASSIGN_OR_RETURN(TensorShape shape, random::ShapeFromInput(context.input(0)));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (shape.num_elements() == 0) return absl::OkStatus();
    const T low = context.input(1).scalar<T>(), high = context.input(2).scalar<T>();
    if (low >= high) return InvalidArgument("Need minval < maxval, got ", low, " >= ", high);
    random::Fill(context, generator_.ReserveOutputs(shape.num_elements()),
                 random::UniformRange<T>(low, high), out->data<T>(), shape.num_elements());
    return absl::OkStatus();
  }

 private:
  ReservedGenerator generator_;
};
KERNELS(RandomUniformInt, "Tout", RandomUniformIntKernel, IndexList);

}  // namespace
}  // namespace sluice
