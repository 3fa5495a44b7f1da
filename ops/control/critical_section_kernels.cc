// Kernels of critical sections.
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/control/named_mutex.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

struct MutexKernel {
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeNamedResourceKernel<NamedMutex>(
        init, [](const ResourceName& name) { return std::make_shared<NamedMutex>(name.name); });
  }
};

class MutexLockKernel : public AsyncKernel {
 public:
  void ComputeAsync(KernelContext& c, Done done) override {
    absl::StatusOr<std::shared_ptr<NamedMutex>> mutex = LookupNamed<NamedMutex>(c, 0);
    if (!mutex.ok()) return done(mutex.status());
    (*mutex)->Acquire(CallerOf(c), [&c, done = std::move(done)](absl::StatusOr<Variant> hold) {
      if (!hold.ok()) return done(hold.status());
      c.set_output(0, Tensor::Scalar(*std::move(hold)));
      done(absl::OkStatus());
    });
  }
  bool IsExpensive() const override { return false; }
};

absl::Status ConsumeMutexLock(KernelContext& c) {
  const Tensor& lock = c.input(0);
  SLUICE_RETURN_IF_ERROR(ExpectRank(lock, 0, "Expected input to be a scalar, saw shape: "));
  const Variant& variant = lock.scalar<Variant>();
  const MutexHold* hold = variant.get<MutexHold>();
  SLUICE_INVALID_IF(hold == nullptr,
                    "Expected input to contain a lock of MutexLock, but saw variant: '",
                    variant.TypeName(), "'");
  if (hold->Consume()) return absl::OkStatus();
  return InvalidArgument("Expected a lock that is held, got one that has been consumed");
}

KERNEL(ConsumeMutexLock, CheapFunctionKernel<ConsumeMutexLock>);
KERNEL(MutexLock, MutexLockKernel);
KERNEL(MutexV2, MutexKernel);

}  // namespace
}  // namespace sluice
