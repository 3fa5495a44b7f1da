// Ops of critical sections: parts of graphs that only one step can run at a time.
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

OP(ConsumeMutexLock,
   "Releases a lock of MutexLock. It must run after the nodes that the lock protects, and be the "
   "only node with the lock as an input.")
    .Input("mutex_lock", DT_VARIANT)
    .Stateful()
    .Shape(NoOutputs());

OP(MutexLock,
   "Waits until the mutex is free, and locks it. The lock ends with ConsumeMutexLock or with the "
   "step.")
    .Input("mutex", DT_RESOURCE)
    .Output("mutex_lock", DT_VARIANT)
    .Stateful()
    .Shape(ScalarOutput());

OP(MutexV2,
   "Makes a mutex. All steps and sessions of the device share a mutex of the same container and "
   "`shared_name`.")
    .With(MakesResourceHandle("resource"))
    .With(ContainerAttrs);

}  // namespace
}  // namespace sluice
