#include "ops/random/multinomial.h"

namespace sluice {
namespace {

class MultinomialKernel : public Kernel {
 public:
  explicit MultinomialKernel(KernelInit& init)
      : generator_(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")) {}

  absl::Status Compute(KernelContext& context) override {
    return random::DrawClasses(
        context, [this](int64_t results) { return generator_.ReserveOutputs(results); });
  }

 private:
  ReservedGenerator generator_;
};
KERNEL(Multinomial, MultinomialKernel, {"T", FloatTypes()});

}  // namespace
}  // namespace sluice
