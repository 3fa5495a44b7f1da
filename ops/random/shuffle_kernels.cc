#include "ops/random/shuffle.h"

namespace sluice {
namespace {

class RandomShuffleKernel : public Kernel {
 public:
  explicit RandomShuffleKernel(KernelInit& init)
      : generator_(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")) {}

  absl::Status Compute(KernelContext& context) override {
    return random::ShuffleRows(context,
                               [this](uint64_t calls) { return generator_.Reserve(calls); });
  }

 private:
  ReservedGenerator generator_;
};
KERNEL(RandomShuffle, RandomShuffleKernel);

}  // namespace
}  // namespace sluice
